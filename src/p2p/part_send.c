/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Partitioned sends (MPI 5.0 §4). Partitions in a row that are ready go out as one piece: in a record of
 * the transport if it fits, else offered, and then it moves as a long message does (rndv.c). A mark sends as soon as
 * enough bytes wait; fewer are sent with the last mark of the round, or by whoever polls.
 * Knows: net, type. Does not know: matching. */
#include "p2p/int_part.h"


#include "base/err.h"

void part_send_setup(struct part_req *s)
{
    struct channel *channel = s->channel;

    s->control.setup = (struct wire_rts){ .id = (uintptr_t)s, .len = s->len };
    part_control_send(s, wire_head(WIRE_PART_SETUP, 0, 0, channel->ctx,
                                   match_key(channel->comm->rank | PART_SOURCE_BIT, s->tag)),
                      sizeof s->control.setup);
}

/* --- pieces: in one record 0, NET_AGAIN or NET_TAKEN --- */

static int send_in_buffer(const struct part_req *s, struct net_head head, size_t offset, size_t len)
{
    const struct net_ops *ops = s->peer->ops;
    struct net_buffer buffer;

    int rc = ops->alloc(s->peer->ep, &buffer);

    if (rc)
        return rc;
    type_pack(s->type, s->buf, s->count, offset, buffer.data, len);
    rc = ops->commit(s->peer->ep, head, &buffer, (uint32_t)len);
    if (rc)
        ops->release(s->peer->ep, &buffer);
    return rc;
}

static int send_record(const struct part_req *s, size_t offset, size_t len)
{
    const struct net_ops *ops = s->peer->ops;
    const struct net_head head = wire_part_head(offset, s->remote_id);
    char packed[P2P_PACK_ON_STACK];

    if (len > ops->short_max || (!s->type->is_contig && len > sizeof packed))
        return send_in_buffer(s, head, offset, len);
    if (s->type->is_contig)
        return ops->send(s->peer->ep, head, (char *)s->buf + offset, (uint32_t)len);
    type_pack(s->type, s->buf, s->count, offset, packed, len);
    return ops->send(s->peer->ep, head, packed, (uint32_t)len);
}

/* False: no room now. */
static bool offer(struct part_req *s, size_t offset, size_t len)
{
    struct part_piece *piece = part_piece_open(s, offset, len);
    const bool is_contig = s->type->is_contig;

    if (!piece)
        return false;
    s->pieces++;
    piece->r.control.offer = (struct wire_part_offer){
        .id = (uintptr_t)&piece->r,
        .offset = offset,
        .len = len,
        .address = is_contig ? (uintptr_t)s->buf + offset : 0,
    };
    piece->r.head = wire_head(WIRE_PART_OFFER, is_contig ? WIRE_CONTIG : 0, 0, s->channel->ctx, s->remote_id);
    record_send(&piece->r, sizeof piece->r.control.offer, THEN_NOTHING);
    return true;
}

static bool send_run(struct part_req *s, struct part_run run)
{
    const size_t offset = (size_t)run.first * s->part_len, len = (size_t)run.count * s->part_len;

    const int rc = len <= s->peer->ops->eager_max ? send_record(s, offset, len) : NET_TAKEN;

    return rc == NET_TAKEN ? offer(s, offset, len) : !rc;
}

/* --- rounds --- */

static bool is_granted(const struct part_req *s)
{
    return atomic_load_explicit(&s->may_send, memory_order_relaxed);
}

/* The receiver has too little room. */
static bool is_refused(const struct part_req *s)
{
    return s->peer && s->remote_len < s->len;
}

/* Nothing is to be sent: there is nothing, or nobody who takes it. */
static bool is_empty(const struct part_req *s)
{
    return !s->len || !s->peer || is_refused(s);
}

static int taken(const struct part_req *s)
{
    return atomic_load_explicit(&s->taken, memory_order_relaxed);
}

/* Marks that have been counted and wait to be sent. One that is just being made is seen next time. */
static bool has_work(const struct part_req *s)
{
    if (is_empty(s))
        return s->is_all_ready && !s->is_end_sent;
    return s->partitions - atomic_load_explicit(&s->unready, memory_order_relaxed) > taken(s);
}

