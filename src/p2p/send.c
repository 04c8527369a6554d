/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Sending (MPI 5.0 §3.2, §3.4, §3.7.2). The first branch of p2p_send is the whole way of a short message
 * and makes no request. A message goes as EAGER while it fits in one record of the transport, else it is offered
 * (RTS) and the receiver decides how it travels.
 * Knows: match (nothing), net, obj, progress, type. */
#include "base/copy.h"
#include "base/err.h"
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"
#include "sys/huge.h"

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

/* One that is kept back. */
static void shared_describe(const struct req *req, struct blocked *out)
{
    (void)req;
    *out = (struct blocked){ .call = "MPI_Wait", .of = "MPI_Isend", .way = BLOCKED_SENDING, .is_of_anyone = true,
                             .count = -1 };
}

static const struct req_ops shared_ops = {
    .release = keep,
    .cancel = ignore,
    .detach = ignore,
    .describe = shared_describe,
};

static struct req sent = { .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .done = 1, .is_send = true, .ops = &shared_ops };
static struct req from_nobody = {
    .obj = { .kind = OBJ_REQUEST, .refs = 1 },
    .done = 1,
    .source = MPI_PROC_NULL,
    .tag = MPI_ANY_TAG,
    .ops = &shared_ops,
};

/* --- records --- */

/* Does the receiver keep as much of ours as it will? */
static ALWAYS_INLINE bool is_throttled(const struct peer *peer)
{
    return atomic_load_explicit(peer->throttle_out, memory_order_relaxed);
}

/* So much that not even offers may go out now? They wait then, in order, with those behind them. */
static ALWAYS_INLINE bool is_held_back(const struct peer *peer)
{
    return atomic_load_explicit(peer->throttle_out, memory_order_relaxed) == THROTTLE_HOLD;
}

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
        type_pack_far(r->type, r->buf, r->count, 0, payload + prefix, r->len, pace_is_far_to(r->peer->pace));
}

/* Before the record is out: within the process the answer may come during the call. */
static void offered(struct p2p_req *r)
{
    r->state = P2P_OFFERED;
    list_append(&r->channel->lane->offers, &r->link);
}

/* It did not go out. */
static void not_offered(struct p2p_req *r)
{
    r->state = P2P_QUEUED;
    list_remove(&r->link);
}

static int push_rts(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    int rc;

    if (unlikely(is_held_back(peer)))
        return NET_AGAIN;
    offered(r);
    rc = peer->ops->send(peer->ep, r->head, &r->control, r->head_len);
    if (rc)
        not_offered(r);
    return rc;
}

static void prepare_rts(struct p2p_req *r)
{
    struct wire_rts *const rts = &r->control.rts;
    unsigned flags = r->flags;

    *rts = (struct wire_rts){ .id = (uintptr_t)r, .len = r->len };
    if (type_is_run(r->type, r->count)) {
        flags |= WIRE_CONTIG;
        rts->address = (uintptr_t)type_run(r->type, r->buf);
        huge_note(type_run(r->type, r->buf), r->len);
    } else if (lists_pay(r, r->len) && r->peer->ops->can_copy(r->peer->ep) && lists_open(r, 0, r->len)) {
        flags |= WIRE_LISTED;
        rts->address = (uintptr_t)lists_own(r, &rts->blocks);
    }
    r->head = wire_head(WIRE_RTS, flags, r->type->signature, r->channel->ctx,
                        match_key(r->channel->comm->rank, r->req.tag));
    r->head_len = sizeof r->control.rts;
    r->out.push = push_rts;
}

