/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations by messages, at the target: what comes from one origin waits in a queue and is done in order,
 * while somebody polls. What cannot be done at once, for want of memory, because too many replies are on their way, or
 * a stripe or the lock is taken, is tried again with every poll.
 * Knows: int_message.h, our own memory. Does not know: what an origin waits for. */
#include <string.h>

#include "base/err.h"
#include "rma/combine.h"
#include "rma/int_message.h"

/* Windows that take part. Their own fields have the lock of their box, which is taken after this one. */
static struct {
    pthread_mutex_t lock;
    struct win_messages *first;  /* guarded by lock */
    bool is_polled;              /* guarded by lock */
} serving = { .lock = PTHREAD_MUTEX_INITIALIZER };


/* --- types of origins --- */

static bool is_kept(const struct win_messages *m, int i, const void *outline, size_t len)
{
    return m->kept[i].type && m->kept[i].len == len && !memcmp(m->kept[i].outline, outline, len);
}

static void forget(struct win_messages *m, unsigned i)
{
    if (m->kept[i].type)
        type_unref(m->kept[i].type);
    mem_free(m->kept[i].outline);
    m->kept[i].type = NULL;
    m->kept[i].outline = NULL;
}

static int keep(struct win_messages *m, const void *outline, size_t len, struct type *type)
{
    const unsigned i = m->next_kept;
    unsigned char *copy = mem_alloc(len);

    if (!copy) {
        type_unref(type);
        return LATER;
    }
    forget(m, i);
    m->kept[i].type = type;
    m->kept[i].len = len;
    m->kept[i].outline = memcpy(copy, outline, len);
    m->next_kept = (i + 1) % MESSAGE_TYPES;
    return 0;
}

/* The type of an outline, for this call only. */
static int find_type(struct win_messages *m, const void *outline, size_t len, struct type **out)
{

    for (int i = 0; i < MESSAGE_TYPES; i++)
        if (is_kept(m, i, outline, len)) {
            *out = m->kept[i].type;
            return 0;
        }
    if (type_from_outline(outline, len, out))
        return LATER; /* no memory: an outline of this library has no faults */
    return (*out)->obj.predefined ? 0 : keep(m, outline, len, *out);
}

/* --- replies --- */

/* A copy of data of this process, on its way. */
struct win_reply {
    struct win_peer *peer;
    char data[];
};

static void reply_begin(struct win_peer *peer)
{
    peer->replies++;
}

/* The transport has read it; `arg`: the peer. */
static void run_gone(void *arg)
{
    struct win_peer *peer = arg;

    peer->replies--;
}

static void reply_gone(void *arg)
{
    struct win_reply *reply = arg;

    reply->peer->m->replies--;
    run_gone(reply->peer);
    mem_free(reply);
}

/* With room for `len` bytes; NULL: later. */
static struct win_reply *new_reply(struct win_peer *peer, size_t len)
{
    struct win_reply *reply = peer->m->replies < MESSAGE_REPLIES ? mem_alloc(sizeof *reply + len) : NULL;

    if (reply) {
        reply->peer = peer;
        peer->m->replies++;
        reply_begin(peer);
    }
    return reply;
}

/* LATER: it could not be sent, and is there as before. */
static int send_reply(struct win_reply *reply, int rank, size_t len)
{
    return p2p_parcel_send(reply->peer->m->win->comm, rank, PARCEL_REPLY, reply->data, len, reply_gone, reply) ? LATER
                                                                                                              : 0;
}

/* From where it lies. */
static int send_run(struct win_peer *peer, int rank, const void *data, size_t len)
{
    reply_begin(peer);
    if (!p2p_parcel_send(peer->m->win->comm, rank, PARCEL_REPLY, data, len, run_gone, peer))
        return 0;
    run_gone(peer);
    return LATER;
}

/* --- refusing --- */

/* Is something in the way of a call that touches this much? Then the origin is told: now, or with its next answer. */
static bool is_allowed(struct win_messages *m, const struct win_call_head *head, const struct type *type,
                       struct win_refusal *refusal)
{
    const struct win_part piece = { type, head->count, head->address, head->at, head->len };
    struct win_range missing;

    if (m->win->create_flavor != MPI_WIN_FLAVOR_DYNAMIC ||
        likely(win_is_part_attached(m->win, m->win->rank, &piece, &missing)))
        return true;
    *refusal = (struct win_refusal){ head->len, missing.address, missing.len };
    return false;
}

