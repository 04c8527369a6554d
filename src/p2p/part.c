/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Requests of partitioned communication (MPI 5.0 §4): made, started, marked, asked, given back. What
 * travels is in part_send.c and part_recv.c.
 * Knows: obj, type, progress. */
#include "p2p/int_part.h"

#include "base/err.h"

/* A piece's place travels beside kind and flags; see wire.h. */
static const size_t len_end = (size_t)1 << WIRE_OFFSET_BITS;

static const struct req_ops part_ops;

/* --- shared by both sides --- */

static struct part_req *part_of(struct req *req)
{
    return (struct part_req *)(void *)req;
}

static void free_book(struct part_req *p)
{
    list_remove(&p->all_link);
    mem_free(p->req.is_send ? (void *)p->marks.ready : (void *)p->fill.left);
}

void part_leave(struct lane *lane)
{
    LIST_FOR_EACH_SAFE(link, &lane->part_all)
        free_book(CONTAINER_OF(link, struct part_req, all_link));
}

void part_free(struct part_req *p)
{
    struct lane *lane = p->channel->lane;
    struct comm *comm = p->channel->comm;

    free_book(p);
    type_unref(p->type);
    mem_pool_put(&lane->part_requests, p);
    comm_unref(comm);
}

void part_complete(struct part_req *p)
{
    p->is_running = false;
    req_complete(&p->req);
}

static int push_control(struct outgoing *out, struct peer *peer)
{
    struct part_req *p = CONTAINER_OF(out, struct part_req, out);
    int rc;

    p->is_queued = false; /* within the process much may follow during the call */
    if (peer->is_foreign)
        rc = part_control_abroad(p) ? 0 : NET_AGAIN;
    else
        rc = peer->ops->send(peer->ep, p->head, &p->control, p->head_len);
    if (rc) {
        p->is_queued = true;
        return rc;
    }
    if (p->is_released)
        part_free(p);
    else if (!p->req.is_send && part_recv_is_refused(p))
        part_complete(p);
    return 0;
}

void part_control_send(struct part_req *p, struct net_head head, uint32_t len)
{
    p->head = head;
    p->head_len = len;
    p->out.push = push_control;
    p->is_queued = true;
    if (wire_kind(head) == WIRE_PART_SETUP)
        outgoing_send(&p->out, p->peer); /* is matched, so it keeps its place among messages */
    else
        outgoing_control(&p->out, p->peer);
}

struct part_piece *part_piece_open(struct part_req *p, size_t offset, size_t len)
{
    for (int i = 0; i < PART_PIECES; i++) {
        struct part_piece *piece = &p->piece[i];
        if (piece->is_used)
            continue;
        *piece = (struct part_piece){ .whole = p, .offset = offset, .len = len, .is_used = true };
        request_init(&piece->r, p->channel, p->type);
        piece->r.req.ops = NULL;
        piece->r.req.is_send = p->req.is_send;
        piece->r.is_special = true;
        piece->r.peer = p->peer;
        piece->r.buf = p->buf;
        piece->r.count = p->count;
        piece->r.moved = offset;
        piece->r.wanted = offset + len;
        return piece;
    }
    return NULL;
}

void part_piece_done(struct p2p_req *r)
{
    struct part_piece *piece = CONTAINER_OF(r, struct part_piece, r);
    struct part_req *p = piece->whole;

    if (r->req.error && !p->req.error)
        p->req.error = r->req.error;
    piece->is_used = false;
    if (p->req.is_send)
        part_send_piece_done(p);
    else
        part_recv_done(p, piece->offset, piece->len);
}

/* --- lost --- */

/* A piece that streams out is completed by the lane's work, when the transport has let go of its memory. */
static bool has_piece_under_way(const struct part_req *p)
{
    for (int i = 0; i < PART_PIECES; i++) {
        if (p->piece[i].is_used && p->req.is_send && p->piece[i].r.state == P2P_MOVING)
            return true;
    }
    return false;
}

