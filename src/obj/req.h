/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Requests: what all kinds share, and waiting for them (MPI 5.0 §3.7). A kind embeds struct req.
 *
 * Exactly one party completes a request, by req_complete, and touches it never again. Completion is the last
 * store (release); whoever sees `done` (acquire) sees everything else. A request that was freed while active
 * is released by its kind when it completes. */
#ifndef OBJ_REQ_H
#define OBJ_REQ_H

#include "obj/blocked.h"
#include "obj/comm.h"
#include "obj/obj.h"
#include "obj/status.h"
#include "progress/progress.h"

struct req;

/* What a kind of request supplies. Called without locks. */
struct req_ops {
    /* Nothing refers to the request any more: give its memory back. */
    void (*release)(struct req *req);
    /* MPI_Cancel: mark for cancellation; local (§3.8.4). Returns 0 or an error. */
    int (*cancel)(struct req *req);
    /* The user freed an active request: let it finish by itself, then release it. */
    int (*detach)(struct req *req);
    /* Persistent, and only of such a kind: begin once more. What struct req holds of the last time is reset. */
    int (*start)(struct req *req);
    /* Somebody has been waiting for it for long: say for what. Fills in what it knows. */
    void (*describe)(const struct req *req, struct blocked *out);
    /* Whose error handler takes its errors, if that is no communicator; it is there as long as the user's handle of it
     * is. NULL: `comm`. */
    struct obj *(*owner)(const struct req *req);
    /* Only of those for which something is held (hold.h), else NULL: the user hears that it is complete, and it stays.
     * It goes by itself, without `release`: what is held goes first. */
    void (*told)(const struct req *req);
    void (*let_go)(struct req *req);
};

/* In which call the user waits for a request. */
enum req_waiter { REQ_IN_OWN_CALL, REQ_IN_MRECV, REQ_IN_SENDRECV, REQ_IN_SENDRECV_REPLACE, REQ_IN_WAIT };

struct req {
    struct obj obj;                  /* kind OBJ_REQUEST; the handle points here */
    _Atomic uint32_t done;
    bool is_persistent : 1;          /* these two never change; one look tells that a request is neither */
    bool is_generalized : 1;         /* always active; a struct grequest */
    bool is_active;                  /* of a persistent one */
    bool is_cancelled;
    bool is_send;                    /* the status of a completed send is empty */
    int error;                       /* code of a failed operation, else 0 */
    int source, tag;                 /* of the message received */
    uint8_t waiter;                  /* enum req_waiter, for reports */
    MPI_Count bytes;                 /* received */
    struct comm *comm;               /* to raise errors on; NULL: none */
    struct progress_hint hint;       /* where its completion will most likely come from */
    const struct req_ops *ops;
};

/* Set done and wake threads of this process that sleep. The caller has filled in all other fields. */
static ALWAYS_INLINE void req_complete(struct req *req)
{
    atomic_store_explicit(&req->done, 1, memory_order_release); /* pairs with req_is_done */
    progress_notify();
}

static ALWAYS_INLINE bool req_is_done(struct req *req)
{
    return atomic_load_explicit(&req->done, memory_order_acquire); /* pairs with req_complete */
}

/* For a kind that ends a request that the user has freed without `release`: before it does. */
static inline void req_let_go(struct req *req)
{
    if (unlikely(req->ops->let_go))
        req->ops->let_go(req);
}

/* Whose error handler takes the errors of a request, which may be NULL; NULL: nobody's. */
struct obj *req_owner(const struct req *req) COLD;

/* For calls whose object is gone when their error is raised, as a matched message is: req_failed_owner of this thread
 * gives `owner`, which may be NULL, next. */
void req_set_failed_owner(struct obj *owner) COLD;

/* Which object to raise an error of the functions below on, once: that of a request that failed, or NULL. The
 * request may be gone, and the user's handle of a communicator may be; the reference that keeps that is the caller's
 * from now on. *code becomes the error of that request where the call says MPI_ERR_IN_STATUS, else 0. Per thread. */
struct obj *req_failed_owner(int *code);

/* Which request of an array is the first that is not null. Those before it are many where one after the other is waited
 * for. */
static inline int req_first(int count, const MPI_Request *requests)
{
    const uintptr_t null = (uintptr_t)MPI_REQUEST_NULL;
    int i = 0;

    while (i + 4 <= count && !(((uintptr_t)requests[i] ^ null) | ((uintptr_t)requests[i + 1] ^ null) |
                               ((uintptr_t)requests[i + 2] ^ null) | ((uintptr_t)requests[i + 3] ^ null)))
        i += 4;
    while (i < count && requests[i] == MPI_REQUEST_NULL)
        i++;
    return i;
}

/* MPI 5.0 §3.7.3 to §3.7.5. Handles are checked by the caller; those of completed requests become
 * MPI_REQUEST_NULL. Statuses may be NULL (ignore). Errors: that of the operation; MPI_ERR_IN_STATUS from the all and
 * some forms. The wait forms block, the test forms do not; all progress. */
int req_wait(MPI_Request *request, MPI_Status *status);
int req_test(MPI_Request *request, int *flag, MPI_Status *status);
int req_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status);
int req_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int req_waitall(int count, MPI_Request *requests, MPI_Status *statuses);
int req_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses);
int req_waitsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses);
int req_testsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses);

/* MPI 5.0 §3.7.6: these neither free nor deactivate, and do not fail but with the code of the first query function of a
 * generalized request that says so. */
int req_get_status(MPI_Request request, int *flag, MPI_Status *status);
int req_get_status_any(int count, const MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int req_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses);
int req_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses);

/* MPI 5.0 §3.9: begin what persistent requests are for; local. In the order of the array, all of them or, when one
 * cannot be started, none. Errors: MPI_ERR_REQUEST if one is not persistent or is active; those of the kind. */
int req_start(struct req *req);
int req_startall(int count, const MPI_Request *requests);

/* MPI 5.0 §3.7.3 and §3.8.4. The handle, which is that of a request, becomes MPI_REQUEST_NULL when the request is not
 * the user's any more, also when the free function of a generalized one says that it failed. */
int req_free(MPI_Request *request);
int req_cancel(struct req *req);

/* A request from a pool of those of `size` bytes, which the first call sets up, so many at a time; its owner's lock
 * guards the pool. NULL: no memory. A free one keeps its head: the binding looks for the communicator of one that has
 * just ended. */
void *req_from_pool(struct mem_pool *pool, size_t size, int count);

/* What a long wait of this thread waits for: the first of it. False: not for requests. */
bool req_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;
/* All requests of that wait that are not complete, in order. True: one of them is enough to end it. */
bool req_each_blocked(const struct progress_long *wait, blocked_visit *visit, void *arg) COLD;

#endif
