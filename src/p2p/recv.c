/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Receiving (MPI 5.0 §3.2.4, §3.7.2, §3.8.3): a receive meets its message here, whichever came first. */
#include <stdio.h>

#include "base/err.h"
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"

enum {
    PREPARE_MIN = 833,        /* shorter messages gain nothing from what a transport can prepare … */
    PREPARE_UNEVEN_MIN = 513, /* … nor do these with gaps */
    SHORT_UNEVEN_MAX = 40,    /* longer ones with gaps, up to P2P_PACK_ON_STACK, come in several lines: far they are
                               * faster by a request */
};

/* What came is told in the receiver's datatype, since only its bytes are known, if it is so many of them. */
int recv_truncation(const struct p2p_req *r, size_t len, size_t item, size_t room)
{
    char items[TYPE_TEXT_MAX + 32] = "", type[TYPE_TEXT_MAX], label[COMM_LABEL_SIZE];

    type_describe(r->type, type);
    if (item && len % item == 0)
        snprintf(items, sizeof items, "%zu x %s, ", len / item, type);
    return err(MPI_ERR_TRUNCATE, "got %s%zu bytes, from rank %d, tag %d, on %s; there is room for %lld x %s, %zu bytes",
               items, len, r->req.source, r->req.tag,
               obj_comm_label(r->channel->comm, label), (long long)r->count, type, room);
}

static COLD int truncation(const struct p2p_req *r, size_t len)
{
    return recv_truncation(r, len, (size_t)r->type->size, r->len);
}

void deliver_uneven(struct p2p_req *r, struct peer *peer, size_t len, const void *payload)
{
    if (unlikely(r->mode & P2P_HIDDEN))
        recv_show(r);
    r->req.bytes = (MPI_Count)size_min(len, r->len);
    if (r->req.bytes)
        cell_unpack(r, peer, 0, payload, (size_t)r->req.bytes);
    if (peer && unlikely(len > peer->ops->eager_max))
        unask_gaps(peer);
    if (len > r->len)
        r->req.error = truncation(r, len);
}

static NOINLINE void deliver_rts(struct p2p_req *r, const struct arrival *a)
{
    r->remote_id = a->sync_id;
    r->remote_address = a->address;
    r->remote_blocks = a->blocks;
    r->flags = (uint8_t)a->flags;
    r->wanted = a->len <= r->len ? a->len : r->len;
    r->req.bytes = (MPI_Count)r->wanted;
    if (a->len > r->len)
        r->req.error = truncation(r, a->len);
    rndv_begin(r);
}

void deliver(struct p2p_req *r, const struct arrival *a, const void *payload)
{
    r->req.source = a->source;
    r->req.tag = a->tag;
    /* there if this message must be answered, see p2p_arrive */
    r->peer = atomic_load_explicit(&r->channel->lane->peers[a->proc], memory_order_relaxed);
    if (unlikely(r->channel->lane->mismatched))
        check_signature(r, a);
    if (a->kind != WIRE_EAGER) {
        if (a->kind == WIRE_RTS)
            deliver_rts(r, a);
        else
            foreign_deliver(r, a, payload);
        return;
    }
    if (unlikely(a->flags & WIRE_CAUSE)) {
        deliver_cause(r, a, payload);
        return;
    }
    deliver_uneven(r, a->is_kept ? NULL : r->peer, a->len, payload);
    if (!(a->flags & WIRE_SYNC)) {
        p2p_complete(r);
        return;
    }
    r->control.reply = (struct wire_reply){ a->sync_id };
    control_send(r, WIRE_ACK, sizeof r->control.reply, THEN_COMPLETE);
}

static void deliver_message(struct p2p_req *r, struct message *message)
{
    const struct arrival a = {
        .proc = message->proc,
        .source = message->source,
        .tag = message->tag,
        .kind = message->kind,
        .flags = message->flags,
        .signature = message->signature,
        .len = message->len,
        .sync_id = message->sync_id,
        .address = message->address,
        .blocks = message->blocks,
        .is_kept = true,
    };

    deliver(r, &a, message->data);
    message->address = 0; /* the answer has gone */
    message_destroy(message);
}

