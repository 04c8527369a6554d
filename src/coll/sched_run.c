/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Running schedules: a blocking one by the thread that has called, the others, which are requests,
 * whenever something is polled. Those are kept in lists by the lanes of their communicators, so that threads with
 * communicators of their own do not wait for each other's reductions.
 *
 * A run begins by taking steps in turn (sched.h): a send that goes out at once needs no request, and in a call that
 * blocks a short receive looks for its message before it is posted. At the first one that has to wait the books are
 * opened: what each step waits for, and requests.
 *
 * A step that fails is over, and the rest goes on: the other processes wait for it. The first error is the result. What
 * comes after a receive that has failed is void: nothing is combined, and instead of a message goes the cause
 * (p2p_isend_cause), so who waits for it has the error as well, and tells it to those who wait for him. But where the
 * error is that a process has ended, and is about to end the job, nothing more is sent.
 * Knows: p2p, progress. Does not know: algorithms. */
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/clients.h"
#include "coll/node.h"
#include "obj/blocked.h"
#include "obj/errhandler.h"
#include "p2p/lane.h"

enum { REQUESTS_PER_CHUNK = 4 };

/* Guards the list and what is in it; taken before lanes' locks. */
struct group_of_lane {
    pthread_mutex_t lock;
    struct list list;
    _Atomic unsigned count;
} ALIGNED(CACHE_LINE);

static struct {
    struct group_of_lane groups[NET_LANES];
    pthread_mutex_t lock;   /* guards the rest */
    struct mem_pool pool;
    bool is_polled;
} running = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- steps --- */

static void note(struct sched *s, int rc)
{
    if (unlikely(rc) && !s->error)
        s->error = rc;
}

enum { PEER_HAS_ENDED = 338, WAY_HAS_ENDED = 362 };

COLD bool sched_ends_job(const struct comm *comm, int rc)
{
    const int id = err_id(rc);
    struct errhandler *handler;
    bool is_fatal;

    if (id != PEER_HAS_ENDED && id != WAY_HAS_ENDED)
        return false;
    handler = errhandler_take(&comm->errhandler);
    if (!handler)
        return false;
    is_fatal = handler->action == ERRHANDLER_FATAL || handler->action == ERRHANDLER_ABORT;
    errhandler_unref(handler);
    return is_fatal;
}

/* Nothing of it matters any more; a call that blocks does not wait for it either. */
static inline bool is_in_vain(const struct sched *s)
{
    return unlikely(s->error) && sched_ends_job(s->comm, s->error);
}

/* What a send has not sent nobody here needs, and a call goes on with what there is. Between clients there are no
 * causes; see clients.h. */
static COLD void step_failed(struct sched *s, struct sched_step *step, int rc)
{
    note(s, rc);
    if (step->kind == SCHED_SEND || step->kind == SCHED_CALL || s->spans_clients)
        return;
    if (!s->has_cause)
        p2p_cause_of(&s->cause, rc);
    s->has_cause = true;
    sched_make_void(step);
}

static void message_is_over(struct sched *s, struct sched_step *step)
{
    struct req *req = step->req;

    if (unlikely(s->spans_clients) && step->kind == SCHED_RECV)
        note(s, clients_received(s, step));
    if (unlikely(req->error))
        step_failed(s, step, req->error);
    step->req = NULL;
    req->ops->release(req);
    sched_over(s, (int)(step - s->steps));
}

static struct comm *comm_of(const struct sched *s, const struct sched_step *step)
{
    return step->is_local ? s->comm->local : s->comm;
}

static int tag_of(const struct sched *s, const struct sched_step *step)
{
    const int tag = (step->is_local ? s->local_tag : s->tag) - step->sub;

    return likely(!s->spans_clients) ? tag : clients_tag(s, step, tag);
}

/* Without a request. */
static bool receive_at_once(struct sched *s, const struct sched_step *step)
{
    const struct coll_block *block = &step->from;

    return p2p_recv_at_once(comm_of(s, step), block->buf, block->count, block->type, step->peer, tag_of(s, step),
                            P2P_COLL);
}