/* Into a record of the transport, by the shortest way. 0, NET_AGAIN or NET_TAKEN. */
static int send_eager(struct p2p_req *r, struct peer *peer)
{
    struct net_buffer buffer;
    int rc;

    if (r->head_len <= P2P_PACK_ON_STACK && r->head_len <= peer->ops->short_max) {
        char payload[P2P_PACK_ON_STACK];
        fill_eager(r, payload);
        return peer->ops->send(peer->ep, r->head, payload, r->head_len);
    }
    if (r->type->is_contig && !prefix_len(r) && r->head_len <= peer->ops->short_max)
        return peer->ops->send(peer->ep, r->head, r->buf, r->head_len);
    if (peer->ops->send_parts && r->head_len >= peer->ops->parts_min && !prefix_len(r)) {
        rc = peer->ops->send_parts(peer->ep, r->head, rndv_source(r), r->head_len,
                                   r->head_len > peer->ops->eager_max);
        if (rc != NET_NOT_THIS)
            return rc;
    }
    rc = peer->ops->alloc(peer->ep, &buffer);
    if (rc)
        return rc;
    fill_eager(r, buffer.data);
    rc = peer->ops->commit(peer->ep, r->head, &buffer, r->head_len);
    if (rc)
        peer->ops->release(peer->ep, &buffer);
    return rc;
}

/* What waited for room may find the receiver full by now, or all buffers with others: then it is offered after all. */
static int push_eager(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const bool is_sync = r->flags & WIRE_SYNC;
    int rc;

    if (is_throttled(peer)) {
        if (is_held_back(peer))
            return NET_AGAIN;
        prepare_rts(r);
        return push_rts(out, peer);
    }
    if (is_sync)
        offered(r);
    rc = send_eager(r, peer);
    if (rc && is_sync)
        not_offered(r);
    else if (!rc && !is_sync)
        p2p_complete(r);
    if (likely(rc != NET_TAKEN))
        return rc;
    prepare_rts(r);
    return push_rts(out, peer);
}

int (*const send_pushes[])(struct outgoing *out, struct peer *peer) = { push_rts, push_eager, push_cause,
                                                                        foreign_push, NULL };

static bool fits_record(const struct p2p_req *r)
{
    size_t limit = eager_limit(r->peer);

    if (!r->type->is_contig)
        limit = lists_pay(r, r->len) ? r->peer->ops->eager_max : packed_limit(r->peer);
    return r->len + prefix_len(r) <= (prefix_len(r) ? size_min(limit, r->peer->ops->eager_max) : limit);
}

static void prepare_eager(struct p2p_req *r)
{
    r->head = wire_head(WIRE_EAGER, r->flags, r->type->signature, r->channel->ctx,
                        match_key(r->channel->comm->rank, r->req.tag));
    r->head_len = (uint32_t)(r->len + prefix_len(r));
}

/* Choose the protocol and send or queue the first record. */
static void send_begin(struct p2p_req *r, bool is_sync)
{
    r->flags = is_sync ? WIRE_SYNC : 0;
    if (unlikely(r->peer->lost)) {
        r->req.error = lost_error(r->peer);
        p2p_complete(r);
        return;
    }
    if (unlikely(r->peer->is_foreign)) {
        foreign_send(r);
        return;
    }
    if (fits_record(r)) {
        prepare_eager(r);
        r->out.push = push_eager;
    } else {
        prepare_rts(r);
    }
    r->state = P2P_QUEUED;
    outgoing_send(&r->out, r->peer);
}

static void send_prepare(struct p2p_req *r, struct peer *peer, const void *buf, MPI_Count count, int tag)
{
    r->req.is_send = true;
    r->req.tag = tag;
    r->req.hint = (struct progress_hint){ lane_poll_peer, peer };
    r->peer = peer;
    r->buf = (void *)(uintptr_t)buf;
    r->count = count;
    r->len = type_bytes(r->type, count);
}

/* --- calls --- */

static ALWAYS_INLINE struct net_head own_head(const struct channel *channel, const struct type *type, int tag)
{
    return eager_head(channel, type, channel->source_key | (uint32_t)tag);
}

/* True if the message has been sent, since it was shorter than `end`, the peer's direct_end or send_end, and there
 * was room. */