static COLD int refuse(struct win_messages *m, int rank, bool is_asked, const struct win_refusal *refusal)
{
    if (is_asked)
        return p2p_parcel_send(m->win->comm, rank, PARCEL_REFUSED, refusal, sizeof *refusal, NULL, NULL) ? LATER : 0;
    m->peer[rank].refusal = *refusal;
    m->peer[rank].is_refused = true;
    return 0;
}

static int send_answer(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];
    const uint32_t word = unlikely(peer->has_denied) ? PARCEL_ANSWER | ALSO_TRY : PARCEL_ANSWER;

    if (p2p_parcel_send(m->win->comm, rank, word, &peer->refusal,
                        unlikely(peer->is_refused) ? sizeof peer->refusal : 0, NULL, NULL))
        return LATER;
    peer->is_refused = peer->has_denied = false;
    return 0;
}

/* --- operations --- */

/* One that is here, taken apart. */
struct call {
    const struct win_call_head *head;
    struct type *type;
    void *buf;               /* what the type is applied to */
    const char *data;
};

static int do_put(const struct call *call)
{
    type_unpack(call->type, call->buf, call->head->count, call->head->at, call->data, call->head->len);
    return 0;
}

/* What it says where to put follows. `is_refused`: nowhere. */
static int do_put_data(struct win_peer *peer, const struct call *call, bool is_refused)
{
    peer->landing = is_refused ? NULL : call->buf;
    peer->puts_done++;
    return 0;
}

static int do_get(struct win_messages *m, struct win_parcel_in *in, const struct call *call)
{
    struct win_peer *peer = &m->peer[in->rank];
    const struct win_call_head *head = call->head;

    if (type_is_run(call->type, head->count))
        return send_run(peer, in->rank, type_run(call->type, call->buf), head->len);
    while (in->done < head->len) {
        const size_t len = size_min(head->len - in->done, MESSAGE_PIECE);
        struct win_reply *reply = new_reply(peer, len);

        if (!reply)
            return LATER;
        type_pack(call->type, call->buf, head->count, in->done, reply->data, len);
        if (send_reply(reply, in->rank, len)) {
            reply_gone(reply);
            return LATER;
        }
        in->done += len;
    }
    return 0;
}

/* COMBINE and SWAP: what is to be done, from where it was left. */
static int start_combine(struct win_messages *m, struct win_parcel_in *in, const struct call *call, struct combine *c)
{
    const struct win_call_head *head = call->head;
    struct type *const byte = obj_type(MPI_BYTE);
    struct type *element;

    if (type_of_kind((enum type_kind)head->kind, &element))
        return LATER;
    if (head->is_asked && !in->reply && !(in->reply = new_reply(&m->peer[in->rank], head->len)))
        return LATER;
    *c = (struct combine){
        .win = m->win, .rank = m->win->rank, .way = WIN_WAY_DIRECT, .op = obj_op((MPI_Op)(uintptr_t)head->op),
        .element = element ? element : byte, .address = head->address, .type = call->type, .count = head->count,
        .from = { (void *)(uintptr_t)call->data, (MPI_Count)head->len, byte },
        .from_at = head->at, .result_at = head->at,
        .at = head->at + in->done, .end = head->at + head->len,
    };
    if (in->reply)
        c->result = (struct win_data){ in->reply->data, (MPI_Count)head->len, byte };
    return 0;
}

static int answer(struct win_parcel_in *in, size_t len)
{
    struct win_reply *reply = in->reply;

    if (!reply)
        return 0;
    if (send_reply(reply, in->rank, len))
        return LATER;
    in->reply = NULL;
    return 0;
}

static int do_combine(struct win_messages *m, struct win_parcel_in *in, const struct call *call)
{
    struct combine c;
    int rc = start_combine(m, in, call, &c);

    if (rc)
        return rc;
    rc = combine_run(&c);
    in->done = c.at - call->head->at;
    return rc ? LATER : answer(in, call->head->len);
}

static int swap(struct combine *c, const char *compare)
{
    void *const here = (void *)(uintptr_t)c->address;

    if (!combine_is_atomic(c->win, c->element, here))
        return combine_swap_striped(c, compare);
    combine_swap(c->element, here, c->from.buf, compare, c->result.buf);
    return 0;
}