/* A message has been begun, or `rc` says why not. */
static void message_has_begun(struct sched *s, struct sched_step *step, int rc)
{
    if (unlikely(rc)) {
        step_failed(s, step, rc);
        step->req = NULL;
        sched_over(s, (int)(step - s->steps));
    } else if (!p2p_report(step->req, &s->inbox[step->is_local], &step->slip)) {
        message_is_over(s, step);
    }
}

static int begin_send(struct sched *s, struct sched_step *step)
{
    const struct coll_block *block = &step->from;

    if (unlikely(s->spans_clients))
        comm_of(s, step)->notes.sent = clients_step_note(s, step);
    return p2p_isend_now(comm_of(s, step), block->buf, step->is_void ? 0 : block->count, block->type, step->peer,
                         tag_of(s, step), P2P_STANDARD | P2P_COLL, &step->req);
}

static COLD int begin_void_send(struct sched *s, struct sched_step *step)
{
    if (s->spans_clients)
        return begin_send(s, step);
    return p2p_isend_cause(comm_of(s, step), &s->cause, step->peer, tag_of(s, step), P2P_COLL, &step->req);
}

static int begin_receive(struct sched *s, struct sched_step *step)
{
    const struct coll_block *block = &step->from;

    return p2p_irecv(comm_of(s, step), block->buf, block->count, block->type, step->peer, tag_of(s, step), P2P_COLL,
                     &step->req);
}

/* --- a barrier by words --- */

static bool is_meeting(const struct sched *s)
{
    return s->meet >= 0;
}

/* True: something has moved on. */
static bool look_for_meeting(struct sched *s)
{
    const int step = s->meet;

    if (!node_meets_over(s->comm, s->steps[step].sub, s->meet_number, &s->meet_next))
        return false;
    s->meet = SCHED_NONE;
    sched_over(s, step);
    return true;
}

static void begin_meeting(struct sched *s, int step)
{
    s->meet = step;
    s->meet_next = 0;
    s->meet_number = node_meets_begin(s->comm, s->steps[step].sub);
    look_for_meeting(s);
}

/* --- steps in any order --- */

/* Between clients not all messages go that are void. */
static bool is_left_out(const struct sched *s, const struct sched_step *step)
{
    return step->is_void && s->spans_clients && !clients_goes_on(s, step);
}

/* All that may begin now. */
static void begin_steps(struct sched *s)
{
    int i;

    while ((i = s->is_blocking ? sched_next_turn(s) : sched_next(s)) >= 0) {
        struct sched_step *step = &s->steps[i];

        if (unlikely(s->is_given_up || is_in_vain(s) || is_left_out(s, step))) {
            sched_over(s, i);
        } else if (step->kind == SCHED_SEND) {
            message_has_begun(s, step, unlikely(step->is_void) ? begin_void_send(s, step) : begin_send(s, step));
        } else if (step->kind == SCHED_RECV) {
            if (s->is_blocking && !s->spans_clients && coll_bytes(&step->from) <= SCHED_SHORT &&
                receive_at_once(s, step))
                sched_over(s, i);
            else
                message_has_begun(s, step, begin_receive(s, step));
        } else if (step->kind == SCHED_MEET) {
            begin_meeting(s, i);
        } else {
            const int rc = unlikely(sched_is_idle(step)) ? 0 : sched_work(s, step);

            if (unlikely(rc))
                step_failed(s, step, rc);
            sched_over(s, i);
        }
    }
}

/* --- steps in turn --- */

/* Not if it waits: then a send has its request. */
static ALWAYS_INLINE bool is_over_at_once(struct sched *s, struct sched_step *step)
{
    int rc;

    if (is_in_vain(s))
        return true;
    switch (step->kind) {
    case SCHED_RECV: return s->is_blocking && step->is_short && receive_at_once(s, step);
    case SCHED_SEND:
        rc = begin_send(s, step);
        if (likely(!rc)) {
            if (unlikely(!req_is_done(step->req)))
                return false;
            rc = step->req->error;
            step->req->ops->release(step->req);
        }
        note(s, rc);
        return true;
    default: note(s, sched_work(s, step)); return true;
    }
}

/* How many steps are over at once. */
static int take_turns(struct sched *s)
{
    int turn = 0;

    while (turn < s->step_count && is_over_at_once(s, &s->steps[s->steps[turn].turn]))
        turn++;
    return turn;
}

