/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Waiting for requests and testing them (MPI 5.0 §3.7.3 to §3.7.6), starting persistent ones (§3.9), for all
 * kinds of requests alike.
 * Knows: base, progress. Does not know: what a request does. */
#include "obj/req.h"

#include <stdio.h>

#include "base/err.h"
#include "obj/grequest.h"

static _Thread_local struct obj *failed_owner; /* a communicator is referenced */
static _Thread_local int failed_code;          /* of the request, where the call says MPI_ERR_IN_STATUS; else 0 */

/* NULL: nobody. What nobody has asked for is forgotten. */
void req_set_failed_owner(struct obj *owner)
{
    struct obj *const old = failed_owner;

    if (owner && owner->kind == OBJ_COMM)
        obj_ref(owner);
    failed_owner = owner;
    failed_code = 0;
    if (old && old->kind == OBJ_COMM)
        comm_unref((struct comm *)(void *)old);
}

struct obj *req_owner(const struct req *req)
{
    if (!req)
        return NULL;
    if (!req->is_generalized && req->ops->owner)
        return req->ops->owner(req);
    return req->comm ? &req->comm->obj : NULL;
}

static COLD void set_failed(const struct req *req)
{
    req_set_failed_owner(req_owner(req));
}

struct obj *req_failed_owner(int *code)
{
    struct obj *owner = failed_owner;

    *code = failed_code;
    failed_owner = NULL;
    failed_code = 0;
    return owner;
}

/* --- one request --- */

/* Null, or persistent and not started: complete with an empty status. */
static ALWAYS_INLINE bool is_idle(const struct req *req)
{
    return !req || (req->is_persistent && !req->is_active);
}

static ALWAYS_INLINE void fill_status(const struct req *req, MPI_Status *status)
{
    if (!status)
        return;
    if (req->is_send || req->is_cancelled)
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, req->is_cancelled);
    else
        status_set(status, req->source, req->tag, req->bytes, false);
}

/* The status of a complete request, which stays as it is. An error comes from a generalized one only. */
static int show_status(const struct req *req, MPI_Status *status)
{
    if (unlikely(req->is_generalized))
        return grequest_query(req, status);
    if (unlikely(req->ops->told))
        req->ops->told(req);
    fill_status(req, status);
    return 0;
}

/* Of a generalized request the user's functions say what came of it (§13.2). The code of the last one counts, and that
 * of the first when the last has none. */
static int finish_generalized(MPI_Request *handle, struct req *req, MPI_Status *status)
{
    const int query_rc = grequest_query(req, status), free_rc = grequest_end(req);

    *handle = MPI_REQUEST_NULL;
    if (free_rc || query_rc)
        req_set_failed_owner(NULL);
    return free_rc ? free_rc : query_rc;
}

static NOINLINE int finish_special(MPI_Request *handle, struct req *req, MPI_Status *status)
{
    if (req->is_generalized)
        return finish_generalized(handle, req, status);
    if (unlikely(req->ops->told))
        req->ops->told(req);
    fill_status(req, status);
    if (req->error)
        set_failed(req);
    req->is_active = false;
    return req->error;
}

/* The operation is over: hand out what came of it and let go of the request. */
static ALWAYS_INLINE int finish(MPI_Request *handle, struct req *req, MPI_Status *status)
{
    const int rc = req->error;

    if (unlikely(req->is_persistent || req->is_generalized))
        return finish_special(handle, req, status);
    fill_status(req, status);
    if (unlikely(rc))
        set_failed(req);
    *handle = MPI_REQUEST_NULL;
    req->ops->release(req);
    return rc;
}

int req_wait(MPI_Request *request, MPI_Status *status)
{
    struct req *req = obj_request(*request);

    if (unlikely(is_idle(req))) {
        status_set_empty(status);
        return 0;
    }
    if (!req_is_done(req))
        progress_wait(&req->done, req->hint);
    return finish(request, req, status);
}

/* One poll: of what the request waits for if that is known, and of everything every now and then. */
static void poll_for(const struct req *req)
{
    static _Thread_local unsigned turn;

    if (req->hint.poll && ++turn % 16)
        req->hint.poll(req->hint.arg, &req->done);
    else
        progress_poll();
}