static ALWAYS_INLINE bool send_at_once(const struct channel *channel, const struct peer *peer, uint32_t end,
                                       const void *buf, size_t len, const struct type *type, int tag)
{
    if (unlikely(len >= end || !type->is_contig || is_throttled(peer)))
        return false;
    return likely(!peer->ops->send(peer->ep, own_head(channel, type, tag), buf, (uint32_t)len));
}

/* The same for all modes, with the lock. */
static ALWAYS_INLINE bool send_locked(const struct channel *channel, const void *buf, size_t len,
                                      const struct type *type, int dest, int tag, int mode)
{
    const struct peer *peer = peer_of_rank(channel, dest);

    return likely(peer && !(mode & P2P_SYNC)) && send_at_once(channel, peer, peer->send_end, buf, len, type, tag);
}

bool p2p_send_if_it_goes(struct comm *comm, int dest, int tag, int mode)
{
    const struct channel *channel = channel_of(comm, mode);
    bool is_sent;

    lane_lock(channel->lane);
    is_sent = send_locked(channel, NULL, 0, obj_type(MPI_BYTE), dest, tag, mode);
    lane_unlock(channel->lane);
    return is_sent;
}

/* The same of a message with gaps, if the transport does not rather send it in parts. */
static bool pack_at_once(const struct channel *channel, const struct peer *peer, const void *buf, MPI_Count count,
                         const struct type *type, int tag)
{
    const size_t len = type_bytes(type, count);
    char packed[P2P_PACK_ON_STACK];
    struct net_buffer buffer;

    if (len <= sizeof packed && len <= peer->ops->short_max) {
        type_pack(type, buf, count, 0, packed, len);
        return !peer->ops->send(peer->ep, own_head(channel, type, tag), packed, (uint32_t)len);
    }
    if (len > peer->ops->eager_max || (peer->ops->send_parts && len >= peer->ops->parts_min) ||
        peer->ops->alloc(peer->ep, &buffer))
        return false;
    type_pack_far(type, buf, count, 0, buffer.data, len, pace_is_far_to(peer->pace));
    if (likely(!peer->ops->commit(peer->ep, own_head(channel, type, tag), &buffer, (uint32_t)len)))
        return true;
    peer->ops->release(peer->ep, &buffer);
    return false;
}

/* A message of one run that is longer and fits in a buffer of the transport, or one with gaps, and nothing stands in
 * its way: no request either. The conditions are those of send_at_once. */
static NOINLINE bool send_in_buffer(const struct channel *channel, const void *buf, MPI_Count count,
                                    const struct type *type, int dest, int tag, int mode)
{
    const struct peer *peer = peer_of_rank(channel, dest);
    const size_t len = type_bytes(type, count);
    struct net_buffer buffer;

    if (!peer || mode & P2P_SYNC || peer->is_crowded || is_throttled(peer))
        return false;
    if (!type->is_contig)
        return pack_at_once(channel, peer, buf, count, type, tag);
    if (len <= peer->ops->short_max || len > eager_limit(peer))
        return false;
    if (peer->ops->send_parts && len >= peer->ops->parts_min) {
        const int rc = peer->ops->send_parts(peer->ep, own_head(channel, type, tag), net_source_at(buf),
                                             (uint32_t)len, len > peer->ops->eager_max);
        if (rc != NET_NOT_THIS)
            return !rc;
    }
    if (peer->ops->alloc(peer->ep, &buffer))
        return false;
    shared_write(buffer.data, buf, len, pace_is_far_to(peer->pace));
    if (likely(!peer->ops->commit(peer->ep, own_head(channel, type, tag), &buffer, (uint32_t)len)))
        return true;
    peer->ops->release(peer->ep, &buffer);
    return false;
}

bool send_now(struct channel *channel, const void *buf, MPI_Count count, struct type *type, int dest, int tag)
{
    const size_t len = type_bytes(type, count);
    struct peer *peer = peer_of_rank(channel, dest);
    struct p2p_req r;

    if (likely(send_locked(channel, buf, len, type, dest, tag, P2P_STANDARD)))
        return true;
    if (send_in_buffer(channel, buf, count, type, dest, tag, P2P_STANDARD))
        return true;
    if (type->is_contig || peer->is_crowded || is_throttled(peer))
        return false;
    request_init(&r, channel, type);
    send_prepare(&r, peer, buf, count, tag);
    if (!fits_record(&r))
        return false;
    prepare_eager(&r);
    return !send_eager(&r, peer);
}