/* Open the books where the first `turns` steps are over, and the next one is not. */
static void stop_taking_turns(struct sched *s, int turns)
{
    struct sched_step *step = &s->steps[s->steps[turns].turn];
    struct req *const sent = step->kind == SCHED_SEND ? step->req : NULL;
    const int error = s->error;

    sched_rewind(s);
    s->error = error;
    for (int turn = 0; turn <= turns; turn++) {
        const int i = sched_next_turn(s);
        if (turn < turns)
            sched_over(s, i);
    }
    step->req = sent;
    message_has_begun(s, step, sent ? 0 : begin_receive(s, step));
}

static void take_slips(struct sched *s, bool is_local)
{
    struct p2p_slip *slip = p2p_inbox_take(is_local ? s->comm->local : s->comm, &s->inbox[is_local]);

    while (slip) {
        struct sched_step *step = CONTAINER_OF(slip, struct sched_step, slip);
        slip = slip->next;
        message_is_over(s, step);
    }
}

/* Nobody knows what is meant: take back what can be, so that the call ends. */
static COLD void give_up(struct sched *s, int rc)
{
    note(s, rc);
    s->is_given_up = true;
    for (int i = 0; i < s->step_count; i++) {
        struct req *req = s->steps[i].req;
        if (req)
            req->ops->cancel(req);
    }
}

/* Go on with what has come. True when everything is over. */
static bool move_on(struct sched *s)
{
    while (s->left && atomic_load_explicit(&s->news, memory_order_acquire)) { /* pairs with p2p_report's store */
        /* before the inboxes' locks are released, so who puts something in later sets it again */
        atomic_store_explicit(&s->news, 0, memory_order_relaxed);
        take_slips(s, false);
        if (s->comm->is_inter)
            take_slips(s, true);
        if (is_in_vain(s) && s->is_blocking && !s->is_given_up)
            give_up(s, s->error);
        begin_steps(s);
    }
    return !s->left;
}

/* The message that has been waited for longest, a receive if there is one: news will most likely come from there. */
static int find_oldest(const struct sched *s)
{
    int found = SCHED_NONE;

    for (int i = 0; i < s->step_count; i++) {
        const struct sched_step *step = &s->steps[i];
        if (step->req && step->kind == SCHED_RECV)
            return i;
        if (step->req && found < 0)
            found = i;
    }
    return found;
}

static struct req *oldest(struct sched *s)
{
    if (s->oldest < 0 || !s->steps[s->oldest].req)
        s->oldest = find_oldest(s);
    return s->oldest < 0 ? NULL : s->steps[s->oldest].req;
}

/* Tell the process that is waited for what is called here: it may be waiting as well, in another call. */
static COLD void tell(struct sched *s)
{
    const struct req *waited = oldest(s);
    const struct sched_step *step = waited ? &s->steps[s->oldest] : NULL;

    if (is_meeting(s))
        s->has_noticed = s->meet_next < s->comm->size && sched_notify(s, s->meet_next);
    else
        s->has_noticed = step && !step->is_local && step->kind == SCHED_RECV && sched_notify(s, step->peer);
}

/* After a long wait. */
static COLD void look_around(struct sched *s)
{
    const int rc = s->is_given_up ? 0 : sched_disagreement(s);

    s->has_waited = false;
    if (rc)
        give_up(s, rc);
    else if (!s->has_noticed)
        tell(s);
}

/* A request with receives posts those first. Between clients the books say what comes after what was not sent. */
static ALWAYS_INLINE bool takes_turns(const struct sched *s)
{
    return s->has_turns && !s->spans_clients && (s->is_blocking || !s->has_receives);
}

/* From here on it is known what each step waits for. `turns` have been taken. */
static NOINLINE void open_books(struct sched *s, int turns)
{
    for (int i = 0; i < 2; i++)
        s->inbox[i] = (struct p2p_inbox){ .news = &s->news };
    atomic_store_explicit(&s->news, 0, memory_order_relaxed);
    s->oldest = s->meet = SCHED_NONE;
    s->has_waited = s->has_noticed = s->is_given_up = false;
    s->has_cause = s->is_void;
    if (takes_turns(s))
        stop_taking_turns(s, turns);
    else
        sched_rewind(s);
    begin_steps(s);
}

