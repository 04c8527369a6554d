/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Requests of one-sided calls (MPI 5.0 §12.3.5). An operation that is complete when its call returns shares
 * one request with all others of that sort. */
#include <pthread.h>

#include "base/err.h"
#include "obj/req.h"
#include "rma/int_rma.h"

enum { REQUESTS_PER_CHUNK = 32 };

struct win_request {
    struct req req;    /* first: the handle is its address */
    struct comm *comm; /* of the window, for reports; referenced */
    const char *call;
    int rank;
};

static struct {
    pthread_mutex_t lock;
    struct mem_pool pool; /* guarded by lock */
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int cannot_cancel(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "one-sided operations cannot be cancelled");
}

static int cannot_free(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST,
               "the request of a one-sided operation ends with MPI_Wait, MPI_Test or the like");
}

/* --- complete from the beginning --- */

static void release_nothing(struct req *req)
{
    (void)req;
}

static const struct req_ops done_ops = {
    .release = release_nothing,
    .cancel = cannot_cancel,
    .detach = cannot_free,
};

struct req *win_done_request(void)
{
    static struct req done = {
        .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .done = 1, .is_send = true, .ops = &done_ops
    };

    return &done;
}

/* --- others --- */

static struct win_request *request_of(const struct req *req)
{
    return (struct win_request *)(uintptr_t)req;
}

static void release(struct req *req)
{
    struct comm *comm = request_of(req)->comm;

    pthread_mutex_lock(&store.lock);
    req->obj.kind = OBJ_FREED;
    mem_pool_put(&store.pool, req);
    pthread_mutex_unlock(&store.lock);
    comm_unref(comm);
}

static void describe(const struct req *req, struct blocked *out)
{
    const struct win_request *r = request_of(req);

    *out = (struct blocked){ .call = "MPI_Wait",
                             .of = r->call,
                             .comm = r->comm,
                             .way = BLOCKED_RECEIVING,
                             .peer = r->rank,
                             .tag = JOB_NO_VALUE,
                             .count = -1 };
}

static const struct req_ops ops = {
    .release = release, .cancel = cannot_cancel, .detach = cannot_free, .describe = describe
};

int win_request_create(struct win *win, const char *call, int rank, struct req **out)
{
    struct win_request *r;

    pthread_mutex_lock(&store.lock);
    r = req_from_pool(&store.pool, sizeof *r, REQUESTS_PER_CHUNK);
    pthread_mutex_unlock(&store.lock);
    if (!r)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    *r = (struct win_request){
        .req = { .is_send = true, .ops = &ops }, .comm = win->comm, .call = call, .rank = rank
    };
    obj_init(&r->req.obj, OBJ_REQUEST);
    obj_ref(&win->comm->obj);
    *out = &r->req;
    return 0;
}

void win_request_complete(struct req *req, int rc)
{
    req->error = rc;
    req_complete(req);
}

void request_close(void)
{
    if (store.pool.size && !store.pool.live) {
        mem_pool_fini(&store.pool);
        store.pool.size = 0;
    }
}