int send_set_up(struct p2p_req *r, const void *buf, MPI_Count count, int dest, int tag)
{
    struct peer *peer;
    const int rc = peer_get_rank(r->channel, dest, &peer);

    if (!rc)
        send_prepare(r, peer, buf, count, tag);
    return rc;
}

void send_start(struct p2p_req *r)
{
    const bool is_sync = r->mode & P2P_SYNC;

    if (likely(!is_sync) &&
        send_at_once(r->channel, r->peer, r->peer->send_end, r->buf, r->len, r->type, r->req.tag))
        p2p_complete(r);
    else
        send_begin(r, is_sync);
}

/* On a request of its own. With the lock. */
static int send_request(struct p2p_req *r, const void *buf, MPI_Count count, int dest, int tag, int mode)
{
    const int rc = send_set_up(r, buf, count, dest, tag);

    if (!rc)
        send_begin(r, mode & P2P_SYNC);
    return rc;
}

int p2p_send_mode(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode)
{
    struct channel *channel = channel_of(comm, mode);
    struct p2p_req r;
    bool is_sent;
    int rc = 0;

    if (dest == MPI_PROC_NULL)
        return 0;
    lane_lock(channel->lane);
    is_sent = send_locked(channel, buf, type_bytes(type, count), type, dest, tag, mode) ||
              send_in_buffer(channel, buf, count, type, dest, tag, mode);
    if (!is_sent) {
        request_init(&r, channel, type);
        rc = send_request(&r, buf, count, dest, tag, mode);
    }
    lane_unlock(channel->lane);
    if (is_sent || rc)
        return rc;
    progress_wait(&r.req.done, r.req.hint);
    return r.req.error;
}

/* All other standard sends. With threads a short one needs no request either, as below in p2p_send. Out of line, for
 * the seventh argument would cost the short path a frame. */
static NOINLINE int send_standard(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                                  int tag)
{
    const struct channel *channel = channel_of(comm, P2P_STANDARD);
    struct lane *lane = channel->lane;

    if (lane->is_threaded && likely(is_rank_of(comm, dest))) {
        const struct peer *peer = peer_of_rank(channel, dest);
        const size_t len = type_bytes(type, count);
        bool may_go = peer && type->is_contig;
        if (likely(may_go)) {
            lock_take(&lane->lock);
            may_go = len < peer->send_end && peer->ep->room > 0 && !is_throttled(peer);
            if (likely(may_go))
                peer->ops->send_in_room(peer->ep, own_head(channel, type, tag), buf, (uint32_t)len);
            lock_release(&lane->lock);
            if (likely(may_go))
                return 0;
        }
    }
    return p2p_send_mode(comm, buf, count, type, dest, tag, P2P_STANDARD);
}

/* Short, room, one thread: no request, no lock, nothing to be done afterwards. `extern inline` asks the link-time
 * optimiser to put it into the bindings. */
extern inline int p2p_send(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag)
{
    const struct channel *channel = channel_of(comm, P2P_STANDARD);

    if (likely(is_rank_of(comm, dest))) {
        const struct peer *peer = peer_of_rank(channel, dest);
        const size_t len = type_bytes(type, count);
        if (likely(peer) && likely(len < peer->direct_end && type->is_contig && peer->ep->room > 0) &&
            likely(!is_throttled(peer)))
            return peer->ops->send_in_room(peer->ep, own_head(channel, type, tag), buf, (uint32_t)len);
    }
    return send_standard(comm, buf, count, type, dest, tag);
}