/* True: not all of it is over at once. */
static ALWAYS_INLINE bool begin(struct sched *s)
{
    int turns = 0;

    s->error = 0;
    if (likely(takes_turns(s)))
        turns = take_turns(s);
    s->left = s->step_count - turns;
    if (likely(!s->left))
        return false;
    open_books(s, turns);
    return true;
}

/* --- a call that blocks --- */

static bool is_over(void *arg)
{
    struct sched *s = arg;

    if (unlikely(s->has_waited))
        look_around(s);
    return move_on(s);
}

static int poll_oldest(void *arg, const _Atomic uint32_t *news)
{
    const struct req *req = oldest(arg);

    return req && req->hint.poll ? req->hint.poll(req->hint.arg, news) : progress_poll();
}

int sched_run(struct sched *s)
{
    s->is_blocking = true;
    if (!begin(s))
        return s->error;
    if (s->left)
        progress_wait_hinted(is_over, s, (struct progress_hint){ poll_oldest, s }, &s->news);
    if (unlikely(s->spans_clients) && s->comm->notes.wrong)
        s->error = sched_disagreement(s);
    if (unlikely(p2p_has_of_coll(s->comm)))
        note(s, coll_check_done(s->comm));
    return s->error;
}

/* --- those that are requests --- */

static struct sched *sched_of(const struct req *req)
{
    return (struct sched *)(uintptr_t)req;
}

static struct group_of_lane *group_of(const struct sched *s)
{
    return &running.groups[p2p_lane_of(s->comm->ctx)];
}

/* The request may be gone afterwards. */
static void complete(struct sched *s)
{
    if (unlikely(s->is_epoch)) /* relaxed: who asks has polled in the same thread, or may as well have come before */
        atomic_fetch_add_explicit(&s->comm->epochs.over, 1, memory_order_relaxed);
    s->req.error = s->error;
    req_complete(&s->req);
}

/* With the group's lock. */
static void end(struct group_of_lane *group, struct sched *s)
{
    list_remove(&s->link);
    atomic_fetch_sub_explicit(&group->count, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&s->comm->coll_running, 1, memory_order_relaxed);
    progress_work(-1);
    complete(s);
}

static int poll_group(struct group_of_lane *group)
{
    int events = 0;

    if (progress_is_last_look)
        pthread_mutex_lock(&group->lock);
    else if (pthread_mutex_trylock(&group->lock))
        return 0;
    LIST_FOR_EACH_SAFE(link, &group->list) {
        struct sched *s = CONTAINER_OF(link, struct sched, link);
        if (unlikely(s->has_waited))
            look_around(s);
        if (!(is_meeting(s) && look_for_meeting(s)) && !atomic_load_explicit(&s->news, memory_order_relaxed))
            continue;
        events++;
        if (move_on(s))
            end(group, s);
    }
    pthread_mutex_unlock(&group->lock);
    return events;
}

static int poll_all(void *arg)
{
    int events = 0;

    (void)arg;
    for (int i = 0; i < NET_LANES; i++) {
        if (atomic_load_explicit(&running.groups[i].count, memory_order_relaxed))
            events += poll_group(&running.groups[i]);
    }
    return events;
}

void sched_start(struct sched *s)
{
    struct group_of_lane *group = group_of(s);

    if (unlikely(s->is_epoch))
        atomic_fetch_add_explicit(&s->comm->epochs.begun, 1, memory_order_relaxed);
    s->is_blocking = false;
    begin(s);
    if (!s->left) {
        complete(s);
        return;
    }
    pthread_mutex_lock(&group->lock);
    list_append(&group->list, &s->link);
    atomic_fetch_add_explicit(&group->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->comm->coll_running, 1, memory_order_relaxed);
    progress_work(1);
    if (move_on(s))
        end(group, s);
    pthread_mutex_unlock(&group->lock);
}

static int start(struct req *req)
{
    sched_start(sched_of(req));
    return 0;
}