static void fail_round(struct part_req *p, int error)
{
    for (int i = 0; i < PART_PIECES; i++)
        p->piece[i].is_used = false;
    p->pieces = 0;
    p->req.error = error;
    if (p->req.is_send && !list_is_empty(&p->link))
        work_remove(p->channel->lane, &p->link);
    atomic_store_explicit(&p->may_send, false, memory_order_relaxed);
    part_complete(p);
}

static bool may_fail(const struct part_req *p)
{
    return p->is_running && !p->is_queued && !has_piece_under_way(p);
}

void part_fail(struct peer *peer)
{
    LIST_FOR_EACH(link, &peer->lane->part_all) {
        struct part_req *p = CONTAINER_OF(link, struct part_req, all_link);
        if (p->peer == peer && may_fail(p))
            fail_round(p, lost_error(peer));
    }
}

/* Those that have met their other side go on. */
void part_break(const struct channel *channel)
{
    LIST_FOR_EACH(link, &channel->lane->part_all) {
        struct part_req *p = CONTAINER_OF(link, struct part_req, all_link);
        if (p->channel == channel && !p->remote_id && may_fail(p))
            fail_round(p, broken_error(channel));
    }
}

/* --- made --- */

/* How much there is, in items and bytes. */
static int measure(struct part_req *p, const struct p2p_part *part)
{
    MPI_Count bytes;

    if (__builtin_mul_overflow(part->count, (MPI_Count)part->partitions, &p->count) ||
        __builtin_mul_overflow(p->count, part->type->size, &bytes) || (size_t)bytes >= len_end)
        return err(MPI_ERR_COUNT, "%d partitions of %lld items of %lld bytes are too many; a partitioned message has "
                   "less than %zu bytes", part->partitions, (long long)part->count, (long long)part->type->size,
                   len_end);
    if (!part->buf && bytes)
        return err(MPI_ERR_BUFFER, "buf is MPI_BOTTOM; partitions need an address (MPI 5.0 §4.2.3)");
    p->len = (size_t)bytes;
    p->part_len = type_bytes(part->type, part->count);
    if (!p->peer || !p->peer->is_foreign)
        return 0;
    p->len = external_bytes(part->type, p->count);
    p->part_len = external_bytes(part->type, part->count);
    return part_open_abroad(p);
}

/* The array that goes with the partitions, one word for each or two bits. */
static int make_book(struct part_req *p, bool is_send)
{
    const size_t words = is_send ? 2 * part_words(p->partitions) : (size_t)p->partitions;
    uint64_t *book = mem_zalloc((words ? words : 1) * sizeof *book);

    if (!book)
        return err(MPI_ERR_NO_MEM, "no memory for %d partitions", p->partitions);
    if (is_send)
        part_marks_init(&p->marks, p->partitions, book);
    else
        p->fill = (struct part_fill){ (_Atomic size_t *)book, p->partitions, p->part_len, 0 };
    return 0;
}

static void prepare(struct part_req *p, struct channel *channel, const struct p2p_part *part, bool is_send)
{
    *p = (struct part_req){
        .req = {
            .obj = { .kind = OBJ_REQUEST, .refs = 1 },
            .done = 1,
            .is_persistent = true,
            .is_send = is_send,
            .comm = channel->comm,
            .ops = &part_ops,
        },
        .channel = channel,
        .rank = part->rank,
        .tag = part->tag,
        .buf = (void *)(uintptr_t)part->buf,
        .type = part->type,
        .partitions = part->partitions,
    };
    list_init(&p->link);
    list_init(&p->all_link);
    list_init(&p->out.link);
}

