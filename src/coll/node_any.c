/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, tests. See node_any.h. */
#include "coll/node_any.h"

#include "coll/short.h"

int any_short_calls;

/* The attempt if it is this call's turn and it has been one, else the other call. */
#define ANY(comm, attempt, otherwise)                                  \
    do {                                                               \
        const int rc = is_turn(comm) ? (attempt) : COLL_NOT_SHORT;     \
        if (rc == COLL_NOT_SHORT)                                      \
            return otherwise;                                          \
        any_short_calls++;                                             \
        return rc;                                                     \
    } while (0)

/* Differs from rank to rank. */
static bool is_turn(const struct comm *comm)
{
    static uint32_t state;

    state = state * 1664525 + 1013904223 + 97 * (uint32_t)comm->rank;
    return state >> 30 != 0;
}

int any_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root)
{
    ANY(comm, coll_short_bcast(comm, buf, count, type, root), node_bcast(comm, buf, count, type, root));
}

int any_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    if (recv->counts.width)
        ANY(comm, coll_short_gatherv(comm, send->buf, send->count, send->type, recv->buf, recv->counts.p,
                                     recv->displs.p, recv->type, root), node_gather(comm, send, recv, root));
    ANY(comm, coll_short_gather(comm, send->buf, send->count, send->type, recv->buf, recv->count, recv->type, root),
        node_gather(comm, send, recv, root));
}

int any_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    if (send->counts.width)
        ANY(comm, coll_short_scatterv(comm, send->buf, send->counts.p, send->displs.p, send->type, recv->buf,
                                      recv->count, recv->type, root), node_scatter(comm, send, recv, root));
    ANY(comm, coll_short_scatter(comm, send->buf, send->count, send->type, recv->buf, recv->count, recv->type, root),
        node_scatter(comm, send, recv, root));
}

int any_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    if (recv->counts.width)
        ANY(comm, coll_short_allgatherv(comm, send->buf, send->count, send->type, recv->buf, recv->counts.p,
                                        recv->displs.p, recv->type), node_allgather(comm, send, recv));
    ANY(comm, coll_short_allgather(comm, send->buf, send->count, send->type, recv->buf, recv->count, recv->type),
        node_allgather(comm, send, recv));
}

int any_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    if (recv->types)
        ANY(comm, coll_short_alltoallw(comm, send->buf, send->counts.p, send->displs.p, send->types, recv->buf,
                                       recv->counts.p, recv->displs.p, recv->types), node_alltoall(comm, send, recv));
    if (recv->counts.width)
        ANY(comm, coll_short_alltoallv(comm, send->buf, send->counts.p, send->displs.p, send->type, recv->buf,
                                       recv->counts.p, recv->displs.p, recv->type), node_alltoall(comm, send, recv));
    ANY(comm, coll_short_alltoall(comm, send->buf, send->count, send->type, recv->buf, recv->count, recv->type),
        node_alltoall(comm, send, recv));
}

static int short_reduction(struct comm *comm, enum coll_operation operation, const struct coll_args *args)
{
    const void *send = args->send.buf;
    void *recv = args->recv.buf;
    const MPI_Count count = args->recv.count;
    const struct type *type = args->recv.type;

    switch (operation) {
    case COLL_REDUCE: return coll_short_reduce(comm, send, recv, count, type, args->op, args->root);
    case COLL_ALLREDUCE: return coll_short_allreduce(comm, send, recv, count, type, args->op);
    case COLL_SCAN: return coll_short_scan(comm, send, recv, count, type, args->op);
    case COLL_EXSCAN: return coll_short_exscan(comm, send, recv, count, type, args->op);
    case COLL_REDUCE_SCATTER: return coll_short_reduce_scatter(comm, send, recv, args->recv.counts.p, type, args->op);
    default: return coll_short_reduce_scatter_block(comm, send, recv, count, type, args->op);
    }
}

static int node_reduction(struct comm *comm, enum coll_operation operation, const struct coll_args *args)
{
    switch (operation) {
    case COLL_REDUCE: return node_reduce(comm, args);
    case COLL_ALLREDUCE: return node_allreduce(comm, args);
    case COLL_SCAN: return node_scan(comm, args);
    case COLL_EXSCAN: return node_exscan(comm, args);
    default: return node_reduce_scatter(comm, args);
    }
}

int any_reduction(struct comm *comm, enum coll_operation operation, const struct coll_args *args)
{
    ANY(comm, short_reduction(comm, operation, args), node_reduction(comm, operation, args));
}
