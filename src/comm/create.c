/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. New communicators whose members are known beforehand, and their end (MPI 5.0 §7.4.2, §7.4.3).
 * The first process of the new one takes a context and tells it to the others over the old one. */
#include <pthread.h>

#include "base/err.h"
#include "base/event.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "obj/session.h"
#include "obj/topology.h"
#include "p2p/p2p.h"

/* Communicators of local groups whose intercommunicators have gone; they have no local one, so that links them. */
static struct {
    pthread_mutex_t lock;
    struct comm *first;      /* guarded by lock */
    _Atomic unsigned count;  /* changed with the lock */
    bool is_polled;          /* guarded by lock */
} leaving = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int poll_leaving(void *arg)
{
    struct comm *comm;
    int count;

    (void)arg;
    if (likely(!atomic_load_explicit(&leaving.count, memory_order_relaxed)))
        return 0;
    pthread_mutex_lock(&leaving.lock);
    comm = leaving.first;
    count = (int)atomic_exchange_explicit(&leaving.count, 0, memory_order_relaxed);
    leaving.first = NULL;
    pthread_mutex_unlock(&leaving.lock);
    while (comm) {
        struct comm *next = comm->local;

        comm->local = NULL;
        comm_unref(comm);
        comm = next;
    }
    progress_work(-count);
    return count;
}

void comm_let_leave(void)
{
    poll_leaving(NULL);
    if (leaving.is_polled)
        progress_remove(poll_leaving, NULL);
    leaving.is_polled = false;
}

/* The last request of an intercommunicator lets it go with its lane's lock, and then nobody may take that of another
 * one: threads would wait for each other's. */
static void leave_later(struct comm *local)
{
    pthread_mutex_lock(&leaving.lock);
    if (!leaving.is_polled)
        progress_add(poll_leaving, NULL);
    leaving.is_polled = true;
    local->local = leaving.first;
    leaving.first = local;
    atomic_fetch_add_explicit(&leaving.count, 1, memory_order_relaxed);
    progress_work(1);
    pthread_mutex_unlock(&leaving.lock);
}

static void release(struct comm *local, struct group *group, struct group *remote)
{
    if (remote != group)
        group_unref(remote);
    group_unref(group);
    if (local)
        comm_unref(local);
}

static void drop(struct comm *comm)
{
    errhandler_unref(comm->errhandler);
    release(comm->local, comm->group, comm->remote_group);
    obj_destroy(&comm->obj);
}

static int processes(const struct comm *comm)
{
    return comm->size + (comm->is_inter ? comm->remote_size : 0);
}

static void count_links(const struct comm *comm, int change)
{
    comm_circle_count(comm->ctx, change);
    comm_links_count(comm->group, change);
    if (comm->is_inter)
        comm_links_count(comm->remote_group, change);
}

/* The last reference is gone. */
static void destroy(struct comm *comm)
{
    event_tell(EVENT_COMM_FREED, comm->ctx, processes(comm), 0);
    count_links(comm, -1);
    coll_comm_close(comm);
    p2p_comm_close(comm);
    comm_reuse_ended(comm);
    topology_unref(comm->topology);
    if (comm->local && p2p_lane_of(comm->local->ctx) != p2p_lane_of(comm->ctx)) {
        leave_later(comm->local);
        comm->local = NULL;
    }
    drop(comm);
}

/* What it takes over from the caller goes as well if there is no memory for it. */
static struct comm *begin(const struct comm *parent, struct comm *local, struct group *group, struct group *remote)
{
    struct comm *comm = obj_create(OBJ_COMM, sizeof *comm);

    if (!comm) {
        release(local, group, remote);
        return NULL;
    }
    comm->rank = group->rank;
    comm->size = group->size;
    comm->remote_size = remote->size;
    comm->is_inter = remote != group;
    comm->local = local;
    comm->group = group;
    comm->remote_group = remote;
    comm->destroy = destroy;
    comm->session = parent->session;
    comm->errhandler = errhandler_take(&parent->errhandler);
    return comm;
}

int comm_open(struct comm *comm, uint32_t ctx)
{
    int rc;

    comm->obj.kind = OBJ_COMM;
    comm->ctx = ctx;
    if (unlikely(p2p_is_foreign_ctx(ctx)))
        comm->shelf.number = -1;
    rc = p2p_comm_open(comm);
    if (rc) {
        drop(comm);
        return rc;
    }
    count_links(comm, 1);
    event_tell(EVENT_COMM_MADE, ctx, processes(comm), 0);
    return 0;
}

