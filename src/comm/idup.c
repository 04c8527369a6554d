/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_idup (MPI 5.0 §7.4.2): as comm_dup, but what would be waited for is moved on whenever something
 * is polled. On an intercommunicator the two first processes exchange offers; then, everywhere, the contexts go down a
 * tree of the local group, and who has them opens the new communicator. Its handle is valid when the request is done:
 * until then its object counts as one that is coming, of which only the error handler can be used.
 * Knows: coll, p2p, progress. */
#include <pthread.h>

#include "base/err.h"
#include "base/list.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/attr.h"
#include "obj/req.h"
#include "obj/topology.h"
#include "p2p/p2p.h"

enum { TREE_CHILDREN = 31, REQUESTS_PER_CHUNK = 8 };

struct contexts {
    uint32_t ctx, local_ctx; /* 0: there was none */
};

enum { CONTEXTS = sizeof(struct contexts) / sizeof(uint32_t) };

enum step { OFFERING, HEARING, TELLING };

struct idup {
    struct req req;               /* first: the handle is its address; req.comm is the old communicator */
    struct list link;
    struct comm *made, *local;    /* not open yet; local: of an intercommunicator */
    struct comm *tree;            /* whose members tell each other */
    struct contexts news, offer;  /* offer: of the other side's first process */
    enum step step;
    int tag;                      /* in the tree */
    int failed;                   /* the first error */
    bool is_unwanted;             /* it has failed here; the others are to have theirs: nobody has the request */
    struct req *pending[TREE_CHILDREN];
    int count;                    /* of them; NULL: over */
};

/* Guards the list and what is in it; taken before lanes' locks. */
static struct {
    pthread_mutex_t lock;
    struct list list;
    bool is_polled;
    struct mem_pool pool;
} idups = { .lock = PTHREAD_MUTEX_INITIALIZER, .list = { &idups.list, &idups.list } };

static void note(struct idup *idup, int rc)
{
    if (!idup->failed)
        idup->failed = rc;
}

/* --- messages --- */

static void post_send(struct idup *idup, struct comm *comm, int rank, int tag)
{
    int rc;

    comm->notes.sent = 0;
    rc = p2p_isend_now(comm, &idup->news, CONTEXTS, obj_type(MPI_UINT32_T), rank, tag, P2P_STANDARD | P2P_COLL,
                       &idup->pending[idup->count]);
    note(idup, rc);
    idup->count += !rc;
}

static void post_recv(struct idup *idup, struct comm *comm, struct contexts *to, int rank, int tag)
{
    const int rc = p2p_irecv(comm, to, CONTEXTS, obj_type(MPI_UINT32_T), rank, tag, P2P_COLL,
                             &idup->pending[idup->count]);

    note(idup, rc);
    idup->count += !rc;
}

/* All that has been posted is over. */
static bool is_over(struct idup *idup)
{
    for (; idup->count > 0; idup->count--) {
        struct req *req = idup->pending[idup->count - 1];

        if (!req_is_done(req))
            return false;
        note(idup, req->error);
        req->ops->release(req);
    }
    return true;
}

/* --- steps --- */

/* Contexts for this side; of two sides the one with the lower process brings the common one. */
static void take(struct idup *idup)
{
    const struct comm *old = idup->req.comm;

    if (!old->is_inter || comm_is_before(comm_world.proc, group_proc(old->remote_group, 0)))
        note(idup, comm_ctx_take_for(old, &idup->news.ctx));
    if (old->is_inter)
        note(idup, comm_ctx_take_for(old->local, &idup->news.local_ctx));
}

/* The binomial tree of ranks of idup->tree, from rank 0. */
static void begin_hearing(struct idup *idup)
{
    const int rank = idup->tree->rank;

    idup->step = HEARING;
    if (rank)
        post_recv(idup, idup->tree, &idup->news, rank & (rank - 1), idup->tag);
}