static ALWAYS_INLINE void recv_prepare(struct p2p_req *r, void *buf, MPI_Count count)
{
    r->buf = buf;
    r->count = count;
    r->len = type_bytes(r->type, count);
}

/* What it takes, and where that will come from. With the lock. */
static ALWAYS_INLINE void recv_aim(struct p2p_req *r, int source, int tag)
{
    match_entry_init(&r->match, match_key(source, tag), match_mask(source == MPI_ANY_SOURCE, tag == MPI_ANY_TAG));
    if (likely(source != MPI_ANY_SOURCE)) {
        struct peer *peer;
        if (likely(!peer_get_rank(r->channel, source, &peer)))
            r->req.hint = recv_hint(peer);
    }
}

/* Meet an unexpected message or be posted. */
extern inline void recv_start(struct p2p_req *r)
{
    struct match_arrival *found = match_post(&r->channel->match, &r->match);

    if (unlikely(found))
        deliver_message(r, CONTAINER_OF(found, struct message, arrival));
}

/* With the lock. */
static ALWAYS_INLINE void recv_begin(struct p2p_req *r, int source, int tag)
{
    recv_aim(r, source, tag);
    recv_start(r);
}

void recv_set_up(struct p2p_req *r, void *buf, MPI_Count count, int source, int tag)
{
    recv_prepare(r, buf, count);
    recv_aim(r, source, tag);
}

/* Nothing has come yet: look for a while, before a request is made. Who may get a longer message may send one
 * afterwards, and the transport gets ready for that meanwhile. */
static NOINLINE int look_for_next(const struct peer *peer, struct net_head head, void *buf, size_t max)
{
    const bool prepares = max >= PREPARE_MIN && peer->ops->use_wait;
    int len = NET_NOT_YET;

    PROGRESS_LOOK_FIRST {
        len = peer->ops->take(peer->ep, head, buf, max);
        if (len != NET_NOT_YET)
            break;
        if (unlikely(prepares))
            peer->ops->use_wait(peer->ep);
    }
    return len;
}

/* A message has been taken without a request. */
static ALWAYS_INLINE void was_taken(struct peer *peer, int len, int source, int tag, MPI_Status *status)
{
    if (unlikely(len > SPEED_LONGER_MIN) && (uint32_t)len > peer->ops->eager_max)
        longer_came(peer, (size_t)len);
    status_set(status, source, tag, len, false);
}

/* The whole of a short receive that nothing stands before: no other receive, no message kept, and the sender's next
 * record is for it. No request, no lock. False: nothing was done. */
static ALWAYS_INLINE bool recv_at_once(const struct comm *comm, const struct channel *channel, void *buf,
                                       MPI_Count count, const struct type *type, int source, int tag,
                                       MPI_Status *status)
{
    const struct net_head head = eager_head(channel, type, match_key(source, tag));
    const size_t max = type_bytes(type, count);
    struct peer *peer;
    int len;

    if (unlikely(!is_rank_of(comm, source) || tag == MPI_ANY_TAG || !type->is_contig))
        return false;
    peer = peer_of_rank(channel, source);
    if (unlikely(!peer || !peer->direct_end || !match_is_empty(&channel->match))) /* in this order, for threads */
        return false;
    len = peer->ops->take(peer->ep, head, buf, max);
    if (len == NET_NOT_YET)
        len = look_for_next(peer, head, buf, max);
    if (unlikely(len < 0))
        return false;
    was_taken(peer, len, source, tag, status);
    return true;
}

/* The library's own messages keep their order. */
static ALWAYS_INLINE bool may_overtake(const struct channel *channel)
{
    return atomic_load_explicit(&channel->comm->may_overtake, memory_order_relaxed) && !(channel->ctx & 1);
}

/* May the next record, if it has this key, be taken for a receive that has not been posted? Not before a message that
 * is kept, nor, unless order does not matter (§7.4.4), before receives that are posted and want it. With the lock. */
static ALWAYS_INLINE bool may_take(struct channel *channel, uint64_t key)
{
    return !channel->match.arrival_count &&
           (!channel->match.posted_count || may_overtake(channel) || !match_may_take(&channel->match, key));
}