int comm_no_object(void)
{
    return err(MPI_ERR_NO_MEM, "no memory for a communicator");
}

static int finish(struct comm *comm, uint32_t ctx, struct comm **out)
{
    const int rc = comm ? comm_open(comm, ctx) : comm_no_object();

    if (!rc)
        *out = comm;
    return rc;
}

struct comm *comm_prepare(const struct comm *parent, struct group *group, struct group *remote)
{
    struct comm *comm;

    obj_ref(&group->obj);
    if (remote != group)
        obj_ref(&remote->obj);
    comm = begin(parent, NULL, group, remote);
    if (comm)
        comm->obj.kind = OBJ_COMM_COMING;
    return comm;
}

void comm_abandon(struct comm *comm)
{
    comm->obj.kind = OBJ_COMM;
    drop(comm);
}

int comm_make(const struct comm *parent, struct group *group, uint32_t ctx, struct comm **out)
{
    return finish(begin(parent, NULL, group, group), ctx, out);
}

int comm_make_inter(const struct comm *parent, struct comm *local, struct group *group, struct group *remote,
                    uint32_t ctx, struct comm **out)
{
    return finish(begin(parent, local, group, remote), ctx, out);
}

void comm_break(const struct group *group, uint32_t ctx, int rc)
{
    for (int rank = 0; ctx && rank < group->size; rank++)
        if (group_proc(group, rank) != comm_world.proc)
            p2p_break(ctx, group_proc(group, rank), rc);
}

void comm_break_made(const struct comm *made, int rc)
{
    comm_break(made->group, made->ctx, rc);
    if (!made->is_inter)
        return;
    comm_break(made->remote_group, made->ctx, rc);
    comm_break(made->local->group, made->local->ctx, rc);
}

void comm_break_above(const struct group *group, uint32_t ctx, int rc)
{
    const int end = group->rank + (group->rank & -group->rank);

    for (int rank = 0; ctx && rank < group->size; rank++)
        if (rank < group->rank || rank >= end)
            p2p_break(ctx, group_proc(group, rank), rc);
}

/* The processes of `group`, which are all in `comm`: take, tell, make. Others get no communicator. Who has failed tells
 * that; what needs memory comes before, as far as it can. */
static int make_of_group(struct comm *comm, struct group *group, int tag, int (*take)(uint32_t *ctx),
                         struct comm **out)
{
    const bool is_member = group->rank != MPI_UNDEFINED;
    struct comm *made = is_member ? comm_prepare(comm, group, group) : NULL;
    int rc, failed = likely(made || !is_member) ? 0 : comm_no_object();
    uint32_t ctx = 0;

    if (group->rank == 0 && likely(!failed))
        failed = comm_abroad_in(comm) ? comm_ctx_take_for(comm, &ctx) : take(&ctx);
    rc = coll_group_bcast(comm, group, &ctx, sizeof ctx, tag, failed);
    if (unlikely(!made))
        goto none;
    if (unlikely(rc)) {
        comm_abandon(made);
        goto none;
    }
    rc = comm_open(made, ctx);
    if (unlikely(rc))
        comm_break(group, ctx, rc);
    else
        *out = made;
    return rc;

none:
    if (unlikely(failed))
        comm_break_above(group, ctx, rc);
    else if (unlikely(rc)) /* of a connection: what was sent before is known */
        comm_break(group, ctx, rc);
    return rc;
}

static int create(struct comm *comm, struct group *group, const char *call, int (*take)(uint32_t *ctx),
                  struct comm **out)
{
    int rc;

    if (unlikely(p2p_is_foreign_ctx(comm->ctx)))
        return comm_clients_make_of_group(comm, group, call, out);
    comm->coll_outer = call;
    rc = make_of_group(comm, group, COLL_NEXT_TAG, take, out);
    comm->coll_outer = NULL;
    return rc;
}

int comm_create_for(struct comm *comm, struct group *group, const char *call, struct comm **out)
{
    return create(comm, group, call, comm_ctx_take, out);
}

int comm_create_apart(struct comm *comm, const char *call, struct comm **out)
{
    return create(comm, comm->group, call, comm_ctx_take_apart, out);
}