static void begin_telling(struct idup *idup)
{
    const int rank = idup->tree->rank, size = idup->tree->size;
    int bit = 1;

    idup->step = TELLING;
    while (bit < size && !(rank & bit))
        bit <<= 1;
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (rank + bit < size)
            post_send(idup, idup->tree, rank + bit, idup->tag);
    }
}

static void begin(struct idup *idup)
{
    struct comm *old = idup->req.comm;

    if (old->is_inter && idup->tree->rank == 0) {
        idup->step = OFFERING;
        post_recv(idup, old, &idup->offer, 0, comm_clients_leader_tag(old, COLL_SIDES_TAG));
        post_send(idup, old, 0, comm_clients_leader_tag(old, COLL_SIDES_TAG));
    } else {
        begin_hearing(idup);
    }
}

static void merge_offers(struct idup *idup)
{
    if (!idup->news.local_ctx || !idup->offer.local_ctx)
        idup->news.ctx = idup->offer.ctx = 0; /* one of the sides could not go on */
    idup->news.ctx |= idup->offer.ctx;
}

/* True when everything is over. */
static bool move_on(struct idup *idup)
{
    while (is_over(idup)) {
        switch (idup->step) {
        case OFFERING:
            merge_offers(idup);
            begin_hearing(idup);
            break;
        case HEARING: begin_telling(idup); break;
        case TELLING: return true;
        }
    }
    return false;
}

/* --- the end --- */

static void discard(struct idup *idup)
{
    if (idup->made)
        comm_abandon(idup->made);
    if (idup->local)
        comm_abandon(idup->local);
}

static int open_made(struct idup *idup)
{
    int rc = idup->failed;

    if (!rc && (!idup->news.ctx || (idup->local && !idup->news.local_ctx)))
        rc = comm_ctx_missing();
    if (rc) {
        discard(idup);
        return rc;
    }
    if (idup->local) {
        rc = comm_open(idup->local, idup->news.local_ctx);
        if (rc) {
            comm_abandon(idup->made);
            return rc;
        }
        idup->made->local = idup->local;
    }
    return comm_open(idup->made, idup->news.ctx);
}

static struct idup *idup_of(const struct req *req)
{
    return (struct idup *)(uintptr_t)req;
}

/* With the lock. */
static void give_back(struct idup *idup)
{
    idup->req.obj.kind = OBJ_FREED;
    mem_pool_put(&idups.pool, idup);
}

/* With the lock; the request may be gone afterwards. */
static void end(struct idup *idup)
{
    list_remove(&idup->link);
    progress_work(-1);
    idup->req.error = open_made(idup);
    if (likely(!idup->is_unwanted)) {
        req_complete(&idup->req);
        return;
    }
    if (!idup->req.error)
        comm_unref(idup->made);
    comm_unref(idup->req.comm);
    give_back(idup);
}

static int poll_all(void *arg)
{
    int events = 0;

    (void)arg;
    if (progress_is_last_look)
        pthread_mutex_lock(&idups.lock);
    else if (pthread_mutex_trylock(&idups.lock))
        return 0;
    LIST_FOR_EACH_SAFE(link, &idups.list) {
        struct idup *idup = CONTAINER_OF(link, struct idup, link);
        if (!move_on(idup))
            continue;
        end(idup);
        events++;
    }
    pthread_mutex_unlock(&idups.lock);
    return events;
}

/* --- the request --- */

static void idup_release(struct req *req)
{
    comm_unref(req->comm);
    pthread_mutex_lock(&idups.lock);
    give_back(idup_of(req));
    pthread_mutex_unlock(&idups.lock);
}

static struct idup *idup_alloc(void)
{
    struct idup *idup;

    pthread_mutex_lock(&idups.lock);
    if (!idups.pool.size)
        mem_pool_init(&idups.pool, sizeof *idup, REQUESTS_PER_CHUNK);
    idup = mem_pool_get(&idups.pool);
    pthread_mutex_unlock(&idups.lock);
    return idup;
}

