/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_split (MPI 5.0 §7.4.2). One exchange: everybody tells color, key and a context that it
 * has taken in case it becomes the first of its color; then each finds its own group. Memory and time grow with
 * the size of the old communicator. */
#include <stdlib.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"

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
    rc = group_create_list(count, procs, comm_world.proc, &group);
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
    struct type *number = obj_type(MPI_INT32_T);
    int rc;

    comm->coll_outer = "MPI_Comm_split";
    rc = coll_run(comm, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, number),
                                  COLL_SAME(entries, sizeof *entries / sizeof(int32_t), number), NULL, 0));
    comm->coll_outer = NULL;
    return rc;
}

int comm_split_by(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out)
{
    struct split_entry *entries;
    int taken = 0, rc;

    if (comm->is_inter)
        return comm_inter_split(comm, own, rule, out);
    if (unlikely(p2p_is_foreign_ctx(comm->ctx)))
        return comm_clients_split(comm, own, out);
    entries = mem_alloc((size_t)comm->size * sizeof *entries);
    if (!entries)
        return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
    if (own.color != MPI_UNDEFINED)
        taken = comm_ctx_take_for(comm, &own.ctx);
    entries[comm->rank] = own;
    rc = comm_split_exchange(comm, entries);
    if (!rc && rule)
        rc = rule->refine(rule, comm, entries, NULL);
    if (!rc && entries[comm->rank].color != MPI_UNDEFINED)
        rc = split_make(comm, entries, out);
    /* After an error others may use it all the same. */
    if (!rc && own.ctx && (!*out || (*out)->ctx != own.ctx))
        comm_ctx_return(own.ctx);
    mem_free(entries);
    return rc && taken ? taken : rc; /* the leader's own error says more */
}

int comm_split(struct comm *comm, int color, int key, struct comm **out)
{
    return comm_split_by(comm, (struct split_entry){ .color = color, .key = key }, NULL, out);
}
