/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Long messages: the receiver has met an offer (RTS) and chooses how the bytes move.
 *
 *   same process   copied at once from the sender's buffer; FIN
 *   together       both buffers are one run, or blocks that are long enough (lists.c), and the system lets the two
 *                  processes copy: copies.c
 *   stream         the sender packs into the transport's buffers, the receiver unpacks, in order. A transport between
 *                  machines sends from the memory of a message that is one run, and puts what comes where it belongs
 *
 * Knows: net, type, obj. Does not know: matching. */
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"

enum {
    BOUNCE = 4096,        /* copy between two layouts in one process */
    STREAM_BATCH = 8,     /* records of one stream before the others have their turn */
    STREAM_RUN = 1 << 20, /* of a record that is sent from where it lies */
    OFFERED_GAPS = 32,    /* messages with gaps until they shall come without an offer */
    MOST_SHARING = 4,     /* ranks for a processor among whom cells of two are better than offers */
    FEW_SHARING = 2,      /* … among whom only very long messages of collective calls are copied by one side … */
    ALONE_MIN = 524288,   /* … from here on … */
    ALONE_END = 4 << 20,  /* … and no longer ones: nothing else moves meanwhile */
    IS_COUNTED = 1,       /* in `started`: the model of speeds knows of it */
    PARTS_END = 262144,   /* a longer stream is faster by whole buffers, one read while the next is written */
};

static struct p2p_req *request_at(struct list *link)
{
    return CONTAINER_OF(link, struct p2p_req, link);
}

/* Are both buffers one run? */
static bool is_plain(const struct p2p_req *r)
{
    return type_is_run(r->type, r->count) && r->flags & WIRE_CONTIG;
}

/* With gaps on a side: may it be copied block by block? */
static bool has_choice(const struct p2p_req *r)
{
    return r->flags & (WIRE_CONTIG | WIRE_LISTED) && lists_pay(r, r->wanted - r->moved) &&
           r->peer->ops->can_copy(r->peer->ep);
}

/* --- within the process --- */

/* What is copied begins at r->moved: at 0, but for pieces of a partitioned message. */
static void copy_here(struct p2p_req *r, const struct p2p_req *s)
{
    const size_t from = r->moved;
    char bounce[BOUNCE];

    if (r->type->is_contig) {
        type_pack(s->type, s->buf, s->count, from, (char *)r->buf + from, r->wanted - from);
    } else if (s->type->is_contig) {
        type_unpack(r->type, r->buf, r->count, from, (const char *)s->buf + from, r->wanted - from);
    } else {
        for (size_t at = from; at < r->wanted; at += BOUNCE) {
            const size_t len = size_min(BOUNCE, r->wanted - at);
            type_pack(s->type, s->buf, s->count, at, bounce, len);
            type_unpack(r->type, r->buf, r->count, at, bounce, len);
        }
    }
}

/* --- stream --- */

/* The next record of a message that is one run, from where it lies. Nothing stands before it, so what is not out when
 * this returns goes out by itself. 0 or NET_AGAIN. */
static int push_run(struct p2p_req *s, struct net_head head)
{
    const size_t len = size_min(STREAM_RUN, s->wanted - s->moved);
    int rc;

    atomic_fetch_add_explicit(&s->pending, 1, memory_order_relaxed);
    rc = s->peer->ops->send_from(s->peer->ep, head, type_run(s->type, s->buf) + s->moved, (uint32_t)len, &s->pending);
    if (rc)
        atomic_fetch_sub_explicit(&s->pending, 1, memory_order_relaxed);
    else
        s->moved += len;
    return rc;
}

/* Others have all buffers, and this receiver must not wait for them to read. */
static COLD int push_short(struct p2p_req *s, struct net_head head)
{
    const struct net_ops *ops = s->peer->ops;
    char packed[P2P_PACK_ON_STACK];
    const size_t len = size_min(size_min(ops->short_max, sizeof packed), s->wanted - s->moved);
    int rc;

    type_pack(s->type, s->buf, s->count, s->moved, packed, len);
    rc = ops->send(s->peer->ep, head, packed, (uint32_t)len);
    if (!rc)
        s->moved += len;
    return rc;
}

