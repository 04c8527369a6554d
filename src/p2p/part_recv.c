/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Partitioned receives (MPI 5.0 §4): meeting the sender, granting rounds, taking pieces in any order.
 * Knows: match, net, type. Does not know: what the sender's partitions are. */
#include "p2p/int_part.h"

#include "base/err.h"

/* --- meeting --- */

bool part_recv_is_refused(const struct part_req *r)
{
    return r->remote_len > r->len;
}

static COLD void refuse(struct part_req *r)
{
    r->req.bytes = 0;
    r->req.error = err(MPI_ERR_TRUNCATE, "got a partitioned message of %zu bytes, from rank %d, tag %d; the "
                       "receive is for %zu bytes in %d partitions", r->remote_len, r->rank, r->tag, r->len,
                       r->partitions);
}

/* Both have met and this side has started: the sender may send one round. As between other sends and receives the
 * message may be shorter than the room for it (MPI 5.0 §4.2.3 extends §3.7.4). The sender is told our size as well, so
 * that both see when it is too small; then nothing moves, and the round is over once that is out. */
static void grant(struct part_req *r)
{
    if (part_recv_is_refused(r)) {
        refuse(r);
    } else {
        r->req.bytes = (MPI_Count)(r->peer->is_foreign ? external_native_bytes(r->type, r->remote_len) : r->remote_len);
        part_fill_clear(&r->fill, r->remote_len);
    }
    r->control.grant = (struct wire_cts){ .id = r->remote_id, .recv_id = (uintptr_t)r, .len = r->len };
    part_control_send(r, wire_head(WIRE_PART_GRANT, 0, 0, r->channel->ctx, 0), sizeof r->control.grant);
}

void part_meet(struct match_entry *entry, uint64_t id, size_t len)
{
    struct part_req *r = CONTAINER_OF(entry, struct part_req, match);

    if (r->is_released) {
        part_drop_posted(entry);
        return;
    }
    r->remote_id = id;
    r->remote_len = len;
    if (r->is_running)
        grant(r);
}

void part_recv_post(struct part_req *r)
{
    struct match_arrival *found;

    match_entry_init(&r->match, match_key(r->rank | PART_SOURCE_BIT, r->tag), match_mask(false, false));
    found = match_post(&r->channel->match, &r->match);
    if (found) {
        struct message *message = CONTAINER_OF(found, struct message, arrival);
        part_meet(&r->match, message->sync_id, message->len);
        message_destroy(message);
    }
}

/* --- rounds --- */

void part_recv_start(struct part_req *r)
{
    r->req.source = r->peer ? r->rank : MPI_PROC_NULL;
    r->req.tag = r->peer ? r->tag : MPI_ANY_TAG;
    r->req.bytes = 0;
    if (!r->peer)
        part_complete(r);
    else if (r->remote_id)
        grant(r);
    else
        part_fill_clear(&r->fill, r->len);
}

void part_recv_done(struct part_req *r, size_t offset, size_t len)
{
    part_fill_add(&r->fill, offset, len);
    if (!r->fill.total_left)
        part_complete(r);
}

void part_on_data(struct net_head head, const void *payload, size_t len)
{
    struct part_req *r = (struct part_req *)(uintptr_t)head.word[1];
    const size_t offset = wire_offset(head);

    if (len)
        type_unpack(r->type, r->buf, r->count, offset, payload, len);
    part_recv_done(r, offset, len);
}

int part_on_offer(struct net_head head, const struct wire_part_offer *offer)
{
    struct part_req *r = (struct part_req *)(uintptr_t)head.word[1];
    struct part_piece *piece = part_piece_open(r, offer->offset, offer->len);

    if (!piece)
        return NET_AGAIN; /* the sender has seen the end of a copy before us: after our next step there is one */
    piece->r.remote_id = offer->id;
    piece->r.remote_address = offer->address;
    piece->r.flags = (uint8_t)wire_flags(head);
    rndv_begin(&piece->r);
    return 0;
}
