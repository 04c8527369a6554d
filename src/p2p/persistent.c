/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Persistent requests (MPI 5.0 §3.9): made once with all arguments, begun again and again. Such a request
 * is an ordinary one that has been set up; starting it does what the nonblocking call does, but allocates nothing and
 * looks nothing up. Whether it is active is the business of room obj.
 * Knows: obj, type. Does not know: protocols. */
#include "base/err.h"
#include "p2p/int_p2p.h"

static struct p2p_req *persistent_create(struct channel *channel, struct type *type, int mode)
{
    struct p2p_req *r = request_create(channel, type);

    if (!r)
        return NULL;
    r->req.is_persistent = true;
    r->mode = (uint8_t)mode;
    return r;
}

/* From nobody comes the same status every time, and nothing is sent to it (§3.10). */
static void set_up_nobody(struct p2p_req *r, bool is_send)
{
    r->mode |= P2P_NOBODY;
    r->req.is_send = is_send;
    r->req.source = MPI_PROC_NULL;
    r->req.tag = MPI_ANY_TAG;
}

int p2p_send_init(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
                  struct req **out)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req *r;
    int rc = 0;

    lane_lock(channel->lane);
    r = persistent_create(channel, type, mode);
    if (!r)
        rc = err(MPI_ERR_NO_MEM, "no memory for a persistent send request");
    else if (dest == MPI_PROC_NULL)
        set_up_nobody(r, true);
    else
        rc = send_set_up(r, buf, count, dest, tag);
    if (r && !rc)
        r->req.source = dest; /* of a send nobody else asks for it */
    if (rc && r)
        r->req.ops->release(&r->req);
    lane_unlock(channel->lane);
    if (!rc)
        *out = &r->req;
    return rc;
}

int p2p_recv_init(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag, int mode,
                  struct req **out)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req *r;

    lane_lock(channel->lane);
    r = persistent_create(channel, type, mode);
    if (r && source == MPI_PROC_NULL)
        set_up_nobody(r, false);
    else if (r)
        recv_set_up(r, buf, count, source, tag);
    lane_unlock(channel->lane);
    if (!r)
        return err(MPI_ERR_NO_MEM, "no memory for a persistent receive request");
    *out = &r->req;
    return 0;
}

/* A buffered send is over when it has begun (§3.4). Without the lock. */
static int start_buffered(struct p2p_req *r)
{
    const int rc = p2p_bsend(r->channel->comm, r->buf, r->count, r->type, r->req.source, r->req.tag);

    if (!rc)
        req_complete(&r->req);
    return rc;
}

int request_start(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane = r->channel->lane;

    if (unlikely(r->mode & P2P_BUFFERED && !(r->mode & P2P_NOBODY)))
        return start_buffered(r);
    lane_lock(lane);
    r->state = P2P_NEW;
    r->flags = r->then = 0;
    r->moved = 0;
    r->is_special = r->is_cancelling = false;
    if (unlikely(r->mode & P2P_NOBODY))
        p2p_complete(r);
    else if (req->is_send)
        send_start(r);
    else
        recv_start(r);
    lane_unlock(lane);
    return 0;
}