/* The same of any message, in a buffer of the transport's. */
static int push_packed(struct p2p_req *s, struct net_head head)
{
    const struct net_ops *ops = s->peer->ops;
    const size_t len = size_min(ops->eager_max, s->wanted - s->moved);
    struct net_buffer buffer;
    const int rc = ops->alloc(s->peer->ep, &buffer);

    if (unlikely(rc))
        return rc == NET_TAKEN ? push_short(s, head) : NET_AGAIN;
    type_pack_far(s->type, s->buf, s->count, s->moved, buffer.data, len, pace_is_far_to(s->peer->pace));
    if (ops->commit(s->peer->ep, head, &buffer, (uint32_t)len)) {
        ops->release(s->peer->ep, &buffer);
        return NET_AGAIN;
    }
    s->moved += len;
    return 0;
}

static void pack_next(const void *arg, size_t at, void *to, size_t len)
{
    const struct p2p_req *const s = arg;

    type_pack_far(s->type, s->buf, s->count, s->moved + at, to, len, pace_is_far_to(s->peer->pace));
}

struct net_source rndv_source(const struct p2p_req *s)
{
    if (type_is_run(s->type, s->count))
        return net_source_at(type_run(s->type, s->buf) + s->moved);
    return (struct net_source){ pack_next, s };
}

/* The same to a receiver that reads it while it is written. */
static int push_parts(struct p2p_req *s, struct net_head head)
{
    const struct net_ops *ops = s->peer->ops;
    const size_t len = size_min(ops->parts_max, s->wanted - s->moved);
    int rc;

    if (len < ops->parts_min)
        return push_packed(s, head);
    rc = ops->send_parts(s->peer->ep, head, rndv_source(s), (uint32_t)len, true);
    if (unlikely(rc == NET_TAKEN))
        return push_packed(s, head);
    if (!rc)
        s->moved += len;
    return rc;
}

/* Send records of one message while there is room; true when all is out. */
static bool stream_push(struct p2p_req *s, int *sent)
{
    const struct net_head head = wire_head(WIRE_DATA, 0, 0, s->channel->ctx, s->remote_id);
    const bool is_run = s->peer->ops->send_from && type_is_run(s->type, s->count);

    for (int i = 0; i < STREAM_BATCH && s->moved < s->wanted; i++) {
        if (is_run ? push_run(s, head) : s->in_parts ? push_parts(s, head) : push_packed(s, head))
            return false;
        ++*sent;
    }
    return s->moved == s->wanted && !atomic_load_explicit(&s->pending, memory_order_relaxed);
}

static void stream_measured(const struct p2p_req *r)
{
    struct speed *speed = &r->peer->speed;

    if (is_plain(r))
        speed_long_end(speed, r->wanted);
    else
        speed_gaps_end(speed, lists_block(r, r->wanted), r->wanted);
}

/* Where the next bytes of a message belong, if it is one run; else NULL. */
static void *place_of_next(const struct p2p_req *r)
{
    return type_is_run(r->type, r->count) ? type_run(r->type, r->buf) + r->moved : NULL;
}

void *p2p_land(void *arg, int proc, struct net_head head, uint32_t len)
{
    const struct p2p_req *r = (const struct p2p_req *)(uintptr_t)head.word[1];

    if (wire_kind(head) == WIRE_PARCEL)
        return parcel_land(arg, proc, head, len);
    return wire_kind(head) == WIRE_DATA && len <= r->wanted - r->moved ? place_of_next(r) : NULL;
}

bool p2p_read(void *arg, int proc, struct net_head head, size_t at, const void *bytes, size_t len)
{
    struct p2p_req *r = (struct p2p_req *)(uintptr_t)head.word[1];

    (void)arg, (void)proc;
    if (wire_kind(head) != WIRE_DATA)
        return false;
    cell_unpack(r, r->peer, r->moved + at, bytes, len);
    return true;
}

void rndv_on_data(uint64_t recv_id, const void *payload, size_t len)
{
    struct p2p_req *r = (struct p2p_req *)(uintptr_t)recv_id;

    if (payload && payload != place_of_next(r)) /* else it is there */
        cell_unpack(r, r->peer, r->moved, payload, len);
    r->moved += len;
    if (r->moved < r->wanted)
        return;
    if (r->started)
        stream_measured(r);
    list_remove(&r->link);
    p2p_complete(r);
}

