/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. A message that cannot be supplied: its sender says why instead, and who receives it has that error. It is
 * matched and kept like any eager message, so nobody waits for what will not come, or takes something else for it.
 * Knows: match, net, obj. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "p2p/int_p2p.h"

_Static_assert(sizeof(struct p2p_cause) <= P2P_PACK_ON_STACK, "it is a short record of every transport");

enum { ID_LENGTH = 7 }; /* an E, four digits, a colon and a blank */

void p2p_cause_of(struct p2p_cause *cause, int rc)
{
    char text[ERR_TEXT_SIZE];

    err_text(rc, text, sizeof text);
    cause->error_class = err_class(rc);
    snprintf(cause->text, sizeof cause->text, "E%04d: %.*s", err_id(rc), P2P_CAUSE_TEXT - ID_LENGTH - 1, text);
}

const char *p2p_cause_text(const struct p2p_cause *cause)
{
    return cause->text + (strncmp(cause->text, "E", 1) || strlen(cause->text) < ID_LENGTH ? 0 : ID_LENGTH);
}

int p2p_cause_error(const struct p2p_cause *cause)
{
    return err_told(cause->error_class, cause->text);
}

void deliver_cause(struct p2p_req *r, const struct arrival *a, const void *payload)
{
    struct p2p_cause cause = { .error_class = MPI_ERR_OTHER };

    if (unlikely(r->mode & P2P_HIDDEN))
        recv_show(r);
    memcpy(&cause, payload, size_min(a->len, sizeof cause - 1)); /* the text ends whatever has come */
    r->req.bytes = 0;
    r->req.error = p2p_cause_error(&cause);
    p2p_complete(r);
}

int push_cause(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const int rc = peer->ops->send(peer->ep, r->head, r->buf, r->head_len);

    if (!rc)
        p2p_complete(r);
    return rc;
}

/* With the lock. It goes however much the receiver keeps: it is short, and there is nothing to offer. */
static int begin(struct p2p_req *r, const struct p2p_cause *cause, int dest, int tag)
{
    const size_t len = offsetof(struct p2p_cause, text) + strlen(cause->text) + 1;
    const int rc = send_set_up(r, cause, (MPI_Count)len, dest, tag);

    if (rc)
        return rc;
    if (r->peer->lost) {
        r->req.error = lost_error(r->peer);
        p2p_complete(r);
        return 0;
    }
    r->head = wire_head(WIRE_EAGER, WIRE_CAUSE, r->type->signature, r->channel->ctx,
                        match_key(r->channel->comm->rank, tag));
    r->head_len = (uint32_t)len;
    r->out.push = push_cause;
    r->state = P2P_QUEUED;
    outgoing_send(&r->out, r->peer);
    return 0;
}

int p2p_isend_cause(struct comm *comm, const struct p2p_cause *cause, int dest, int tag, int mode, struct req **out)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req *r;
    int rc;

    lane_lock(channel->lane);
    r = request_create(channel, obj_type(MPI_BYTE));
    rc = r ? begin(r, cause, dest, tag) : err(MPI_ERR_NO_MEM, "no memory for a send request");
    lane_unlock(channel->lane);
    if (r && rc)
        r->req.ops->release(&r->req);
    else if (r)
        *out = &r->req;
    return rc;
}
