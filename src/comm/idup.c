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

enum { TREE_CHILDREN = 31, REQUESTS_PER_CHUNK = 8, SPARE_IDUPS = 4, TRIES = 4, MANY_TRIES = 1000000 };

struct contexts {
    uint32_t ctx, local_ctx; /* 0: there was none */
};

enum { CONTEXTS = sizeof(struct contexts) / sizeof(uint32_t) };

enum step { BEGINNING, OFFERING, LISTENING, HEARING, TELLING };

struct idup {
    struct req req;               /* first: the handle is its address; req.comm is the old communicator */
    struct list link;
    struct comm *made, *local;    /* not open yet; local: of an intercommunicator */
    struct comm *tree;            /* whose members tell each other */
    struct contexts news, offer;  /* offer: of the other side's first process */
    enum step step;
    int tag;                      /* in the tree */
    int failed;                   /* the first error */
    int tries;                    /* of a receive for which there was no memory */
    bool is_spare;
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
    struct idup spare[SPARE_IDUPS]; /* for want of memory */
    bool is_used[SPARE_IDUPS];      /* of them */
} idups = { .lock = PTHREAD_MUTEX_INITIALIZER, .list = { &idups.list, &idups.list } };

static void note(struct idup *idup, int rc)
{
    if (!idup->failed)
        idup->failed = rc;
}

/* --- messages --- */

/* Who waits for it has the error instead. */
static COLD void send_error(struct idup *idup, struct comm *comm, int rank, int tag, int rc)
{
    note(idup, rc);
    p2p_tell_cause(comm, coll_failed_at(comm, rc), rank, tag, P2P_COLL);
}

static void post_send(struct idup *idup, struct comm *comm, int rank, int tag)
{
    int rc = MPI_ERR_OTHER;

    comm->notes.sent = 0;
    for (int i = 0; rc && i < TRIES; i++)
        rc = p2p_isend_now(comm, &idup->news, CONTEXTS, obj_type(MPI_UINT32_T), rank, tag, P2P_STANDARD | P2P_COLL,
                           &idup->pending[idup->count]);
    if (unlikely(rc))
        send_error(idup, comm, rank, tag, rc);
    idup->count += !rc;
}

/* False: not yet, since there is no memory. */
static bool post_recv(struct idup *idup, struct comm *comm, struct contexts *to, int rank, int tag)
{
    const int rc = p2p_irecv(comm, to, CONTEXTS, obj_type(MPI_UINT32_T), rank, tag, P2P_COLL,
                             &idup->pending[idup->count]);

    if (unlikely(rc) && ++idup->tries < MANY_TRIES)
        return false;
    note(idup, rc);
    idup->count += !rc;
    return true;
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
static bool begin_hearing(struct idup *idup)
{
    const int rank = idup->tree->rank;

    idup->step = LISTENING;
    if (rank && !post_recv(idup, idup->tree, &idup->news, rank & (rank - 1), idup->tag))
        return false;
    idup->step = HEARING;
    return true;
}

/* No context for the others, from whatever reason. */
static COLD void pass_on(struct idup *idup, int rank)
{
    p2p_tell_cause(idup->tree, idup->failed, rank, idup->tag, P2P_COLL);
}

static void begin_telling(struct idup *idup)
{
    const int rank = idup->tree->rank, size = idup->tree->size;
    int bit = 1;

    idup->step = TELLING;
    while (bit < size && !(rank & bit))
        bit <<= 1;
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (rank + bit >= size)
            continue;
        if (unlikely(idup->failed && !idup->news.ctx))
            pass_on(idup, rank + bit);
        else
            post_send(idup, idup->tree, rank + bit, idup->tag);
    }
}

/* False: not yet. */
static bool begin(struct idup *idup)
{
    struct comm *old = idup->req.comm;

    if (!old->is_inter || idup->tree->rank)
        return begin_hearing(idup);
    if (!post_recv(idup, old, &idup->offer, 0, comm_clients_leader_tag(old, COLL_SIDES_TAG)))
        return false;
    idup->step = OFFERING;
    post_send(idup, old, 0, comm_clients_leader_tag(old, COLL_SIDES_TAG));
    return true;
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
        case BEGINNING:
            if (!begin(idup))
                return false;
            break;
        case OFFERING:
            merge_offers(idup);
            begin_hearing(idup);
            break;
        case LISTENING:
            if (!begin_hearing(idup))
                return false;
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

/* Others have a duplicate, perhaps. */
static COLD void break_made(const struct idup *idup, int rc)
{
    const struct comm *old = idup->req.comm;

    comm_break(old->group, idup->news.ctx, rc);
    if (!old->is_inter || !idup->news.ctx)
        return;
    comm_break(old->remote_group, idup->news.ctx, rc);
    comm_break(old->group, idup->news.local_ctx, rc);
}

static struct idup *idup_of(const struct req *req)
{
    return (struct idup *)(uintptr_t)req;
}

/* With the lock. */
static void give_back(struct idup *idup)
{
    idup->req.obj.kind = OBJ_FREED;
    if (unlikely(idup->is_spare))
        idups.is_used[idup - idups.spare] = false;
    else
        mem_pool_put(&idups.pool, idup);
}

/* With the lock; the request may be gone afterwards. */
static void end(struct idup *idup)
{
    list_remove(&idup->link);
    progress_work(-1);
    idup->req.error = open_made(idup);
    if (unlikely(idup->req.error))
        break_made(idup, idup->req.error);
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
    for (int i = 0; !idup && i < SPARE_IDUPS; i++)
        if (!idups.is_used[i]) {
            idups.is_used[i] = true;
            idup = &idups.spare[i];
        }
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
    idup->made = idup->local = NULL;
    return comm_no_object();
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

static bool is_spare(const struct idup *idup)
{
    return idup >= idups.spare && idup < idups.spare + SPARE_IDUPS;
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
                           .tree = comm->is_inter ? comm->local : comm, .is_spare = is_spare(idup) };
    obj_init(&idup->req.obj, OBJ_REQUEST);
    obj_ref(&comm->obj);
    rc = is_spare(idup) ? err(MPI_ERR_NO_MEM, "no memory for a request") : prepare(idup, comm);
    idup->tag = comm_clients_tree_tag(idup->tree, coll_begin(idup->tree, COLL_INTERNAL, "MPI_Comm_idup"));
    if (likely(!rc))
        rc = attr_copy(&comm->obj, &comm->attrs, &idup->made->obj, &idup->made->attrs);
    if (rc) { /* here alone, perhaps by the user's callback: the others wait for what this process passes on */
        if (err_class(rc) == MPI_ERR_NO_MEM)
            note(idup, rc); /* and are told */
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
