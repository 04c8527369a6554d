/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_split and MPI_Comm_split_type (MPI 5.0 §7.4.2). One exchange: everybody tells color,
 * key and a context that it has taken in case it becomes the first of its color; then each finds its own
 * group. Memory and time grow with the size of the old communicator. */
#include <stdlib.h>
#include <strings.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/int_comm.h"
#include "obj/errhandler.h"

struct member {
    int key, rank;
};

static int by_key_and_rank(const void *a, const void *b)
{
    const struct member *m = a, *n = b;

    if (m->key != n->key)
        return m->key < n->key ? -1 : 1;
    return m->rank < n->rank ? -1 : 1;
}

int comm_split_order(const struct split_entry *entries, int size, int color, int *ranks)
{
    struct member *members = mem_alloc((size_t)size * sizeof *members);
    int count = 0;

    if (!members)
        return -err(MPI_ERR_NO_MEM, "no memory to sort %d processes", size);
    for (int rank = 0; rank < size; rank++) {
        if (entries[rank].color == color)
            members[count++] = (struct member){ entries[rank].key, rank };
    }
    qsort(members, (size_t)count, sizeof *members, by_key_and_rank);
    for (int i = 0; i < count; i++)
        ranks[i] = members[i].rank;
    mem_free(members);
    return count;
}

/* From everybody's entries to this process's new communicator. */
static int split_make(const struct comm *comm, const struct split_entry *entries, struct comm **out)
{
    int *procs = mem_alloc((size_t)comm->size * sizeof *procs);
    struct group *group;
    uint32_t ctx;
    int count, rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", comm->size);
    count = comm_split_order(entries, comm->size, entries[comm->rank].color, procs);
    if (count < 0) {
        mem_free(procs);
        return -count;
    }
    ctx = entries[procs[0]].ctx;
    for (int i = 0; i < count; i++)
        procs[i] = group_proc(comm->group, procs[i]);
    rc = group_create_list(count, procs, comm_world.rank, &group);
    mem_free(procs);
    if (rc)
        return rc;
    group->session = comm->session;
    if (!ctx) {
        group_unref(group);
        return comm_ctx_missing();
    }
    return comm_make(comm, group, ctx, out);
}

int comm_split_exchange(struct comm *comm, struct split_entry *entries)
{
    struct type *byte = obj_type(MPI_BYTE);
    int rc;

    comm->coll_outer = "MPI_Comm_split";
    rc = coll_run(comm, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, byte),
                                  COLL_SAME(entries, sizeof *entries, byte), NULL, 0));
    comm->coll_outer = NULL;
    return rc;
}

int comm_split(struct comm *comm, int color, int key, struct comm **out)
{
    struct split_entry *entries, own = { .color = color, .key = key };
    int taken = 0, rc;

    if (comm->is_inter)
        return comm_inter_split(comm, own, out);
    entries = mem_alloc((size_t)comm->size * sizeof *entries);
    if (!entries)
        return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
    if (color != MPI_UNDEFINED)
        taken = comm_ctx_take(&own.ctx);
    entries[comm->rank] = own;
    rc = comm_split_exchange(comm, entries);
    if (!rc && color != MPI_UNDEFINED)
        rc = split_make(comm, entries, out);
    /* After an error others may use it all the same. */
    if (!rc && own.ctx && (*out)->ctx != own.ctx)
        comm_ctx_return(own.ctx);
    mem_free(entries);
    return rc && taken ? taken : rc; /* the leader's own error says more */
}

static const char resource_key[] = "mpi_hw_resource_type", set_key[] = "mpi_pset_name",
                  shared_memory[] = "mpi_shared_memory";

/* Does the hint have this value, in capitals or not? */
static bool has_value(struct info *info, const char *key, const char *wanted)
{
    char value[32];
    size_t length;
    int flag = 0;

    if (info)
        info_get(info, key, sizeof value, value, &length, &flag);
    return flag && !strcasecmp(value, wanted);
}

/* Where this process belongs by the hints. */
static int color_of(const struct comm *comm, struct info *info, bool has_sets)
{
    if (has_value(info, resource_key, shared_memory))
        return comm_world.environment.node;
    if (has_sets && has_value(info, set_key, "mpi://WORLD"))
        return 0;
    if (has_sets && has_value(info, set_key, "mpi://SELF"))
        return comm->rank;
    return MPI_UNDEFINED;
}

/* The next smaller domain: the machine, unless all are on it. */
static int split_unguided(struct comm *comm, int key, struct info *info, struct comm **out)
{
    int rc = comm_split(comm, comm_world.environment.node, key, out);

    if (rc)
        return rc;
    if ((*out)->size < comm->size)
        return info ? info_set_by_user(info, resource_key, shared_memory) : 0;
    comm_unref(*out);
    *out = NULL;
    return 0;
}

int comm_split_type(struct comm *comm, int split_type, int key, struct info *info, struct comm **out)
{
    switch (split_type) {
    case MPI_COMM_TYPE_SHARED: return comm_split(comm, comm_world.environment.node, key, out);
    case MPI_UNDEFINED: return comm_split(comm, MPI_UNDEFINED, key, out);
    case MPI_COMM_TYPE_HW_UNGUIDED: return split_unguided(comm, key, info, out);
    case MPI_COMM_TYPE_HW_GUIDED: return comm_split(comm, color_of(comm, info, false), key, out);
    case MPI_COMM_TYPE_RESOURCE_GUIDED: return comm_split(comm, color_of(comm, info, true), key, out);
    default:
        return err(MPI_ERR_ARG, "split_type is %d, which is no MPI_COMM_TYPE_ constant nor MPI_UNDEFINED",
                   split_type);
    }
}