int req_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct req *req = obj_request(*request);

    *flag = 1;
    if (is_idle(req)) {
        status_set_empty(status);
        return 0;
    }
    if (!req_is_done(req))
        poll_for(req);
    if (req_is_done(req))
        return finish(request, req, status);
    *flag = 0;
    progress_in_vain();
    return 0;
}

int req_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct req *req = obj_request(request);

    *flag = 1;
    if (is_idle(req)) {
        status_set_empty(status);
        return 0;
    }
    if (!req_is_done(req))
        poll_for(req);
    *flag = req_is_done(req);
    if (*flag)
        return show_status(req, status);
    progress_in_vain();
    return 0;
}

/* --- starting persistent ones --- */

/* `index` in the array of MPI_Startall; -1: the only one. */
static int check_startable(const struct req *req, int index)
{
    char place[48] = "the request";

    if (likely(req->is_persistent && !req->is_active))
        return 0;
    if (index >= 0)
        snprintf(place, sizeof place, "array_of_requests[%d]", index);
    if (!req->is_persistent)
        return err(MPI_ERR_REQUEST,
                   "E0351: %s is not persistent: only what a function like MPI_Send_init made can be started", place);
    return err(MPI_ERR_REQUEST, "E0352: %s is active: it has been started, and not been completed since", place);
}

static int start(struct req *req)
{
    int rc;

    atomic_store_explicit(&req->done, 0, memory_order_relaxed); /* nobody looks before it is active */
    req->error = 0;
    req->is_cancelled = false;
    req->is_active = true;
    rc = req->ops->start(req);
    if (unlikely(rc))
        req->is_active = false;
    return rc;
}

int req_start(struct req *req)
{
    const int rc = check_startable(req, -1);

    return rc ? rc : start(req);
}

int req_startall(int count, const MPI_Request *requests)
{
    struct req *req = NULL;
    int rc = 0;

    for (int i = 0; i < count && !rc; i++)
        rc = check_startable(req = obj_request(requests[i]), i);
    /* One that stands twice in the array is seen when its turn comes again. */
    for (int i = 0; i < count && !rc; i++) {
        rc = check_startable(req = obj_request(requests[i]), i);
        if (!rc)
            rc = start(req);
    }
    if (rc)
        set_failed(req);
    return rc;
}

/* --- freeing, cancelling --- */

int req_free(MPI_Request *request)
{
    struct req *req = obj_request(*request);
    const bool is_generalized = req->is_generalized;
    int rc = 0;

    if (is_idle(req))
        req->ops->release(req);
    else
        rc = req->ops->detach(req);
    if (rc && is_generalized) /* and gone */
        req_set_failed_owner(NULL);
    else if (rc)
        set_failed(req);
    if (!rc || is_generalized) /* what may not be freed is still there */
        *request = MPI_REQUEST_NULL;
    return rc;
}

int req_cancel(struct req *req)
{
    return is_idle(req) ? 0 : req->ops->cancel(req);
}

/* --- several requests --- */

enum { MANY = 32 }; /* requests for which another poll pays */

struct set {
    const char *call;   /* for reports */
    int count;
    const MPI_Request *requests;
    int first;          /* those before it are null */
    int first_done;     /* index of a complete one, or -1 */
    int active;         /* neither null nor inactive */
    int left;           /* waiting for all: those from here on are done */
};

/* What this thread waits for in MPI_Waitall; NULL: it does not. */
static _Thread_local const struct set *all_of;

/* Of an array in which many may be null, those that are complete: NULL if it is idle. */
static ALWAYS_INLINE struct req *active_at(const MPI_Request *requests, int i)
{
    struct req *req;

    if (requests[i] == MPI_REQUEST_NULL)
        return NULL;
    req = obj_request(requests[i]);
    return is_idle(req) ? NULL : req;
}

static ALWAYS_INLINE struct set set_of_any(const char *call, int count, const MPI_Request *requests)
{
    return (struct set){
        .call = call, .count = count, .requests = requests, .first = req_first(count, requests), .first_done = -1,
    };
}

/* Look once: is there a complete one? */
static bool look_for_any(void *arg)
{
    struct set *set = arg;

    set->active = 0;
    for (int i = set->first; i < set->count; i++) {
        struct req *req = active_at(set->requests, i);
        if (!req)
            continue;
        set->active++;
        if (req_is_done(req)) {
            set->first_done = i;
            return true;
        }
    }
    return set->active == 0;
}

