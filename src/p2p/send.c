/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Sending (MPI 5.0 §3.2, §3.4, §3.7.2). The first branch of p2p_send is the whole way of a short message
 * and makes no request. A message goes as EAGER while it fits in one record of the transport, else it is offered
 * (RTS) and the receiver decides how it travels.
 * Knows: match (nothing), net, obj, progress, type. */
#include "base/err.h"
#include "p2p/int_p2p.h"

/* --- requests that are complete at birth; shared, never changed, never released --- */

static void keep(struct req *req)
{
    (void)req;
}

static int ignore(struct req *req)
{
    (void)req;
    return 0;
}

static const struct req_ops shared_ops = { .release = keep, .cancel = ignore, .detach = ignore, .start = ignore };

static struct req sent = { .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .done = 1, .is_send = true, .ops = &shared_ops };
static struct req from_nobody = {
    .obj = { .kind = OBJ_REQUEST, .refs = 1 },
    .done = 1,
    .source = MPI_PROC_NULL,
    .tag = MPI_ANY_TAG,
    .ops = &shared_ops,
};

/* --- records --- */

/* Room for the sender's id in front of a synchronous message. */
static ALWAYS_INLINE size_t prefix_len(const struct p2p_req *r)
{
    return r->flags & WIRE_SYNC ? WIRE_SYNC_ID : 0;
}

static void fill_eager(const struct p2p_req *r, char *payload)
{
    const size_t prefix = prefix_len(r);
    const uint64_t id = (uintptr_t)r;

    if (prefix)
        memcpy(payload, &id, prefix);
    if (r->len)
        type_pack(r->type, r->buf, r->count, 0, payload + prefix, r->len);
}

/* State before the record is out: with a transport inside the process the answer may come during the call. */
static int push_eager(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const bool is_sync = r->flags & WIRE_SYNC;
    struct net_buffer buffer;
    int rc;

    r->state = is_sync ? P2P_OFFERED : P2P_QUEUED;
    if (r->head.len <= P2P_PACK_ON_STACK && r->head.len <= peer->short_max) {
        char payload[P2P_PACK_ON_STACK];
        fill_eager(r, payload);
        rc = peer->ops->send(peer->ep, &r->head, payload);
    } else if (r->type->is_contig && !is_sync && r->head.len <= peer->short_max) {
        rc = peer->ops->send(peer->ep, &r->head, r->buf);
    } else {
        rc = peer->ops->alloc(peer->ep, &buffer);
        if (!rc) {
            fill_eager(r, buffer.data);
            rc = peer->ops->commit(peer->ep, &r->head, &buffer);
            if (rc)
                peer->ops->release(peer->ep, &buffer);
        }
    }
    if (rc)
        r->state = P2P_QUEUED;
    else if (!is_sync)
        p2p_complete(r);
    return rc;
}

static int push_rts(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    int rc;

    r->state = P2P_OFFERED;
    rc = peer->ops->send(peer->ep, &r->head, &r->control);
    if (rc)
        r->state = P2P_QUEUED;
    return rc;
}

/* Choose the protocol and send or queue the first record. */
static void send_begin(struct p2p_req *r, int tag, bool is_sync)
{
    struct peer *peer = r->peer;
    const struct comm *comm = r->channel->comm;

    r->flags = is_sync ? WIRE_SYNC : 0;
    if (r->len + prefix_len(r) <= peer->ops->eager_max) {
        r->head = wire_head((uint32_t)(r->len + prefix_len(r)), WIRE_EAGER, r->flags, r->type->signature,
                            r->channel->ctx, tag, comm->rank);
        r->out.push = push_eager;
    } else {
        const char *data = r->buf;
        r->flags |= r->type->is_contig ? WIRE_CONTIG : 0;
        r->control.rts = (struct wire_rts){ (uintptr_t)r, r->len, r->type->is_contig ? (uintptr_t)data : 0 };
        r->head = wire_head(sizeof r->control.rts, WIRE_RTS, r->flags, r->type->signature, r->channel->ctx, tag,
                            comm->rank);
        r->out.push = push_rts;
    }
    r->state = P2P_QUEUED;
    outgoing_send(&r->out, peer);
}

