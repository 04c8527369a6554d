/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Short reductions through shared memory: see int_short.h. Operands are combined as in node_reduce.c, from
 * the last rank to the first. */
#include "coll/int_short.h"

/* The same call for all of them. */
struct reduction {
    enum coll_operation operation;
    const char *name;
    int root;           /* -1: none */
    int first, end;     /* whose operands go into this member's result; none: it has no result */
    int wakes;          /* NODE_WAKES_..., or a rank */
};

struct operands {
    const void *send;
    void *recv;
    MPI_Count count;    /* of an operand … */
    MPI_Count skip, own; /* … and of the result: so many items after so many others */
    const struct type *type;
    const struct op *op;
};

/* The operand of a member in the present round, in its line; the own one, if nothing is written there, where it is. */
static ALWAYS_INLINE const char *operand(const struct node_call *call, const struct operands *o, int rank)
{
    return rank == call->comm->rank && o->send != MPI_IN_PLACE ? o->send : short_place(call, rank);
}

static ALWAYS_INLINE void combine(const struct node_call *call, const struct reduction *r, const struct operands *o)
{
    const size_t at = type_bytes(o->type, o->skip), len = type_bytes(o->type, o->own);
    int rank = r->end - 1;

    if (!len)
        return;
    copy_bytes(o->recv, operand(call, o, rank) + at, len);
    while (--rank >= r->first)
        op_reduce(o->op, operand(call, o, rank) + at, o->recv, o->own, o->type);
}

static ALWAYS_INLINE int reduce(struct comm *comm, const struct reduction *r, const struct operands *o)
{
    const bool has_result = r->first < r->end;
    struct node_call call;
    size_t bytes;
    int rc = 0;

    if (!short_may(comm, r->operation) || o->send == o->recv || op_check(o->op, o->type) ||
        !short_is(o->send == MPI_IN_PLACE ? o->recv : o->send, o->count, o->type, SHELF_INLINE) ||
        (has_result && (uintptr_t)o->recv <= (uintptr_t)MPI_IN_PLACE))
        return COLL_NOT_SHORT;
    bytes = type_bytes(o->type, o->count); /* not before: between groups there need not be a type */
    copy_bytes(short_open(&call, comm, r->operation, r->name, r->root, bytes),
               o->send == MPI_IN_PLACE ? o->recv : o->send, bytes);
    short_post(&call);
    if (r->wakes == NODE_WAKES_ALL)
        node_wake_all(&call);
    else if (r->wakes >= 0)
        node_wake(&call, r->wakes);
    if (r->wakes == NODE_WAKES_LAST)
        rc = short_meet(&call);
    for (int rank = r->first; rank < r->end && r->wakes != NODE_WAKES_LAST && likely(!rc); rank++) {
        if (rank != comm->rank)
            rc = short_await(&call, rank);
    }
    if (has_result && likely(!rc))
        combine(&call, r, o);
    return rc;
}

int coll_short_reduce(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                      const struct op *op, int root)
{
    const bool is_root = comm->rank == root;

    return reduce(comm,
                  &(struct reduction){ COLL_REDUCE, "MPI_Reduce", root, 0, is_root ? comm->size : 0,
                                       is_root ? NODE_WAKES_NOBODY : root },
                  &(struct operands){ send, recv, count, 0, count, type, op });
}

int coll_short_allreduce(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                         const struct op *op)
{
    return reduce(comm,
                  &(struct reduction){ COLL_ALLREDUCE, "MPI_Allreduce", -1, 0, comm->size, NODE_WAKES_LAST },
                  &(struct operands){ send, recv, count, 0, count, type, op });
}

int coll_short_scan(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                    const struct op *op)
{
    return reduce(comm, &(struct reduction){ COLL_SCAN, "MPI_Scan", -1, 0, comm->rank + 1, NODE_WAKES_ALL },
                  &(struct operands){ send, recv, count, 0, count, type, op });
}

int coll_short_exscan(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                      const struct op *op)
{
    return reduce(comm, &(struct reduction){ COLL_EXSCAN, "MPI_Exscan", -1, 0, comm->rank, NODE_WAKES_ALL },
                  &(struct operands){ send, recv, count, 0, count, type, op });
}

int coll_short_reduce_scatter_block(struct comm *comm, const void *send, void *recv, MPI_Count count,
                                    const struct type *type, const struct op *op)
{
    if (send == MPI_IN_PLACE || !count)
        return COLL_NOT_SHORT;
    return reduce(comm,
                  &(struct reduction){ COLL_REDUCE_SCATTER_BLOCK, "MPI_Reduce_scatter_block", -1, 0, comm->size,
                                       NODE_WAKES_LAST },
                  &(struct operands){ send, recv, count * comm->size, comm->rank * count, count, type, op });
}

/* As in node_reduce.c, who has an empty block waits for nobody. */
int coll_short_reduce_scatter(struct comm *comm, const void *send, void *recv, const int *counts,
                              const struct type *type, const struct op *op)
{
    struct operands o = { send, recv, 0, 0, 0, type, op };
    struct reduction r = { COLL_REDUCE_SCATTER, "MPI_Reduce_scatter", -1, 0, 0, NODE_WAKES_LAST };
    int takers = 0, taker = 0;

    if (!counts || send == MPI_IN_PLACE)
        return COLL_NOT_SHORT;
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank == comm->rank)
            o.skip = o.count;
        o.count += counts[rank];
        if (counts[rank]) {
            takers++;
            taker = rank;
        }
    }
    o.own = counts[comm->rank];
    r.end = o.own ? comm->size : 0;
    if (takers == 1)
        r.wakes = o.own ? NODE_WAKES_NOBODY : taker;
    else if (takers < comm->size)
        r.wakes = takers ? NODE_WAKES_ALL : NODE_WAKES_NOBODY;
    return reduce(comm, &r, &o);
}
