/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Generalized requests (MPI 5.0 §13.2). Such a request ends once: in the call that completes it, or, when
 * the user has freed it, in MPI_Request_free or MPI_Grequest_complete, whichever comes last.
 * Knows: base. Does not know: waiting. */
#include "obj/grequest.h"

#include <pthread.h>

#include "base/err.h"

enum { REQUESTS_PER_CHUNK = 8 };

struct grequest {
    struct req req;           /* first: the handle is its address */
    MPI_Grequest_query_function *query_fn;
    MPI_Grequest_free_function *free_fn;
    MPI_Grequest_cancel_function *cancel_fn;
    void *extra_state;
    bool is_freed;            /* by the user, before it was complete */
};

/* The lock guards the pool, and makes one of completing and freeing the last. Not held while the user's code runs. */
static struct {
    pthread_mutex_t lock;
    struct mem_pool pool;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct grequest *grequest_of(const struct req *req)
{
    return (struct grequest *)(uintptr_t)req;
}

int grequest_query(const struct req *req, MPI_Status *status)
{
    const struct grequest *g = grequest_of(req);
    MPI_Status ignored = { 0 };

    if (!status)
        status = &ignored;
    status_set_empty(status); /* for what query_fn leaves alone */
    return g->query_fn(g->extra_state, status);
}

int grequest_end(struct req *req)
{
    struct grequest *g = grequest_of(req);
    const int rc = g->free_fn(g->extra_state);

    pthread_mutex_lock(&store.lock);
    g->req.obj.kind = OBJ_FREED;
    mem_pool_put(&store.pool, g);
    pthread_mutex_unlock(&store.lock);
    return rc;
}

static int grequest_cancel(struct req *req)
{
    const struct grequest *g = grequest_of(req);

    return g->cancel_fn(g->extra_state, req_is_done(req));
}

static int grequest_detach(struct req *req)
{
    bool is_done;

    pthread_mutex_lock(&store.lock);
    is_done = req_is_done(req);
    grequest_of(req)->is_freed = true;
    pthread_mutex_unlock(&store.lock);
    return is_done ? grequest_end(req) : 0;
}

static void grequest_describe(const struct req *req, struct blocked *out)
{
    (void)req;
    *out = (struct blocked){ .call = "MPI_Wait", .of = "MPI_Grequest_start" };
}

/* Nothing to start, and grequest_end instead of `release`. */
static const struct req_ops grequest_ops = {
    .cancel = grequest_cancel,
    .detach = grequest_detach,
    .describe = grequest_describe,
};

int grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                   MPI_Grequest_cancel_function *cancel_fn, void *extra_state, struct req **out)
{
    struct grequest *g;

    pthread_mutex_lock(&store.lock);
    g = req_from_pool(&store.pool, sizeof *g, REQUESTS_PER_CHUNK);
    pthread_mutex_unlock(&store.lock);
    if (!g)
        return err(MPI_ERR_NO_MEM, "no memory for a generalized request");
    *g = (struct grequest){
        .req = { .is_generalized = true, .ops = &grequest_ops },
        .query_fn = query_fn,
        .free_fn = free_fn,
        .cancel_fn = cancel_fn,
        .extra_state = extra_state,
    };
    obj_init(&g->req.obj, OBJ_REQUEST);
    *out = &g->req;
    return 0;
}

int grequest_complete(struct req *req)
{
    bool is_freed;
    int rc = 0;

    if (!req->is_generalized)
        return err(MPI_ERR_REQUEST, "the request is not one that MPI_Grequest_start made");
    pthread_mutex_lock(&store.lock);
    is_freed = grequest_of(req)->is_freed;
    if (req_is_done(req))
        rc = err(MPI_ERR_REQUEST, "the generalized request is complete already");
    else if (!is_freed)
        req_complete(req); /* whoever sees that can take the request apart when the lock is free */
    pthread_mutex_unlock(&store.lock);
    return is_freed ? grequest_end(req) : rc;
}

void grequest_fini(void)
{
    pthread_mutex_lock(&store.lock);
    if (!store.pool.live) {
        mem_pool_fini(&store.pool);
        store.pool.size = 0;
    }
    pthread_mutex_unlock(&store.lock);
}