/* --- both sides --- */

static bool prepare_lists(struct p2p_req *r)
{
    const size_t len = r->wanted - r->moved;

    if (!lists_open(r, r->moved, len))
        return false;
    if (lists_meet(r, r->remote_address, r->flags & WIRE_LISTED ? r->remote_blocks : 0, len))
        return true;
    lists_close(r);
    return false;
}

/* A long message of a collective call where ranks share processors: the receiver copies it by itself, since there is
 * most likely no processor on which the sender could take part. */
static bool is_for_one(const struct p2p_req *r, size_t len)
{
    struct comm *comm = r->channel->comm;

    return progress_is_oversubscribed() && r->channel == channel_of(comm, P2P_COLL) && len <= ALONE_END &&
           (len >= ALONE_MIN || progress.local_ranks > FEW_SHARING * progress.cpus_given);
}

/* Shall the system copy it? If there are lists to be made for that, they are. */
static bool choose_copy(struct p2p_req *r)
{
    struct speed *speed = &r->peer->speed;
    const size_t len = r->wanted - r->moved;

    r->started = 0;
    if (is_plain(r)) {
        if (!r->peer->ops->can_copy(r->peer->ep))
            return false;
        if (is_for_one(r, len))
            return true;
        if (r->moved)
            return !speed_of_long(speed, len)->is_stream;
        r->started = IS_COUNTED;
        return !speed_long_begin(speed, len);
    }
    if (!has_choice(r))
        return false;
    if (r->moved)
        return !speed_of_gaps(speed, lists_block(r, len))->is_stream && prepare_lists(r);
    r->started = IS_COUNTED;
    return !speed_gaps_begin(speed, lists_block(r, len)) && prepare_lists(r);
}

/* The sender takes part: it must know where the bytes of both sides lie. */
static void meet_receiver(struct p2p_req *s)
{
    const struct net_record *record = s->record;

    if (s->flags & P2P_LISTS || (record->blocks && lists_open(s, s->moved, s->wanted - s->moved)))
        lists_meet(s, record->address, record->blocks, record->len);
}

/* Is what comes best read while it is written? With gaps only where lines are near. */
static bool reads_parts(const struct p2p_req *r)
{
    const struct net_ops *ops = r->peer->ops;

    return ops->wants_parts && r->wanted - r->moved <= PARTS_END && (place_of_next(r) || !r->peer->pace->is_far) &&
           ops->wants_parts(r->peer->ep);
}

/* A message of one run comes as a stream. If it would go in one record of parts, such ones shall come in that at once
 * from now on, if this one is no exception. */
static void ask_for_longer(struct p2p_req *r)
{
    struct peer *peer = r->peer;
    const struct net_ops *ops = peer->ops;

    if (r->wanted <= ops->eager_max) {
        if (!ops->can_copy(peer->ep))
            return;
        speed_streamed(&peer->speed, r->wanted, ops->eager_max);
    } else {
        if (!r->control.cts.parts || r->wanted > ops->parts_max || speed_eager_is_barred(&peer->speed, r->wanted) ||
            (ops->can_copy(peer->ep) && !speed_is_streamed(speed_of_long(&peer->speed, r->wanted))))
            return;
        peer->is_asked_far = peer->pace->is_far;
        speed_longer(&peer->speed, ops->parts_max, ops->eager_max);
    }
    ask_limit(peer);
}

/* One with gaps on the sender's side comes as a stream, the only way for such ones. If it is read while it is written,
 * those like it shall come so at once after a while. */
static void ask_for_packed(struct p2p_req *r)
{
    const struct net_ops *ops = r->peer->ops;

    if (!r->control.cts.parts || r->peer->pace->is_far || r->flags & (WIRE_CONTIG | WIRE_LISTED) ||
        r->wanted <= ops->eager_max || r->wanted > ops->parts_max || ++r->peer->offered_gaps < OFFERED_GAPS)
        return;
    r->peer->is_asked_gaps = true;
    ask_limit(r->peer);
}

void rndv_stream(struct p2p_req *r)
{
    r->control.cts = (struct wire_cts){ .id = r->remote_id, .recv_id = (uintptr_t)r, .len = r->wanted,
                                        .parts = reads_parts(r) };
    list_append(&r->channel->lane->landings, &r->link);
    if (is_plain(r))
        ask_for_longer(r);
    else
        ask_for_packed(r);
    control_send(r, WIRE_CTS_STREAM, sizeof r->control.cts, THEN_NOTHING);
}