static int do_swap(struct win_messages *m, struct win_parcel_in *in, const struct call *call)
{
    struct combine c;
    int rc = start_combine(m, in, call, &c);

    if (rc)
        return rc;
    if (!in->done && swap(&c, call->data + call->head->len))
        return LATER;
    in->done = call->head->len;
    return answer(in, call->head->len);
}

static int do_call(struct win_messages *m, struct win_parcel_in *in)
{
    const struct win_call_head *head = (const struct win_call_head *)(const void *)(in->bytes + in->at);
    const unsigned char *outline = (const unsigned char *)(head + 1);
    struct call call = { .head = head, .buf = (void *)(uintptr_t)head->address, .type = obj_type(MPI_BYTE) };
    struct win_refusal refusal;
    bool is_refused;

    call.data = (const char *)outline + head->outline_len;
    if (head->outline_len && find_type(m, outline, head->outline_len, &call.type))
        return LATER;
    if (head->action == ACTION_FAVOUR) {
        win_serve_favour(m, in->rank, head, call.type, call.data);
        return 0;
    }
    is_refused = !in->done && !is_allowed(m, head, call.type, &refusal);
    if (unlikely(is_refused) && refuse(m, in->rank, head->is_asked, &refusal))
        return LATER;
    if (head->action == ACTION_PUT_DATA)
        return do_put_data(&m->peer[in->rank], &call, is_refused);
    if (unlikely(is_refused))
        return 0;
    switch (head->action) {
    case ACTION_PUT: return do_put(&call);
    case ACTION_GET: return do_get(m, in, &call);
    case ACTION_COMBINE: return do_combine(m, in, &call);
    }
    return do_swap(m, in, &call);
}

static int do_calls(struct win_messages *m, struct win_parcel_in *in)
{
    while (in->at < in->len) {
        const struct win_call_head *head = (const struct win_call_head *)(const void *)(in->bytes + in->at);
        if (do_call(m, in))
            return LATER;
        in->at += head->size;
        in->done = 0;
    }
    return 0;
}

/* DATA that could not be put where they belong when they came. */
static void do_data(const struct win_peer *peer, const struct win_parcel_in *in)
{
    if (peer->landing && !in->is_in_place)
        memcpy(peer->landing + in->at, in->bytes, in->len);
}

/* --- parcels --- */

/* What is to be done besides, in this order; each once. */
static int do_also(struct win_messages *m, struct win_parcel_in *in)
{
    if (in->word & ALSO_UNLOCK) {
        if (m->peer[in->rank].replies) /* they are read from the memory that others may change now */
            return LATER;
        m->peer[in->rank].lock_held = 0;
        win_serve_unlock(m, in->word);
        in->word &= ~(uint32_t)ALSO_UNLOCK;
    }
    if (in->word & ALSO_COMPLETE) {
        win_serve_notice(m, in->rank, true);
        in->word &= ~(uint32_t)ALSO_COMPLETE;
    }
    return in->word & ALSO_ANSWER ? send_answer(m, in->rank) : 0;
}

/* The operations, under the lock. */
static int do_first(struct win_messages *m, struct win_parcel_in *in)
{
    if (in->word & ALSO_LOCK) {
        if (win_serve_lock(m, in))
            return LATER;
        if (!m->peer[in->rank].has_denied)
            m->peer[in->rank].lock_held = in->word & (ALSO_LOCK | ALSO_SHARED);
        in->word &= ~(uint32_t)ALSO_LOCK;
    }
    if ((in->word & WIN_PARCEL_KIND) == PARCEL_DATA)
        do_data(&m->peer[in->rank], in);
    else
        return do_calls(m, in);
    return 0;
}

void *win_serve_begin(struct win_messages *m, struct win_parcel_in *in)
{
    struct win_peer *peer = &m->peer[in->rank];

    list_append(&peer->queue, &in->link);
    if ((in->word & WIN_PARCEL_KIND) == PARCEL_DATA) {
        in->at = peer->data_begun;
        peer->data_begun += in->len;
    } else if (in->word & ALSO_DATA) {
        peer->puts_come++;
        peer->data_begun = 0;
    }
    return in->is_in_place ? peer->landing + in->at : (char *)in->bytes;
}

void win_defer(struct win_messages *m)
{
    if (m->is_deferred)
        return;
    m->is_deferred = true;
    atomic_fetch_add_explicit(&attend_unfinished, 1, memory_order_relaxed);
    progress_work(1);
    attend_soon();
}