/* With the lock. */
static int make(struct channel *channel, const struct p2p_part *part, bool is_send, struct part_req **out)
{
    struct part_req *p = mem_pool_get(&channel->lane->part_requests);
    int rc;

    if (!p)
        return err(MPI_ERR_NO_MEM, "no memory for a partitioned request");
    prepare(p, channel, part, is_send);
    rc = part->rank == MPI_PROC_NULL ? 0 : peer_get_rank(channel, part->rank, &p->peer);
    if (!rc)
        rc = measure(p, part);
    if (!rc)
        rc = make_book(p, is_send);
    if (rc) {
        mem_pool_put(&channel->lane->part_requests, p);
        return rc;
    }
    if (p->peer) {
        p->req.hint = (struct progress_hint){ lane_poll_peer, p->peer };
        list_append(&channel->lane->part_all, &p->all_link);
    }
    type_ref(p->type);
    obj_ref(&channel->comm->obj);
    *out = p;
    return 0;
}

static int init(struct comm *comm, const struct p2p_part *part, bool is_send, struct req **out)
{
    struct channel *channel = channel_of(comm, P2P_COLL);
    struct part_req *p = NULL;
    int rc;

    lane_lock(channel->lane);
    rc = make(channel, part, is_send, &p);
    if (!rc) {
        *out = &p->req;
        if (p->peer && is_send)
            part_send_setup(p);
        else if (p->peer)
            part_recv_post(p);
    }
    lane_unlock(channel->lane);
    return rc;
}

int p2p_psend_init(struct comm *comm, const struct p2p_part *part, struct req **out)
{
    return init(comm, part, true, out);
}

int p2p_precv_init(struct comm *comm, const struct p2p_part *part, struct req **out)
{
    return init(comm, part, false, out);
}

void p2p_part_lay_out(struct req *req, void *buf, struct type *type)
{
    struct part_req *p = part_of(req);

    lane_lock(p->channel->lane);
    type_ref(type);
    type_unref(p->type);
    p->buf = buf;
    p->type = type;
    p->count = 1;
    p->is_laid_out = true;
    lane_unlock(p->channel->lane);
}

/* --- what the user does with one --- */

/* A receive that has not met its sender stays posted, else the sender's envelope would meet the next receive. It
 * needs its place in the matcher only. */
static void leave_posted(struct part_req *r)
{
    struct comm *comm = r->channel->comm;

    r->is_released = true;
    r->req.obj.kind = OBJ_FREED;
    free_book(r);
    type_unref(r->type);
    comm_unref(comm);
}

void part_drop_posted(struct match_entry *entry)
{
    struct part_req *r = CONTAINER_OF(entry, struct part_req, match);

    if (!r->is_released) /* never freed */
        free_book(r);
    mem_pool_put(&r->channel->lane->part_requests, r);
}

static void part_release(struct req *req)
{
    struct part_req *p = part_of(req);
    struct lane *lane = p->channel->lane;

    lane_lock(lane);
    if (!req->is_send && match_is_posted(&p->match)) {
        leave_posted(p);
    } else if (p->is_queued) {
        p->is_released = true;
        req->obj.kind = OBJ_FREED;
    } else {
        part_free(p);
    }
    lane_unlock(lane);
}

static int part_cancel(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "an active partitioned request may not be cancelled (MPI 5.0 §4.2.1)");
}

static int part_detach(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "an active partitioned request may not be freed (MPI 5.0 §4.2.1)");
}

static int part_start(struct req *req)
{
    struct part_req *p = part_of(req);
    struct lane *lane = p->channel->lane;

    lane_lock(lane);
    atomic_store_explicit(&req->done, 0, memory_order_relaxed);
    req->error = 0;
    p->is_running = true;
    p->rounds++;
    if (req->is_send)
        part_send_start(p);
    else
        part_recv_start(p);
    lane_unlock(lane);
    return 0;
}

static void part_describe(const struct req *req, struct blocked *out)
{
    const struct part_req *p = (const struct part_req *)(const void *)req;

    *out = (struct blocked){
        .call = "MPI_Wait",
        .of = req->is_send ? "MPI_Psend_init" : "MPI_Precv_init",
        .comm = req->comm,
        .way = req->is_send ? BLOCKED_SENDING : BLOCKED_RECEIVING,
        .peer = p->rank,
        .tag = p->tag,
        .count = p->count,
        .type = type_name(p->type),
    };
    if (!p->peer)
        out->way = BLOCKED_OTHERWISE;
}