static int finish_any(const struct set *set, MPI_Request *requests, int *index, MPI_Status *status)
{
    *index = set->first_done >= 0 ? set->first_done : MPI_UNDEFINED;
    if (set->first_done < 0) {
        status_set_empty(status);
        return 0;
    }
    return finish(&requests[set->first_done], obj_request(requests[set->first_done]), status);
}

int req_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct set set = set_of_any("MPI_Waitany", count, requests);

    progress_wait_until(look_for_any, &set);
    return finish_any(&set, requests, index, status);
}

/* Look, and if nothing is complete, poll and look again. */
static bool look_polling(struct set *set)
{
    if (look_for_any(set))
        return true;
    progress_poll();
    if (look_for_any(set))
        return true;
    progress_in_vain();
    return false;
}

int req_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct set set = set_of_any(NULL, count, requests);

    *flag = look_polling(&set);
    if (*flag)
        return finish_any(&set, requests, index, status);
    *index = MPI_UNDEFINED;
    return 0;
}

/* What came of several requests. The first one that failed counts: its error is in the text, is what the error handler
 * gets, and its owner's handler is called (§9.3.1). */
struct outcome {
    int rc;            /* of the call */
    int first;         /* of that request */
    struct obj *owner; /* as in failed_owner */
};

static COLD void note_failure(struct outcome *outcome, int index, int rc)
{
    char text[ERR_TEXT_SIZE];
    int none;

    err_text(rc, text, sizeof text);
    outcome->rc = err(MPI_ERR_IN_STATUS, "array_of_requests[%d]: E%04d: %s", index, err_id(rc), text);
    outcome->first = rc;
    outcome->owner = req_failed_owner(&none);
}

/* Others may have failed after the first one. */
static COLD int failure(const struct outcome *outcome)
{
    req_set_failed_owner(NULL);
    failed_owner = outcome->owner;
    failed_code = outcome->first;
    return outcome->rc;
}

/* One has failed: from now on every status has its error code, and those before it had none (§3.7.5). */
static COLD void set_success(int count, MPI_Status *statuses)
{
    for (int i = 0; statuses && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* Finish every complete one from `first` on; its index and status go to the next place. */
static int finish_some(int first, int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct outcome outcome = { 0 };

    *outcount = 0;
    for (int i = first; i < count; i++) {
        struct req *req = active_at(requests, i);
        MPI_Status *status = statuses ? &statuses[*outcount] : NULL;
        if (!req || !req_is_done(req))
            continue;
        indices[(*outcount)++] = i;
        const int rc = finish(&requests[i], req, status);
        if (unlikely(rc && !outcome.rc)) {
            note_failure(&outcome, i, rc);
            set_success(*outcount - 1, statuses);
        }
        if (unlikely(outcome.rc && status))
            status->MPI_ERROR = rc;
    }
    return unlikely(outcome.rc) ? failure(&outcome) : 0;
}

/* To look through many requests takes as long as to take in some messages: first those that have come, so that one look
 * finds them all. */
static void poll_for_many(const struct set *set)
{
    int left = (set->count - set->first) / MANY;

    while (left-- > 0 && progress_poll())
        continue;
}

int req_waitsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct set set = set_of_any("MPI_Waitsome", count, requests);

    poll_for_many(&set);
    progress_wait_until(look_for_any, &set);
    if (set.first_done < 0) {
        *outcount = MPI_UNDEFINED;
        return 0;
    }
    return finish_some(set.first_done, count, requests, outcount, indices, statuses);
}

int req_testsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct set set = set_of_any(NULL, count, requests);

    poll_for_many(&set);
    look_polling(&set);
    *outcount = set.active ? 0 : MPI_UNDEFINED;
    if (set.first_done < 0)
        return 0;
    return finish_some(set.first_done, count, requests, outcount, indices, statuses);
}

/* Are all done? From the last one down, since requests mostly complete in order: when the last is done, the others
 * are, and a wait for it takes everything that comes in one go. */
static ALWAYS_INLINE struct req *last_pending(struct set *set)
{
    for (; set->left > 0; set->left--) {
        struct req *req = obj_request(set->requests[set->left - 1]);
        if (!is_idle(req) && !req_is_done(req))
            return req;
    }
    return NULL;
}