/* The user has been told. */
static void end_epoch(struct sched *s)
{
    struct comm_epochs *epochs = &s->comm->epochs;

    s->is_epoch = false;
    atomic_store_explicit(&epochs->put_off, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&epochs->over, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&epochs->begun, 1, memory_order_relaxed);
}

static void release(struct req *req)
{
    struct sched *s = sched_of(req);
    struct comm *comm = s->comm;

    if (unlikely(s->is_epoch))
        end_epoch(s);
    req->obj.kind = OBJ_FREED; /* of one that is kept, too */
    if (s->is_kept)
        kept_give_back(s);
    else
        sched_destroy(s);
    comm_unref(comm);
}

static int cancel(struct req *req)
{
    return err(MPI_ERR_REQUEST, "E0721: %s cannot be cancelled, no collective operation can", sched_of(req)->call);
}

static int detach(struct req *req)
{
    if (req_is_done(req)) {
        release(req);
        return 0;
    }
    return err(MPI_ERR_REQUEST, "E0722: the request of %s cannot be freed before it is complete", sched_of(req)->call);
}

/* Whoever asks has waited for long. */
static void describe_run(struct sched *s, struct blocked *out)
{
    const struct req *req = oldest(s);

    s->has_waited = true;
    *out = (struct blocked){ .call = s->call, .comm = s->comm, .count = -1 };
    if (req)
        req->ops->describe(req, out);
    if (is_meeting(s)) {
        out->way = BLOCKED_RECEIVING;
        out->peer = s->meet_next < s->comm->size ? s->meet_next : 0;
    }
    out->call = s->call;
    out->of = NULL;
    out->is_coll = true;
    out->sequence = s->sequence;
}

/* Another thread may be at it, then little is known. */
static void describe(const struct req *req, struct blocked *out)
{
    struct sched *s = sched_of(req);
    struct group_of_lane *group = group_of(s);

    *out = (struct blocked){ .comm = s->comm, .count = -1 };
    if (!pthread_mutex_trylock(&group->lock)) {
        describe_run(s, out);
        pthread_mutex_unlock(&group->lock);
    }
    out->call = req->is_persistent ? "MPI_Wait after MPI_Start" : "MPI_Wait";
    out->of = s->call;
}

static const struct req_ops sched_ops = {
    .release = release,
    .cancel = cancel,
    .detach = detach,
    .start = start,
    .describe = describe,
};

/* With running.lock. */
static void prepare(void)
{
    if (!running.pool.size) {
        mem_pool_init(&running.pool, sizeof(struct sched), REQUESTS_PER_CHUNK);
        for (int i = 0; i < NET_LANES; i++) {
            pthread_mutex_init(&running.groups[i].lock, NULL);
            list_init(&running.groups[i].list);
        }
    }
    if (!running.is_polled)
        progress_add(poll_all, NULL);
    running.is_polled = true;
}

struct sched *sched_create(struct comm *comm)
{
    struct sched *s;

    pthread_mutex_lock(&running.lock);
    prepare();
    s = mem_pool_get(&running.pool);
    pthread_mutex_unlock(&running.lock);
    if (!s)
        return NULL;
    sched_init(s, comm);
    s->is_kept = false;
    return s;
}

void sched_destroy(struct sched *s)
{
    sched_fini(s);
    pthread_mutex_lock(&running.lock);
    s->req.obj.kind = OBJ_FREED;
    mem_pool_put(&running.pool, s);
    pthread_mutex_unlock(&running.lock);
}

void sched_make_request(struct sched *s, bool is_persistent)
{
    /* is_send: its status is empty */
    s->req = (struct req){ .ops = &sched_ops, .comm = s->comm, .is_send = true, .is_persistent = is_persistent };
    obj_init(&s->req.obj, OBJ_REQUEST);
    obj_ref(&s->comm->obj);
}

void sched_close(void)
{
    if (running.is_polled)
        progress_remove(poll_all, NULL);
    running.is_polled = false;
    mem_pool_fini(&running.pool);
    running.pool.size = 0;
}

bool coll_describe_wait(const struct progress_long *told, struct blocked *out)
{
    if (told->is_done != is_over)
        return node_describe_wait(told, out);
    describe_run((struct sched *)(uintptr_t)told->arg, out);
    return true;
}
