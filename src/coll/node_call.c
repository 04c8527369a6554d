/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Which blocking calls go through shared memory. Knows: what node.h says, names. */
#include "coll/int_call.h"
#include "coll/node.h"

static bool try_reduction(struct comm *comm, const struct coll_args *args, int *rc)
{
    if (args->operation == COLL_REDUCE_SCATTER || args->operation == COLL_REDUCE_SCATTER_BLOCK) {
        if (!node_may_reduce_scatter(comm, args))
            return false;
        *rc = node_reduce_scatter(comm, args);
        return true;
    }
    if (!node_may_reduce(comm, args))
        return false;
    switch (args->operation) {
    case COLL_REDUCE: *rc = node_reduce(comm, args); break;
    case COLL_ALLREDUCE: *rc = node_allreduce(comm, args); break;
    case COLL_SCAN: *rc = node_scan(comm, args); break;
    default: *rc = node_exscan(comm, args);
    }
    return true;
}

static bool try_blocks(struct comm *comm, const struct coll_args *args, int *rc)
{
    const struct coll_data *send = &args->send, *recv = &args->recv;

    if (args->operation == COLL_BARRIER || !node_may_vary(comm))
        return false;
    if (args->operation > COLL_ALLTOALLW)
        return node_neighbors(comm, args, rc);
    switch (args->operation) {
    case COLL_GATHER:
    case COLL_GATHERV: *rc = node_gather(comm, send, recv, args->root); break;
    case COLL_SCATTER:
    case COLL_SCATTERV: *rc = node_scatter(comm, send, recv, args->root); break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: *rc = node_allgather(comm, send, recv); break;
    default: *rc = node_alltoall(comm, send, recv);
    }
    return true;
}

bool node_try(struct comm *comm, const struct coll_args *args, int *rc)
{
    const struct coll_data *send = &args->send;

    if (unlikely(comm->is_inter))
        return false;
    if (unlikely(!comm->shelf.number)) /* members are about to ask each other for one */
        comm->coll_call = coll_name(args->operation, COLL_BLOCKING);
    if (args->op)
        return try_reduction(comm, args, rc);
    if (args->operation != COLL_BCAST)
        return try_blocks(comm, args, rc);
    if (!node_may(comm, type_bytes(send->type, send->count)))
        return false;
    *rc = node_bcast(comm, send->buf, send->count, send->type, args->root);
    return true;
}