static void send_prepare(struct p2p_req *r, struct peer *peer, const void *buf, MPI_Count count, struct type *type,
                         int tag)
{
    r->req.is_send = true;
    r->req.tag = tag;
    r->req.hint = (struct progress_hint){ lane_poll_peer, peer };
    r->peer = peer;
    r->buf = (void *)(uintptr_t)buf;
    r->count = count;
    r->type = type;
    r->len = type_bytes(type, count);
}

/* --- calls --- */

/* What does not go out at once: waits on a request of its own. */
static NOINLINE int send_slow(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                              int tag, int mode)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req r;
    struct peer *peer;
    int rc;

    lane_lock(channel->lane);
    rc = peer_get(channel->lane, group_proc(comm->remote_group, dest), &peer);
    if (!rc) {
        request_init(&r, channel);
        send_prepare(&r, peer, buf, count, type, tag);
        send_begin(&r, tag, mode & P2P_SYNC);
    }
    lane_unlock(channel->lane);
    if (rc)
        return rc;
    progress_wait(&r.req.done, r.req.hint);
    return r.req.error;
}

/* True if the message has been sent: it was short and there was room. With the lock. */
static ALWAYS_INLINE bool send_at_once(struct channel *channel, const void *buf, size_t len, struct type *type,
                                       int proc, int tag, int mode)
{
    struct peer *peer = channel->lane->peers[proc];
    struct net_head head;

    if (unlikely(!peer || mode & P2P_SYNC || !type->is_contig || len > peer->short_max || peer->is_crowded))
        return false;
    head = wire_head((uint32_t)len, WIRE_EAGER, 0, type->signature, channel->ctx, tag, channel->comm->rank);
    return likely(!peer->ops->send(peer->ep, &head, buf));
}

int p2p_send(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode)
{
    struct channel *channel = channel_of(comm, mode);
    bool is_sent;

    if (unlikely(dest == MPI_PROC_NULL))
        return 0;
    lane_lock(channel->lane);
    is_sent = send_at_once(channel, buf, type_bytes(type, count), type, group_proc(comm->remote_group, dest), tag,
                           mode);
    lane_unlock(channel->lane);
    return likely(is_sent) ? 0 : send_slow(comm, buf, count, type, dest, tag, mode);
}

static NOINLINE int isend_slow(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                               int tag, int mode, struct req **out)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req *r;
    struct peer *peer;
    int rc = peer_get(channel->lane, group_proc(comm->remote_group, dest), &peer);

    if (rc)
        return rc;
    r = request_create(channel, type);
    if (!r)
        return err(MPI_ERR_NO_MEM, "no memory for a send request");
    send_prepare(r, peer, buf, count, type, tag);
    send_begin(r, tag, mode & P2P_SYNC);
    *out = &r->req;
    return 0;
}

int p2p_isend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
              struct req **out)
{
    struct channel *channel = channel_of(comm, mode);
    int rc = 0;

    *out = &sent;
    if (unlikely(dest == MPI_PROC_NULL))
        return 0;
    lane_lock(channel->lane);
    if (unlikely(!send_at_once(channel, buf, type_bytes(type, count), type, group_proc(comm->remote_group, dest),
                               tag, mode)))
        rc = isend_slow(comm, buf, count, type, dest, tag, mode, out);
    lane_unlock(channel->lane);
    return rc;
}

int p2p_sendrecv(struct comm *comm, const struct p2p_sendrecv *args, int mode, MPI_Status *status)
{
    struct req *recv, *send;
    MPI_Request handle;
    int rc, send_rc;

    rc = p2p_irecv(comm, args->recv_buf, args->recv_count, args->recv_type, args->source, args->recv_tag, mode,
                   &recv);
    if (rc)
        return rc;
    handle = (MPI_Request)recv;
    send_rc = p2p_isend(comm, args->send_buf, args->send_count, args->send_type, args->dest, args->send_tag, mode,
                        &send);
    if (send_rc) {
        req_cancel(recv);
        req_wait(&handle, MPI_STATUS_IGNORE);
        return send_rc;
    }
    rc = req_wait(&handle, status);
    handle = (MPI_Request)send;
    send_rc = req_wait(&handle, MPI_STATUS_IGNORE);
    return rc ? rc : send_rc;
}

struct req *req_from_nobody(void)
{
    return &from_nobody;
}