/* All are done. */
static int finish_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct outcome outcome = { 0 };

    for (int i = 0; i < count; i++) {
        struct req *req = obj_request(requests[i]);
        MPI_Status *status = statuses ? &statuses[i] : NULL;
        int rc = 0;
        if (unlikely(is_idle(req)))
            status_set_empty(status);
        else
            rc = finish(&requests[i], req, status);
        if (unlikely(rc && !outcome.rc)) {
            note_failure(&outcome, i, rc);
            set_success(i, statuses);
        }
        if (unlikely(outcome.rc && status))
            status->MPI_ERROR = rc;
    }
    return unlikely(outcome.rc) ? failure(&outcome) : 0;
}

int req_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct set set = { .call = "MPI_Waitall", .count = count, .requests = requests, .left = count };
    struct req *req;

    while ((req = last_pending(&set))) {
        all_of = &set;
        progress_wait(&req->done, req->hint);
    }
    all_of = NULL;
    return finish_all(count, requests, statuses);
}

static bool all_done_polling(int count, const MPI_Request *requests)
{
    struct set set = { .count = count, .requests = requests, .left = count };

    if (!last_pending(&set))
        return true;
    progress_poll();
    if (!last_pending(&set))
        return true;
    progress_in_vain();
    return false;
}

int req_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    *flag = all_done_polling(count, requests);
    return *flag ? finish_all(count, requests, statuses) : 0;
}

int req_get_status_any(int count, const MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct set set = set_of_any(NULL, count, requests);

    *flag = look_polling(&set);
    *index = MPI_UNDEFINED;
    if (set.first_done >= 0) {
        *index = set.first_done;
        return show_status(obj_request(requests[set.first_done]), status);
    }
    if (*flag)
        status_set_empty(status);
    return 0;
}

int req_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc = 0;

    *flag = all_done_polling(count, requests);
    for (int i = 0; *flag && i < count; i++) {
        const struct req *req = obj_request(requests[i]);
        MPI_Status *status = statuses ? &statuses[i] : NULL;
        if (is_idle(req)) {
            status_set_empty(status);
        } else {
            const int query_rc = show_status(req, status);
            rc = rc ? rc : query_rc;
        }
    }
    return rc;
}

int req_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct set set = set_of_any(NULL, count, requests);
    int rc = 0;

    look_polling(&set);
    *outcount = set.active ? 0 : MPI_UNDEFINED;
    for (int i = 0; set.active && i < count; i++) {
        struct req *req = obj_request(requests[i]);
        if (is_idle(req) || !req_is_done(req))
            continue;
        const int query_rc = show_status(req, statuses ? &statuses[*outcount] : NULL);
        rc = rc ? rc : query_rc;
        indices[(*outcount)++] = i;
    }
    return rc;
}

/* --- for reports --- */

/* The requests of a wait; NULL: it is for a single one, or for something else. */
static const struct set *set_of(const struct progress_long *wait)
{
    if (wait->done)
        return all_of;
    return wait->is_done == look_for_any ? wait->arg : NULL;
}

static const struct req *next_pending(const struct set *set, int *i)
{
    while (*i < set->count) {
        struct req *req = obj_request(set->requests[(*i)++]);
        if (!is_idle(req) && !req_is_done(req))
            return req;
    }
    return NULL;
}

static void describe(const struct req *req, const char *call, struct blocked *out)
{
    req->ops->describe(req, out);
    if (call)
        out->call = call;
}

bool req_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct set *set = set_of(wait);
    const struct req *req;
    int i = 0;

    if (!set && !wait->done)
        return false;
    req = set ? next_pending(set, &i) : CONTAINER_OF(wait->done, struct req, done);
    *out = (struct blocked){ .call = set ? set->call : NULL };
    if (req) /* else another thread has just completed the last one */
        describe(req, out->call, out);
    return true;
}

bool req_each_blocked(const struct progress_long *wait, blocked_visit *visit, void *arg)
{
    const struct set *set = set_of(wait);
    const struct req *req;
    struct blocked b;

    if (set)
        for (int i = 0; (req = next_pending(set, &i));) {
            describe(req, set->call, &b);
            visit(&b, arg);
        }
    else if (req_describe_wait(wait, &b))
        visit(&b, arg);
    return set && !wait->done;
}

void *req_from_pool(struct mem_pool *pool, size_t size, int count)
{
    if (!pool->size) {
        mem_pool_init(pool, size, (unsigned)count);
        pool->keep = sizeof(struct req);
    }
    return mem_pool_get(pool);
}
