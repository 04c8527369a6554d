/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations by messages, at the target: what comes from one origin waits in a queue and is done in order,
 * while somebody polls. What cannot be done at once, for want of memory, because too many replies are on their way or a
 * stripe is taken, is tried again with every poll.
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
    _Atomic unsigned deferred;   /* how many are */
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

struct win_reply {
    struct win_messages *m;
    struct win_reply_head head;
    char data[];
};

static void reply_gone(void *arg)
{
    struct win_reply *reply = arg;

    reply->m->replies--;
    mem_free(reply);
}

/* With room for `len` bytes, from `at` on; NULL: later. */
static struct win_reply *new_reply(struct win_messages *m, uint64_t asked, size_t at, size_t len)
{
    struct win_reply *reply = m->replies < MESSAGE_REPLIES ? mem_alloc(sizeof *reply + len) : NULL;

    if (reply) {
        reply->m = m;
        reply->head = (struct win_reply_head){ asked, at };
        m->replies++;
    }
    return reply;
}

/* LATER: it could not be sent, and is there as before. */
static int send_reply(struct win_reply *reply, int rank, size_t len)
{
    return p2p_parcel_send(reply->m->win->comm, rank, PARCEL_REPLY, &reply->head, sizeof reply->head + len, reply_gone,
                           reply)
               ? LATER
               : 0;
}

/* --- refusing --- */

/* Is something in the way of a call that touches this much? Then the origin is told: now, or with its next flush. */
static bool is_allowed(struct win_messages *m, const struct win_call_head *head, const struct type *type,
                       struct win_refusal *refusal)
{
    const struct type_span span = type_span(type, head->count);

    *refusal = (struct win_refusal){ head->asked, head->len, head->address + (uint64_t)span.low, span.len };
    return m->win->create_flavor != MPI_WIN_FLAVOR_DYNAMIC ||
           win_is_attached_here(m->win, refusal->address, refusal->len);
}

static COLD int refuse(struct win_messages *m, int rank, const struct win_refusal *refusal)
{
    if (refusal->asked)
        return p2p_parcel_send(m->win->comm, rank, PARCEL_REFUSED, refusal, sizeof *refusal, NULL, NULL) ? LATER : 0;
    m->peer[rank].refusal = *refusal;
    m->peer[rank].is_refused = true;
    return 0;
}

static int do_flush(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    if (p2p_parcel_send(m->win->comm, rank, PARCEL_FLUSHED, &peer->refusal,
                        unlikely(peer->is_refused) ? sizeof peer->refusal : 0, NULL, NULL))
        return LATER;
    peer->is_refused = false;
    return 0;
}

/* --- calls --- */

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

static int do_get(struct win_messages *m, struct win_parcel_in *in, const struct call *call)
{
    while (in->done < call->head->len) {
        const size_t len = size_min(call->head->len - in->done, MESSAGE_PIECE);
        struct win_reply *reply = new_reply(m, call->head->asked, in->done, len);

        if (!reply)
            return LATER;
        type_pack(call->type, call->buf, call->head->count, in->done, reply->data, len);
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
    if (head->asked && !in->reply && !(in->reply = new_reply(m, head->asked, head->at, head->len)))
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
    const struct win_call_head *head = (const struct win_call_head *)(const void *)in->bytes;
    const unsigned char *outline = in->bytes + sizeof *head;
    struct call call = { .head = head, .buf = (void *)(uintptr_t)head->address };
    struct win_refusal refusal;

    call.data = (const char *)outline + head->outline_len;
    if (find_type(m, outline, head->outline_len, &call.type))
        return LATER;
    if (!in->done && !is_allowed(m, head, call.type, &refusal))
        return refuse(m, in->rank, &refusal);
    switch (head->action) {
    case ACTION_PUT: return do_put(&call);
    case ACTION_GET: return do_get(m, in, &call);
    case ACTION_COMBINE: return do_combine(m, in, &call);
    }
    return do_swap(m, in, &call);
}

static int do_one(struct win_messages *m, struct win_parcel_in *in)
{
    switch (in->word) {
    case PARCEL_CALL: return do_call(m, in);
    case PARCEL_FLUSH: return do_flush(m, in->rank);
    case PARCEL_LOCK:
    case PARCEL_LOCK_SHARED: return win_serve_lock(m, in);
    case PARCEL_COMPLETED: win_serve_notice(m, in); return 0;
    }
    win_serve_unlock(m, in);
    return 0;
}

void win_serve(struct win_messages *m, int rank)
{
    struct list *queue = &m->peer[rank].queue;

    while (!list_is_empty(queue)) {
        struct win_parcel_in *in = CONTAINER_OF(list_first(queue), struct win_parcel_in, link);

        if (!in->is_here)
            return;
        if (do_one(m, in)) {
            if (!m->is_deferred) {
                m->is_deferred = true;
                atomic_fetch_add_explicit(&serving.deferred, 1, memory_order_relaxed);
                progress_work(1);
            }
            return;
        }
        list_remove(&in->link);
        mem_free(in);
    }
}

/* --- once more --- */

static void retry(struct win_messages *m)
{
    p2p_box_lock(m->win->comm);
    if (m->is_deferred) {
        m->is_deferred = false;
        atomic_fetch_sub_explicit(&serving.deferred, 1, memory_order_relaxed);
        progress_work(-1);
        for (int rank = 0; rank < m->win->size; rank++)
            win_serve(m, rank);
    }
    p2p_box_unlock(m->win->comm);
}

static int poll_deferred(void *arg)
{
    (void)arg;
    if (likely(!atomic_load_explicit(&serving.deferred, memory_order_relaxed)))
        return 0;
    pthread_mutex_lock(&serving.lock);
    for (struct win_messages *m = serving.first; m; m = m->next)
        retry(m);
    pthread_mutex_unlock(&serving.lock);
    return 0;
}

void win_serve_open(struct win_messages *m)
{
    pthread_mutex_lock(&serving.lock);
    if (!serving.is_polled)
        progress_add(poll_deferred, &serving);
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
    if (serving.is_polled)
        progress_remove(poll_deferred, &serving);
    serving.is_polled = false;
}