/* Where ranks share processors, who offers has to get one once more before it may go on: what fits into one record
 * comes at once from now on, however it is copied. Not with many ranks for each: their cells do not fit into the
 * caches. */
static void ask_where_crowded(struct p2p_req *r)
{
    struct peer *peer = r->peer;
    const struct net_ops *ops = peer->ops;

    if (!progress_is_oversubscribed() || progress.local_ranks > MOST_SHARING * progress.cpus_given || !is_plain(r) ||
        !ops->wants_parts || r->wanted <= ops->eager_max || r->wanted > ops->parts_max)
        return;
    peer->is_asked_far = peer->pace->is_far;
    speed_longer(&peer->speed, ops->parts_max, ops->eager_max);
    ask_limit(peer);
}

void rndv_begin(struct p2p_req *r)
{
    r->state = P2P_MOVING;
    ask_where_crowded(r);
    if (unlikely(r->peer->lost)) { /* it was offered before that */
        r->req.error = lost_error(r->peer);
        p2p_complete(r);
    } else if (r->peer->ops->is_same_space || !r->wanted) {
        if (r->wanted)
            copy_here(r, (const struct p2p_req *)(uintptr_t)r->remote_id);
        r->control.reply = (struct wire_reply){ r->remote_id };
        control_send(r, WIRE_FIN, sizeof r->control.reply, THEN_COMPLETE);
    } else if (choose_copy(r)) {
        if (r->wanted - r->moved < SPEED_TOGETHER || (is_plain(r) && is_for_one(r, r->wanted - r->moved)))
            copies_alone(r);
        else if (!copies_begin(r))
            work_add(r->channel->lane, &r->channel->lane->no_record, &r->link);
    } else {
        rndv_stream(r);
    }
}

void rndv_stream_out(struct p2p_req *s, uint64_t recv_id, bool in_parts)
{
    s->remote_id = recv_id;
    s->in_parts = in_parts;
    atomic_store_explicit(&s->pending, 0, memory_order_relaxed);
    work_add(s->channel->lane, &s->channel->lane->streams, &s->link);
}

void rndv_on_cts(struct p2p_req *s, unsigned kind, const struct wire_cts *cts)
{
    struct lane *lane = s->channel->lane;

    if (unlikely(s->state == P2P_MOVING))
        copies_end(s);
    send_answered(s);
    s->state = P2P_MOVING;
    s->wanted = cts->len;
    if (kind == WIRE_CTS_COPY) {
        s->record = s->peer->ops->record_find(s->peer->ep, cts->record);
        meet_receiver(s);
        work_add(lane, &lane->copies, &s->link);
    } else {
        rndv_stream_out(s, cts->recv_id,
                        cts->parts && (type_is_run(s->type, s->count) || !pace_is_far_to(s->peer->pace)));
    }
}

static bool has_copy_in(const struct lane *lane)
{
    LIST_FOR_EACH(link, &lane->copies) {
        if (!request_at(link)->req.is_send)
            return true;
    }
    return false;
}

/* Receives that found no record get one when another copy is over. But if none is under way here, all records are with
 * senders that have begun and left: nobody may wait for those to come back. */
static int find_records(struct lane *lane)
{
    int events = 0;

    LIST_FOR_EACH_SAFE(link, &lane->no_record) {
        struct p2p_req *r = request_at(link);
        work_remove(lane, link);
        if (copies_begin(r))
            continue;
        if (has_copy_in(lane)) {
            work_add(lane, &lane->no_record, link);
            break;
        }
        copies_alone(r);
        events++;
    }
    return events;
}

int rndv_work(struct lane *lane)
{
    int events = find_records(lane);

    LIST_FOR_EACH_SAFE(link, &lane->copies)
        events += copies_step(request_at(link));
    LIST_FOR_EACH_SAFE(link, &lane->streams) {
        struct p2p_req *s = request_at(link);
        if (s->peer->is_foreign ? foreign_stream(s, &events) : stream_push(s, &events)) {
            work_remove(lane, link);
            p2p_complete(s);
        }
    }
    return events;
}