/* *out is `sent` so far. */
static NOINLINE int isend_slow(struct channel *channel, const void *buf, MPI_Count count, struct type *type,
                               int dest, int tag, int mode, struct req **out)
{
    struct p2p_req *r;
    int rc;

    if (send_in_buffer(channel, buf, count, type, dest, tag, mode))
        return 0;
    r = request_create(channel, type);
    if (!r)
        return err(MPI_ERR_NO_MEM, "no memory for a send request");
    *out = &r->req;
    rc = send_request(r, buf, count, dest, tag, mode);
    if (rc)
        r->req.ops->release(&r->req);
    return rc;
}

/* 0; NET_AGAIN; or NET_KEPT, and then the request is complete with the next poll. */
static ALWAYS_INLINE int send_now_or_soon(const struct channel *channel, const void *buf, size_t len,
                                          const struct type *type, int dest, int tag, int mode, bool may_keep)
{
    const struct peer *peer = peer_of_rank(channel, dest);

    if (unlikely(!peer || mode & P2P_SYNC || len >= peer->send_end || !type->is_contig || is_throttled(peer)))
        return NET_AGAIN;
    return (may_keep ? peer->ops->send_soon : peer->ops->send)(peer->ep, own_head(channel, type, tag), buf,
                                                               (uint32_t)len);
}

/* The one request of all that are kept back now: all of them go out with the same poll. */
static NOINLINE int isend_kept(struct channel *channel, struct req **out)
{
    struct lane *lane = channel->lane;

    if (req_is_done(&lane->kept[lane->kept_now])) {
        lane->kept_now = (lane->kept_now + 1) % P2P_KEPT;
        atomic_store_explicit(&lane->kept[lane->kept_now].done, 0, memory_order_relaxed);
        lane_note_flushed(lane);
    }
    *out = &lane->kept[lane->kept_now];
    return 0;
}

/* On its own, so that one thread does not pay with registers for the lock that it does not take. */
static NOINLINE int isend_threads(struct channel *channel, const void *buf, MPI_Count count, struct type *type,
                                  int dest, int tag, int mode, struct req **out, bool may_keep)
{
    int rc;

    lane_lock(channel->lane);
    rc = send_now_or_soon(channel, buf, type_bytes(type, count), type, dest, tag, mode, may_keep);
    if (unlikely(rc))
        rc = rc == NET_KEPT ? isend_kept(channel, out) :
                              isend_slow(channel, buf, count, type, dest, tag, mode, out);
    lane_unlock(channel->lane);
    return rc;
}

static ALWAYS_INLINE int isend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                               int tag, int mode, struct req **out, bool may_keep)
{
    struct channel *channel = channel_of(comm, mode);
    int rc;

    *out = &sent;
    if (unlikely(dest == MPI_PROC_NULL))
        return 0;
    if (unlikely(channel->lane->is_threaded))
        return isend_threads(channel, buf, count, type, dest, tag, mode, out, may_keep);
    rc = send_now_or_soon(channel, buf, type_bytes(type, count), type, dest, tag, mode, may_keep);
    if (likely(!rc))
        return 0;
    return rc == NET_KEPT ? isend_kept(channel, out) : isend_slow(channel, buf, count, type, dest, tag, mode, out);
}

extern inline int p2p_isend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                            int tag, int mode, struct req **out)
{
    return isend(comm, buf, count, type, dest, tag, mode, out, true);
}

int p2p_isend_now(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
                  struct req **out)
{
    return isend(comm, buf, count, type, dest, tag, mode, out, false);
}

struct req *req_from_nobody(void)
{
    return &from_nobody;
}

/* `done` is told by the transport. */
static int flush_kept(void *lane, const _Atomic uint32_t *done)
{
    (void)done;
    return lane_poll(lane);
}

void send_init_kept(struct lane *lane)
{
    for (int i = 0; i < P2P_KEPT; i++) {
        lane->kept[i] = sent;
        lane->kept[i].hint = (struct progress_hint){ flush_kept, lane };
    }
}

struct req *req_sent(void)
{
    return &sent;
}
