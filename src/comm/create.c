/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. New communicators whose members are known beforehand, and their end (MPI 5.0 §7.4.2, §7.4.3).
 * The first process of the new one takes a context and tells it to the others over the old one. */
#include "base/err.h"
#include "coll/coll.h"
#include "comm/int_comm.h"
#include "obj/errhandler.h"
#include "obj/topology.h"
#include "p2p/p2p.h"

/* The last reference is gone. */
static void destroy(struct comm *comm)
{
    coll_comm_close(comm);
    p2p_comm_close(comm);
    errhandler_unref(comm->errhandler);
    topology_unref(comm->topology);
    group_unref(comm->group);
    obj_destroy(&comm->obj);
}

int comm_make(const struct comm *parent, struct group *group, uint32_t ctx, struct comm **out)
{
    struct comm *comm = obj_create(OBJ_COMM, sizeof *comm);
    int rc;

    if (!comm) {
        group_unref(group);
        return err(MPI_ERR_NO_MEM, "no memory for a communicator of %d", group->size);
    }
    comm->rank = group->rank;
    comm->size = comm->remote_size = group->size;
    comm->ctx = ctx;
    comm->group = comm->remote_group = group;
    comm->destroy = destroy;
    comm->session = parent->session;
    comm->errhandler = parent->errhandler;
    obj_ref(&comm->errhandler->obj);
    rc = p2p_comm_open(comm);
    if (rc) {
        errhandler_unref(comm->errhandler);
        group_unref(group);
        obj_destroy(&comm->obj);
        return rc;
    }
    *out = comm;
    return 0;
}

/* The processes of `group`, which are all in `comm`: take, tell, make. Others get no communicator. */
static int make_of_group(struct comm *comm, struct group *group, int tag, struct comm **out)
{
    uint32_t ctx = 0;
    int rc, taken = 0;

    if (group->rank == 0)
        taken = comm_ctx_take(&ctx);
    rc = coll_group_bcast(comm, group, &ctx, sizeof ctx, tag);
    if (taken || rc)
        return taken ? taken : rc;
    if (group->rank == MPI_UNDEFINED)
        return 0;
    if (!ctx)
        return comm_ctx_missing();
    obj_ref(&group->obj);
    return comm_make(comm, group, ctx, out);
}

int comm_create_for(struct comm *comm, struct group *group, const char *call, struct comm **out)
{
    int rc;

    comm->coll_outer = call;
    rc = make_of_group(comm, group, COLL_NEXT_TAG, out);
    comm->coll_outer = NULL;
    return rc;
}

static int check_subgroup(const struct comm *comm, const struct group *group)
{
    struct group_index index;
    int rc = group_index_open(&index, comm->group);

    for (int rank = 0; rank < group->size && !rc; rank++) {
        if (group_index_find(&index, group_proc(group, rank)) == MPI_UNDEFINED)
            rc = err(MPI_ERR_GROUP, "rank %d of the group is process %d, which is not in the communicator",
                     rank, group_proc(group, rank));
    }
    group_index_close(&index);
    return rc;
}

static int check_intra(const struct comm *comm)
{
    if (comm->is_inter)
        return err(MPI_ERR_COMM, "E0361: not implemented for intercommunicators yet");
    return 0;
}

int comm_dup(struct comm *comm, struct comm **out)
{
    int rc = check_intra(comm);

    if (!rc)
        rc = comm_create_for(comm, comm->group, "MPI_Comm_dup", out);
    if (!rc)
        (*out)->topology = topology_ref(comm->topology);
    return rc;
}

int comm_create(struct comm *comm, struct group *group, struct comm **out)
{
    int rc = check_intra(comm);

    if (!rc)
        rc = check_subgroup(comm, group);
    return rc ? rc : comm_create_for(comm, group, "MPI_Comm_create", out);
}

int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **out)
{
    int rc = check_intra(comm);

    if (!rc)
        rc = check_subgroup(comm, group);
    return rc ? rc : make_of_group(comm, group, tag, out);
}

int comm_free(struct comm *comm)
{
    if (comm->obj.predefined)
        return err(MPI_ERR_COMM, "E0343: %s is predefined and may not be freed",
                   obj_handle(&comm->obj) == (uintptr_t)MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    comm_unref(comm);
    return 0;
}