/* Are messages kept? One of them may be what is asked for, and then nothing is to be looked for. */
static bool has_kept(const struct channel *channel)
{
    bool has;

    lane_lock(channel->lane);
    has = channel->match.arrival_count;
    lane_unlock(channel->lane);
    return has;
}

/* The same as recv_at_once with threads: look without the lock, take with it. And with one thread, where other receives
 * are posted. */
static NOINLINE bool recv_early(struct channel *channel, void *buf, size_t max, const struct type *type,
                                int source, int tag, MPI_Status *status)
{
    const struct net_head head = eager_head(channel, type, match_key(source, tag));
    struct peer *peer = peer_of_rank(channel, source);
    int len = NET_NOT_THIS;

    if (!peer || tag == MPI_ANY_TAG || !type->is_contig)
        return false;
    if (!channel->lane->is_threaded && match_is_empty(&channel->match)) /* then recv_at_once has looked */
        return false;
    if (has_kept(channel))
        return false;
    PROGRESS_LOOK_FIRST {
        if (peer->ops->is_silent(peer->ep))
            continue;
        lane_lock(channel->lane);
        if (may_take(channel, match_key(source, tag)))
            len = peer->ops->take(peer->ep, head, buf, max);
        if (len >= 0)
            was_taken(peer, len, source, tag, status);
        lane_unlock(channel->lane);
        break;
    }
    return len >= 0;
}

bool p2p_recv_at_once(struct comm *comm, void *buf, MPI_Count count, const struct type *type, int source, int tag,
                      int mode)
{
    return recv_at_once(comm, channel_of(comm, mode), buf, count, type, source, tag, NULL);
}

static void read_gaps(void *arg, size_t at, const void *from, size_t len)
{
    const struct p2p_req *const r = arg;

    cell_unpack(r, r->peer, at, from, len);
}

/* The next record, if it is for this receive: a short one by way of the stack, a longer one from a buffer of the
 * transport's, perhaps read while it is written. */
static ALWAYS_INLINE int take_uneven(struct p2p_req *r, const struct peer *peer, struct net_head head)
{
    char packed[SHORT_UNEVEN_MAX];
    int len;

    if (r->len > sizeof packed)
        return peer->ops->take_by(peer->ep, head, read_gaps, r, r->len);
    len = peer->ops->take(peer->ep, head, packed, r->len);
    if (len > 0)
        type_unpack(r->type, r->buf, r->count, 0, packed, (size_t)len);
    return len;
}

/* The same as recv_at_once of a message that is no run from the buffer's address on. */
static NOINLINE bool recv_uneven(struct p2p_req *r, int source, int tag, MPI_Status *status)
{
    const struct net_head head = eager_head(r->channel, r->type, match_key(source, tag));
    struct peer *const peer = is_rank_of(r->channel->comm, source) ? peer_of_rank(r->channel, source) : NULL;
    int len = NET_NOT_YET;

    if (tag == MPI_ANY_TAG || !peer || !peer->direct_end || !peer->ops->take_by || !match_is_empty(&r->channel->match))
        return false;
    r->peer = peer;
    PROGRESS_LOOK_FIRST {
        len = take_uneven(r, peer, head);
        if (len != NET_NOT_YET)
            break;
        if (r->len >= PREPARE_UNEVEN_MIN)
            peer->ops->use_wait(peer->ep);
    }
    if (len < 0)
        return false;
    if (unlikely(peer->pace->is_far))
        unask_gaps(peer);
    status_set(status, source, tag, len, false);
    return true;
}

static NOINLINE int recv_request(struct channel *channel, void *buf, MPI_Count count, struct type *type, int source,
                                 int tag, MPI_Status *status)
{
    struct p2p_req r;

    if ((channel->lane->is_threaded || channel->match.posted_count) && is_rank_of(channel->comm, source) &&
        recv_early(channel, buf, type_bytes(type, count), type, source, tag, status))
        return 0;
    request_init(&r, channel, type);
    recv_prepare(&r, buf, count);
    if (!type->is_contig && (r.len <= SHORT_UNEVEN_MAX || r.len > P2P_PACK_ON_STACK) &&
        recv_uneven(&r, source, tag, status))
        return 0;
    lane_lock(channel->lane);
    recv_begin(&r, source, tag);
    lane_unlock(channel->lane);
    progress_wait(&r.req.done, r.req.hint);
    status_set(status, r.req.source, r.req.tag, r.req.bytes, false);
    return r.req.error;
}