static int push_runs_near(struct part_req *s)
{
    const size_t most = s->part_len < PART_PIECE_MAX ? PART_PIECE_MAX / s->part_len : 1;
    const int max = most < COUNT_LIMIT ? (int)most : COUNT_LIMIT;
    struct part_run run;
    int sent = 0;

    while (part_marks_next(&s->marks, max, &run) && send_run(s, run)) {
        part_marks_take(&s->marks, run);
        atomic_store_explicit(&s->taken, taken(s) + run.count, memory_order_relaxed);
        sent++;
    }
    return sent;
}

static int push_runs(struct part_req *s)
{
    return s->peer->is_foreign ? part_push_abroad(s) : push_runs_near(s);
}

/* A round without bytes ends with an empty record, a refused one or one with nobody without any. */
static int push_end(struct part_req *s)
{
    if (!s->is_all_ready || s->is_end_sent)
        return 0;
    if (!s->peer || is_refused(s))
        s->is_end_sent = true;
    else if (s->peer->is_foreign)
        s->is_end_sent = part_end_abroad(s);
    else
        s->is_end_sent = !s->peer->ops->send(s->peer->ep, wire_part_head(0, s->remote_id), "", 0);
    return s->is_end_sent;
}

static bool is_finished(const struct part_req *s)
{
    return s->is_all_ready && !s->pieces && (is_empty(s) ? s->is_end_sent : taken(s) == s->partitions);
}

static void finish(struct part_req *s)
{
    if (s->is_pushing || !s->is_running || !is_granted(s) || !is_finished(s))
        return;
    atomic_store_explicit(&s->may_send, false, memory_order_relaxed);
    if (s->peer)
        work_remove(s->channel->lane, &s->link);
    if (is_refused(s))
        s->req.error = err(MPI_ERR_COUNT, "partitioned send of %zu bytes in %d partitions to rank %d with tag %d, but "
                           "the receiver's request is for %zu bytes", s->len, s->partitions, s->rank, s->tag,
                           s->remote_len);
    part_complete(s);
}

int part_push(struct part_req *s)
{
    int sent;

    if (!s->is_running || !is_granted(s))
        return 0;
    s->is_pushing = true; /* within the process a piece may be done during the call that offers it */
    sent = is_empty(s) ? push_end(s) : push_runs(s);
    s->is_pushing = false;
    finish(s);
    return sent;
}

void part_send_piece_done(struct part_req *s)
{
    s->pieces--;
    finish(s);
}

/* Both sides have started this round. */
static void begin(struct part_req *s)
{
    atomic_store_explicit(&s->may_send, true, memory_order_relaxed);
    if (s->peer)
        work_add(s->channel->lane, &s->channel->lane->parts, &s->link);
    part_push(s);
}

void part_send_start(struct part_req *s)
{
    part_marks_clear(&s->marks);
    atomic_store_explicit(&s->unready, s->partitions, memory_order_relaxed);
    atomic_store_explicit(&s->taken, 0, memory_order_relaxed);
    s->is_all_ready = s->partitions == 0;
    s->is_end_sent = false;
    s->abroad.run.count = 0;
    if (!s->peer || (int)(s->granted - s->rounds) >= 0) /* a receiver that refuses may be far ahead */
        begin(s);
}

void part_granted(struct part_req *s, uint64_t id, size_t len)
{
    s->remote_id = id;
    s->remote_len = len;
    s->granted++;
    if (s->is_running && s->granted == s->rounds)
        begin(s);
}

void part_on_grant(const struct wire_cts *grant)
{
    part_granted((struct part_req *)(uintptr_t)grant->id, grant->recv_id, grant->len);
}

/* --- the lane's --- */

int part_work(struct lane *lane)
{
    int events = 0;

    LIST_FOR_EACH_SAFE(link, &lane->parts) {
        struct part_req *s = CONTAINER_OF(link, struct part_req, link);
        if (has_work(s))
            events += part_push(s);
    }
    return events;
}

unsigned part_unready(const struct lane *lane)
{
    unsigned count = 0;

    LIST_FOR_EACH(link, &lane->parts) {
        const struct part_req *s = CONTAINER_OF(link, const struct part_req, link);
        count += !s->is_all_ready && !s->pieces && !has_work(s);
    }
    return count;
}