void comm_idup_fini(void)
{
    if (idups.is_polled)
        progress_remove(poll_all, NULL);
    idups.is_polled = false;
    mem_pool_fini(&idups.pool);
    idups.pool.size = 0;
}

static int idup_cancel(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "MPI_Comm_idup cannot be cancelled");
}

static int idup_detach(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "the request of MPI_Comm_idup cannot be freed before it is complete");
}

static void idup_describe(const struct req *req, struct blocked *out)
{
    const struct idup *idup = idup_of(req);
    enum step step;

    pthread_mutex_lock(&idups.lock); /* another thread may move it on */
    step = idup->step;
    pthread_mutex_unlock(&idups.lock);
    if (step == OFFERING) {
        *out = (struct blocked){ .call = "MPI_Wait", .of = "MPI_Comm_idup", .comm = req->comm,
                                 .way = BLOCKED_RECEIVING, .tag = MPI_ANY_TAG, .count = -1 };
        return;
    }
    *out = (struct blocked){ .call = "MPI_Wait", .of = "MPI_Comm_idup", .comm = idup->tree, .is_coll = true,
                             .way = BLOCKED_RECEIVING, .tag = idup->tag, .count = -1,
                             .peer = idup->tree->rank & (idup->tree->rank - 1), .sequence = idup->tree->coll_sequence };
}

static const struct req_ops idup_ops = {
    .release = idup_release,
    .cancel = idup_cancel,
    .detach = idup_detach,
    .describe = idup_describe,
};

/* Objects without contexts. */
static int prepare(struct idup *idup, struct comm *old)
{
    idup->made = comm_prepare(old, old->group, old->remote_group);
    if (old->is_inter)
        idup->local = comm_prepare(old, old->group, old->group);
    if (idup->made && (idup->local || !old->is_inter))
        return 0;
    discard(idup);
    return err(MPI_ERR_NO_MEM, "no memory for a communicator");
}

static void start(struct idup *idup)
{
    if (idup->tree->rank == 0)
        take(idup);
    pthread_mutex_lock(&idups.lock);
    if (!idups.is_polled)
        progress_add(poll_all, NULL);
    idups.is_polled = true;
    list_append(&idups.list, &idup->link);
    progress_work(1);
    begin(idup);
    if (move_on(idup))
        end(idup);
    pthread_mutex_unlock(&idups.lock);
}

static int check_alike(const struct comm *comm)
{
    int rc = 0;

    if (unlikely(comm_clients_spans(comm))) {
        rc = comm_clients_check_alike(comm->group, "MPI_Comm_idup");
        if (!rc)
            rc = comm_clients_check_alike(comm->remote_group, "MPI_Comm_idup");
    }
    return rc;
}

int comm_idup(struct comm *comm, struct info *info, struct comm **out, struct req **request)
{
    struct idup *idup;
    int rc = check_alike(comm);

    if (rc)
        return rc;
    idup = idup_alloc();
    if (!idup)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    /* is_send: its status is empty */
    *idup = (struct idup){ .req = { .ops = &idup_ops, .comm = comm, .is_send = true },
                           .tree = comm->is_inter ? comm->local : comm };
    obj_init(&idup->req.obj, OBJ_REQUEST);
    obj_ref(&comm->obj);
    rc = prepare(idup, comm);
    idup->tag = comm_clients_tree_tag(idup->tree, coll_begin(idup->tree, COLL_INTERNAL, "MPI_Comm_idup"));
    if (rc) {
        idup_release(&idup->req);
        return rc;
    }
    rc = attr_copy(&comm->obj, &comm->attrs, &idup->made->obj, &idup->made->attrs);
    if (rc) { /* the user's callback says so, here: the others are waiting for what this process passes on */
        idup->is_unwanted = true;
        start(idup);
        return rc;
    }
    idup->made->topology = topology_ref(comm->topology);
    if (info)
        comm_set_info(idup->made, info);
    *out = idup->made;
    *request = &idup->req;
    start(idup);
    return 0;
}