/* Begin what stands behind what has begun: false if something must be tried again. DATA that are still being read to
 * their place keep back only what is said besides operations behind them, and locks. */
static bool begin_some(struct win_messages *m, struct win_peer *peer)
{
    while (peer->begun->next != &peer->queue) {
        struct win_parcel_in *in = CONTAINER_OF(peer->begun->next, struct win_parcel_in, link);

        if (!in->is_here && !in->is_in_place)
            return true;
        if (in->word & ALSO_LOCK && peer->begun != &peer->queue)
            return true;
        if (in->is_here && do_first(m, in))
            return false;
        peer->begun = &in->link;
    }
    return true;
}

/* What is done, in order: 1 if there was something, 0 if not, LATER. */
static int end_some(struct win_messages *m, struct win_peer *peer)
{
    int ended = 0;

    while (peer->begun != &peer->queue) {
        struct win_parcel_in *in = CONTAINER_OF(list_first(&peer->queue), struct win_parcel_in, link);

        if (!in->is_here)
            return ended;
        if (do_also(m, in))
            return LATER;
        if (peer->begun == &in->link)
            peer->begun = &peer->queue;
        list_remove(&in->link);
        mem_free(in);
        ended = 1;
    }
    return ended;
}

void win_serve(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];
    int ended = 1;

    while (ended > 0) {
        const bool is_begun = begin_some(m, peer);
        ended = end_some(m, peer);
        if (!is_begun || ended == LATER) {
            win_defer(m);
            return;
        }
    }
}

/* A lock that it waits for is taken when its turn comes, and given back. */
static void drop(struct win_parcel_in *in)
{
    if (in->turn == TURN_WAITS) {
        in->word = PARCEL_CALLS | (in->word & (ALSO_LOCK | ALSO_SHARED)) | ALSO_UNLOCK;
        in->len = in->at = 0;
        return;
    }
    if (in->reply)
        reply_gone(in->reply);
    list_remove(&in->link);
    mem_free(in);
}

void win_serve_lost(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    peer->begun = &peer->queue;
    LIST_FOR_EACH_SAFE(link, &peer->queue) {
        struct win_parcel_in *in = CONTAINER_OF(link, struct win_parcel_in, link);
        if (in->is_here)
            drop(in);
    }
    if (peer->lock_held)
        win_serve_unlock(m, peer->lock_held);
    peer->lock_held = 0;
}

/* --- once more --- */

static void retry(struct win_messages *m)
{
    p2p_box_lock(m->win->comm);
    if (m->is_deferred) {
        m->is_deferred = false;
        atomic_fetch_sub_explicit(&attend_unfinished, 1, memory_order_relaxed);
        progress_work(-1);
        for (int rank = 0; rank < m->win->size; rank++) {
            win_outbox_retry(m, rank);
            win_serve(m, rank);
        }
    }
    p2p_box_unlock(m->win->comm);
}

int win_serve_again(void)
{
    if (likely(!atomic_load_explicit(&attend_unfinished, memory_order_relaxed)))
        return 0;
    pthread_mutex_lock(&serving.lock);
    for (struct win_messages *m = serving.first; m; m = m->next)
        retry(m);
    pthread_mutex_unlock(&serving.lock);
    return 0;
}

static int poll_deferred(void *arg)
{
    (void)arg;
    attend_look();
    atomic_store_explicit(&win_outbox_tick, atomic_load_explicit(&win_outbox_tick, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return win_serve_again();
}

void win_serve_open(struct win_messages *m)
{
    pthread_mutex_lock(&serving.lock);
    if (!serving.is_polled)
        progress_add(poll_deferred, &serving);
    attend_also(win_serve_again);
    serving.is_polled = true;
    m->next = serving.first;
    serving.first = m;
    pthread_mutex_unlock(&serving.lock);
}

void win_serve_close(struct win_messages *m)
{
    struct win_messages **link = &serving.first;

    pthread_mutex_lock(&serving.lock);
    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    pthread_mutex_unlock(&serving.lock);
    for (unsigned i = 0; i < MESSAGE_TYPES; i++)
        forget(m, i);
}

void win_serve_fini(void)
{
    attend_fini();
    if (serving.is_polled)
        progress_remove(poll_deferred, &serving);
    serving.is_polled = false;
}