extern inline int p2p_recv(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag,
                           int mode, MPI_Status *status)
{
    struct channel *channel = channel_of(comm, mode);

    if (likely(recv_at_once(comm, channel, buf, count, type, source, tag, status)))
        return 0;
    if (unlikely(source == MPI_PROC_NULL)) {
        status_set_proc_null(status);
        return 0;
    }
    return recv_request(channel, buf, count, type, source, tag, status);
}

/* With the lock. */
static ALWAYS_INLINE int irecv(struct channel *channel, void *buf, MPI_Count count, struct type *type, int source,
                               int tag, struct req **out)
{
    struct p2p_req *r = request_create(channel, type);

    if (unlikely(!r))
        return err(MPI_ERR_NO_MEM, "no memory for a receive request");
    *out = &r->req;
    recv_prepare(r, buf, count);
    recv_begin(r, source, tag);
    return 0;
}

/* On its own for the same reason as isend_threads. */
static NOINLINE int irecv_threads(struct channel *channel, void *buf, MPI_Count count, struct type *type, int source,
                                  int tag, struct req **out)
{
    int rc;

    lane_lock(channel->lane);
    rc = irecv(channel, buf, count, type, source, tag, out);
    lane_unlock(channel->lane);
    return rc;
}

/* `extern inline` as for p2p_send. */
extern inline int p2p_irecv(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag,
                            int mode, struct req **out)
{
    struct channel *channel = channel_of(comm, mode);

    if (unlikely(source == MPI_PROC_NULL)) {
        *out = req_from_nobody();
        return 0;
    }
    if (unlikely(channel->lane->is_threaded))
        return irecv_threads(channel, buf, count, type, source, tag, out);
    return irecv(channel, buf, count, type, source, tag, out);
}

/* Never posted, but MPI_Cancel and reports look whether it is. With the lock. */
static void mrecv_begin(struct p2p_req *r, struct message *message)
{
    match_entry_init(&r->match, match_key(message->source, message->tag), match_mask(false, false));
    deliver_message(r, message);
}

struct obj *p2p_message_owner(const struct message *message)
{
    return message && message != &message_no_proc ? &message->channel->comm->obj : NULL;
}

int p2p_mrecv(struct message *message, void *buf, MPI_Count count, struct type *type, MPI_Status *status)
{
    struct comm *comm;
    struct p2p_req r;

    if (message == &message_no_proc) {
        status_set_proc_null(status);
        return 0;
    }
    comm = message->channel->comm;
    obj_ref(&comm->obj); /* the message's own reference goes with it */
    request_init(&r, message->channel, type);
    r.req.waiter = REQ_IN_MRECV;
    recv_prepare(&r, buf, count);
    lane_lock(r.channel->lane);
    mrecv_begin(&r, message);
    lane_unlock(r.channel->lane);
    progress_wait(&r.req.done, r.req.hint);
    status_set(status, r.req.source, r.req.tag, r.req.bytes, false);
    if (unlikely(r.req.error))
        req_set_failed_owner(&comm->obj);
    comm_unref(comm);
    return r.req.error;
}

int p2p_imrecv(struct message *message, void *buf, MPI_Count count, struct type *type, struct req **out)
{
    struct lane *lane;
    struct p2p_req *r;

    if (message == &message_no_proc) {
        *out = req_from_nobody();
        return 0;
    }
    lane = message->channel->lane;
    lane_lock(lane);
    r = request_create(message->channel, type);
    if (r) {
        recv_prepare(r, buf, count);
        mrecv_begin(r, message);
    }
    lane_unlock(lane);
    if (!r) {
        req_set_failed_owner(p2p_message_owner(message));
        return err(MPI_ERR_NO_MEM, "no memory for a receive request");
    }
    *out = &r->req;
    return 0;
}
