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

static int by_key_and_rank(const void *a, const void *b)
{
    const struct split_member *m = a, *n = b;

    if (m->key != n->key)
        return m->key < n->key ? -1 : 1;
    return m->rank < n->rank ? -1 : 1;
}

int comm_split_order(const struct split_entry *entries, int size, int color, struct split_member *members)
{
    int count = 0;

    for (int rank = 0; rank < size; rank++) {
        if (entries[rank].color == color)
            members[count++] = (struct split_member){ entries[rank].key, rank };
    }
    qsort(members, (size_t)count, sizeof *members, by_key_and_rank);
    return count;
}

/* In place of a context, which is even: that there is none, and the class of the error. */
uint32_t comm_split_failed(int rc)
{
    return (uint32_t)err_class(rc) << 1 | 1;
}

int comm_split_check(const struct split_entry *entries, const struct split_member *members, int count, const char *side)
{
    for (int i = 0; i < count; i++) {
        const uint32_t ctx = entries[members[i].rank].ctx;

        if (unlikely(ctx & 1))
            return err((int)(ctx >> 1), "E0339: the call has failed at rank %d%s, which has no memory or no context",
                       members[i].rank, side);
    }
    return 0;
}

int comm_split_group(const struct comm *comm, const struct group *old, struct split_member *members, int count,
                     struct group **out)
{
    int *const procs = (int *)(void *)members; /* each is shorter than a member */
    int rc;

    for (int i = 0; i < count; i++)
        procs[i] = group_proc(old, members[i].rank);
    rc = group_create_list(count, procs, comm_world.proc, out);
    if (!rc)
        (*out)->session = comm->session;
    return rc;
}

/* As comm_break, of processes. */
static COLD void break_list(const int *procs, int count, uint32_t ctx, int rc)
{
    for (int i = 0; i < count; i++)
        if (procs[i] != comm_world.proc)
            p2p_break(ctx, procs[i], rc);
}

/* From everybody's entries to this process's new communicator. */
static int split_make(const struct comm *comm, const struct split_entry *entries, struct split_member *members,
                      struct comm **out)
{
    const int count = comm_split_order(entries, comm->size, entries[comm->rank].color, members);
    const uint32_t ctx = entries[members[0].rank].ctx;
    struct group *group;
    int rc = comm_split_check(entries, members, count, "");

    if (unlikely(rc))
        return rc;
    rc = comm_split_group(comm, comm->group, members, count, &group);
    if (likely(!rc))
        rc = comm_make(comm, group, ctx, out);
    if (unlikely(rc))
        break_list((const int *)(const void *)members, count, ctx, rc);
    return rc;
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

void comm_split_offer(const struct comm *old, struct split_entry *own, int *failed)
{
    if (own->color == MPI_UNDEFINED)
        return;
    if (!*failed)
        *failed = comm_ctx_take_for(old, &own->ctx);
    if (unlikely(*failed))
        own->ctx = comm_split_failed(*failed);
}

int comm_split_by(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out)
{
    struct split_entry few_entries[SPLIT_FEW], *entries = few_entries;
    struct split_member few_members[SPLIT_FEW], *members = few_members;
    int failed = 0, rc;

    if (comm->is_inter)
        return comm_inter_split(comm, own, rule, out);
    if (unlikely(p2p_is_foreign_ctx(comm->ctx)))
        return comm_clients_split(comm, own, out);
    if (comm->size > SPLIT_FEW) {
        entries = mem_alloc((size_t)comm->size * (sizeof *entries + sizeof *members));
        if (!entries)
            return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
        members = (struct split_member *)(void *)(entries + comm->size);
    }
    comm_split_offer(comm, &own, &failed);
    entries[comm->rank] = own;
    rc = comm_split_exchange(comm, entries);
    if (!rc && rule)
        rc = rule->refine(rule, comm, entries, NULL);
    if (!rc && entries[comm->rank].color != MPI_UNDEFINED)
        rc = split_make(comm, entries, members, out);
    /* After an error others may use it all the same. */
    if (!rc && own.ctx && (!*out || (*out)->ctx != own.ctx))
        comm_ctx_return(own.ctx);
    if (entries != few_entries)
        mem_free(entries);
    return unlikely(rc && failed) ? failed : rc; /* the own error says more */
}

int comm_split(struct comm *comm, int color, int key, struct comm **out)
{
    return comm_split_by(comm, (struct split_entry){ .color = color, .key = key }, NULL, out);
}