/* With the numbers that its members have in the communicator; the caller's. */
static int find_subgroup(const struct comm *comm, struct group *group, struct group **out)
{
    int *procs = unlikely(comm_world.joint) ? mem_alloc((size_t)group->size * sizeof *procs + 1) : NULL;
    struct group_index index;
    int rc = 0;

    group_index_open(&index, comm->group);
    if (comm_world.joint && !procs)
        rc = err(MPI_ERR_NO_MEM, "no memory for a group of %d", group->size);
    for (int rank = 0; rank < group->size && !rc; rank++) {
        const int at = group_index_find(&index, group_proc(group, rank));

        if (at == MPI_UNDEFINED)
            rc = err(MPI_ERR_GROUP, "rank %d of the group is process %d, which is not in the communicator",
                     rank, group_proc(group, rank));
        else if (procs)
            procs[rank] = group_proc(comm->group, at);
    }
    group_index_close(&index);
    if (!rc && procs && group->size) {
        rc = group_create_list(group->size, procs, comm_world.proc, out);
        if (!rc)
            (*out)->session = group->session;
    } else if (!rc) {
        obj_ref(&group->obj);
        *out = group;
    }
    mem_free(procs);
    return rc;
}

int comm_copy_attrs(const struct comm *comm, struct comm **out)
{
    const int rc = attr_copy(&comm->obj, &comm->attrs, &(*out)->obj, &(*out)->attrs);

    if (rc) {
        if (err_class(rc) == MPI_ERR_NO_MEM)
            comm_break_made(*out, rc);
        comm_unref(*out);
        *out = NULL;
    }
    return rc;
}

int comm_dup(struct comm *comm, struct comm **out)
{
    int rc = comm->is_inter ? comm_inter_dup(comm, out)
                            : comm_create_for(comm, comm->group, "MPI_Comm_dup", out);

    if (rc)
        return rc;
    (*out)->topology = topology_ref(comm->topology);
    return comm_copy_attrs(comm, out);
}

int comm_create(struct comm *comm, struct group *group, struct comm **out)
{
    struct group *own;
    int rc = find_subgroup(comm, group, &own);

    if (rc)
        return rc;
    rc = comm->is_inter ? comm_inter_create_sub(comm, own, out) : comm_create_for(comm, own, "MPI_Comm_create", out);
    group_unref(own);
    return rc;
}

int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **out)
{
    struct group *own;
    int rc = find_subgroup(comm, group, &own);

    if (rc)
        return rc;
    if (unlikely(comm_world.joint) && own->rank != MPI_UNDEFINED && comm_clients_has_foreign(own))
        rc = comm_clients_create_group(comm, own, tag, out);
    else
        rc = make_of_group(comm, own, tag, comm_ctx_take, out);
    group_unref(own);
    return rc;
}

int comm_free(struct comm *comm)
{
    int rc;

    if (comm->obj.predefined)
        return err(MPI_ERR_COMM, "E0343: %s is predefined and may not be freed",
                   obj_handle(&comm->obj) == (uintptr_t)MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    rc = attr_delete_all(&comm->obj, &comm->attrs); /* the callbacks may make collective calls */
    if (!rc && unlikely(p2p_is_foreign_ctx(comm->ctx)) && !comm->is_inter && !comm_clients_are_alike(comm->group))
        rc = coll_barrier(comm); /* IMPI 0.0, 4.14; this library needs none */
    if (!rc)
        rc = coll_check_end(comm);
    if (rc)
        return rc;
    if (comm == comm_world.parent)
        comm_set_parent(NULL);
    comm->is_ended = true;
    comm_unref(comm);
    return 0;
}

/* What is in a buffer goes out. */
static int flush(struct send_buffer **place)
{
    const int rc = *place ? p2p_buffer_flush(place, "what is disconnected") : 0;

    return err_class(rc) == MPI_ERR_BUFFER ? 0 : rc; /* another thread has detached it */
}

int comm_disconnect(struct comm *comm)
{
    struct session *session = session_alive(comm->session);
    int rc;

    if (comm->obj.predefined)
        return comm_free(comm);
    rc = flush(&comm->buffer);
    if (!rc && session)
        rc = flush(&session->buffer);
    if (!rc)
        rc = flush(p2p_buffer_of_process());
    return rc ? rc : comm_free(comm);
}