static const struct req_ops part_ops = {
    .release = part_release,
    .cancel = part_cancel,
    .detach = part_detach,
    .start = part_start,
    .describe = part_describe,
};

static COLD int bad_partition(const struct part_req *p, int partition)
{
    return err(MPI_ERR_ARG, "there is no partition %d; the request has %d of them, counted from 0", partition,
               p->partitions);
}

/* --- marking (§4.2.1) --- */

static COLD int ready_already(int partition)
{
    return err(MPI_ERR_ARG, "partition %d has been marked ready already since the start of the request", partition);
}

static int check_send(const struct req *req)
{
    if (unlikely(req->ops != &part_ops || !req->is_send))
        return err(MPI_ERR_REQUEST, "the request is not one of MPI_Psend_init");
    if (unlikely(!req->is_active))
        return err(MPI_ERR_REQUEST, "the request has not been started, or has completed; partitions are marked ready "
                   "after MPI_Start");
    return 0;
}

/* Set the marks of `run`. A thread that sends some does so before it counts its marks as made: only when all are
 * counted may the request complete, and then somebody else may free it. */
static int mark(struct part_req *s, struct part_run run)
{
    struct lane *lane = s->channel->lane;
    const int added = part_marks_set(&s->marks, run);
    const int left = atomic_load_explicit(&s->unready, memory_order_relaxed);
    const int fresh = s->partitions - left + added - atomic_load_explicit(&s->taken, memory_order_relaxed);

    if (left != added && (size_t)fresh * s->part_len >= PART_TOGETHER &&
        atomic_load_explicit(&s->may_send, memory_order_relaxed)) {
        lane_lock(lane);
        part_push(s);
        lane_unlock(lane);
    }
    /* acquire and release: who counts the last mark sees all of them */
    if (atomic_fetch_sub_explicit(&s->unready, added, memory_order_acq_rel) == added) {
        lane_lock(lane);
        s->is_all_ready = true;
        part_push(s);
        lane_unlock(lane);
    } else if (lane->is_threaded) {
        progress_notify(); /* a thread that waits will send what is marked */
    }
    return added;
}

static int mark_checked(struct part_req *s, struct part_run run)
{
    const int twice = part_marks_find(&s->marks, run);

    if (unlikely(twice >= 0))
        return ready_already(twice);
    return likely(mark(s, run) == run.count) ? 0 : ready_already(run.first);
}

int p2p_pready(struct req *req, int low, int high)
{
    struct part_req *s = part_of(req);
    const int rc = check_send(req);

    if (unlikely(rc))
        return rc;
    if (low > high)
        return 0;
    if (unlikely(low < 0 || high >= s->partitions))
        return bad_partition(s, low < 0 ? low : high);
    return mark_checked(s, (struct part_run){ low, high - low + 1 });
}

int p2p_pready_list(struct req *req, int length, const int *partitions)
{
    int rc = check_send(req);

    for (int i = 0; i < length && !rc; i++)
        rc = p2p_pready(req, partitions[i], partitions[i]);
    return rc;
}

/* --- asking (§4.2.2) --- */

static bool has_arrived(struct part_req *r, int partition)
{
    return req_is_done(&r->req) || (r->part_len && part_fill_has(&r->fill, partition));
}

int p2p_parrived(struct req *req, int partition, int *flag)
{
    struct part_req *r = part_of(req);

    *flag = 1;
    if (!req)
        return 0;
    if (unlikely(req->ops != &part_ops || req->is_send))
        return err(MPI_ERR_REQUEST, "the request is not one of MPI_Precv_init");
    if (unlikely(partition < 0 || partition >= r->partitions))
        return bad_partition(r, partition);
    if (has_arrived(r, partition))
        return 0;
    progress_poll();
    *flag = has_arrived(r, partition);
    if (!*flag)
        progress_in_vain();
    return 0;
}
