/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. With PARLEY_CHECK, whether a message holds the elements that its receiver asks for (MPI 5.0 §3.3.1). The
 * sender's signature travels with every message; here it is compared. Without the setting nothing of this is called:
 * the transports then hand arrivals to p2p_arrive, and not to the function below.
 *
 * A blocking receive that takes its message from the ring at once needs no look: it takes only what has its
 * signature. */
#include "p2p/int_p2p.h"

void check_signature(const struct p2p_req *r, const struct arrival *a)
{
    const uint16_t own = r->type->signature;
    struct p2p_mismatch mismatch;

    /* Signatures are those of whole items. A message may hold the beginning of one (§3.2.4); then they say nothing. */
    if (own == a->signature || own == TYPE_SIGNATURE_ANY || a->signature == TYPE_SIGNATURE_ANY || !a->len ||
        !r->type->size || a->len % (size_t)r->type->size || a->len > r->len)
        return;
    if (r->channel->ctx & 1) /* the library's own */
        return;
    mismatch = (struct p2p_mismatch){
        .comm = r->channel->comm, .source = a->source, .tag = a->tag, .len = a->len, .signature = a->signature,
        .type = r->type,
    };
    r->channel->lane->mismatched(&mismatch);
}

/* p2p_arrive, but every message takes the way that looks at its signature. */
int p2p_arrive_checked(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct lane *lane = arg;
    struct arrival a;

    if ((head.word[0] & 0xffff) != WIRE_EAGER)
        return p2p_arrive(arg, proc, head, payload, len);
    payload = arrival_read(&a, proc, head, payload, len);
    return arrive_message(lane, wire_ctx(head), &a, payload);
}
