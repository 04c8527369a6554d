/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective call in its six forms, from one set of arguments: a function for each operation that takes the form.
 * Knows nothing of what the calls mean. */
#ifndef TESTS_COLL_CALLS_H
#define TESTS_COLL_CALLS_H

#include "mpitest.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, BLOCKING_C, NONBLOCKING_C, PERSISTENT_C, FORMS };

/* What an MPI function of one width takes. */
#define NUMBERS(COUNT, DISPL)                    \
    struct {                                     \
        COUNT sendcount, recvcount;              \
        const COUNT *sendcounts, *recvcounts;    \
        const DISPL *sdispls, *rdispls;          \
        const MPI_Aint *sdispls_aint, *rdispls_aint; \
    }

/* MPI_Bcast and the reductions take count and type from the receiving side. */
struct args {
    void *send, *recv;
    MPI_Datatype sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    NUMBERS(int, int) small;
    NUMBERS(MPI_Count, MPI_Aint) large;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Info info;
};

typedef int call_function(const struct args *a, enum form form, MPI_Request *request);

/* clang-format off */
#define BCAST(w) a->recv, a->w.recvcount, a->recvtype, a->root, a->comm
#define GATHER(w) \
    a->send, a->w.sendcount, a->sendtype, a->recv, a->w.recvcount, a->recvtype, a->root, a->comm
#define GATHERV(w) \
    a->send, a->w.sendcount, a->sendtype, a->recv, a->w.recvcounts, a->w.rdispls, a->recvtype, a->root, a->comm
#define SCATTER(w) GATHER(w)
#define SCATTERV(w) \
    a->send, a->w.sendcounts, a->w.sdispls, a->sendtype, a->recv, a->w.recvcount, a->recvtype, a->root, a->comm
#define ALLGATHER(w) \
    a->send, a->w.sendcount, a->sendtype, a->recv, a->w.recvcount, a->recvtype, a->comm
#define ALLGATHERV(w) \
    a->send, a->w.sendcount, a->sendtype, a->recv, a->w.recvcounts, a->w.rdispls, a->recvtype, a->comm
#define ALLTOALL(w) ALLGATHER(w)
#define ALLTOALLV(w)                                                                                \
    a->send, a->w.sendcounts, a->w.sdispls, a->sendtype, a->recv, a->w.recvcounts, a->w.rdispls, \
    a->recvtype, a->comm
#define ALLTOALLW(w)                                                                                 \
    a->send, a->w.sendcounts, a->w.sdispls, a->sendtypes, a->recv, a->w.recvcounts, a->w.rdispls, \
    a->recvtypes, a->comm
#define NEIGHBOR_W(w)                                                                                          \
    a->send, a->w.sendcounts, a->w.sdispls_aint, a->sendtypes, a->recv, a->w.recvcounts, a->w.rdispls_aint, \
    a->recvtypes, a->comm
#define REDUCE(w) a->send, a->recv, a->w.recvcount, a->recvtype, a->op, a->root, a->comm
#define ALLREDUCE(w) a->send, a->recv, a->w.recvcount, a->recvtype, a->op, a->comm
#define BLOCK(w) ALLREDUCE(w)
#define SCAN(w) ALLREDUCE(w)
#define REDUCE_SCATTER(w) a->send, a->recv, a->w.recvcounts, a->recvtype, a->op, a->comm

#if MPI_VERSION >= 4
#define CALLS_4(ARGS, INIT, BLOCKS_C, STARTS_C, INIT_C)            \
    case PERSISTENT: return INIT(ARGS(small), a->info, request);   \
    case BLOCKING_C: return BLOCKS_C(ARGS(large));                 \
    case NONBLOCKING_C: return STARTS_C(ARGS(large), request);     \
    case PERSISTENT_C: return INIT_C(ARGS(large), a->info, request);
#else
#define CALLS_4(ARGS, INIT, BLOCKS_C, STARTS_C, INIT_C)
#endif

#define CALLS(NAME, ARGS, BLOCKS, STARTS, INIT, BLOCKS_C, STARTS_C, INIT_C)                     \
    static int call_##NAME(const struct args *a, enum form form, MPI_Request *request)          \
    {                                                                                           \
        switch (form) {                                                                         \
        case BLOCKING: return BLOCKS(ARGS(small));                                              \
        case NONBLOCKING: return STARTS(ARGS(small), request);                                  \
        CALLS_4(ARGS, INIT, BLOCKS_C, STARTS_C, INIT_C)                                         \
        default: return MPI_ERR_UNSUPPORTED_OPERATION;                                          \
        }                                                                                       \
    }

CALLS(bcast, BCAST,
      MPI_Bcast, MPI_Ibcast, MPI_Bcast_init,
      MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c)
CALLS(gather, GATHER,
      MPI_Gather, MPI_Igather, MPI_Gather_init,
      MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c)
CALLS(gatherv, GATHERV,
      MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init,
      MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c)
CALLS(scatter, SCATTER,
      MPI_Scatter, MPI_Iscatter, MPI_Scatter_init,
      MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c)
CALLS(scatterv, SCATTERV,
      MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init,
      MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c)
CALLS(allgather, ALLGATHER,
      MPI_Allgather, MPI_Iallgather, MPI_Allgather_init,
      MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c)
CALLS(allgatherv, ALLGATHERV,
      MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init,
      MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c)
CALLS(alltoall, ALLTOALL,
      MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init,
      MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c)
CALLS(alltoallv, ALLTOALLV,
      MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init,
      MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c)
CALLS(alltoallw, ALLTOALLW,
      MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init,
      MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c)
CALLS(reduce, REDUCE,
      MPI_Reduce, MPI_Ireduce, MPI_Reduce_init,
      MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c)
CALLS(allreduce, ALLREDUCE,
      MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init,
      MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c)
CALLS(reduce_scatter_block, BLOCK,
      MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
      MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c)
CALLS(reduce_scatter, REDUCE_SCATTER,
      MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init,
      MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c)
CALLS(scan, SCAN,
      MPI_Scan, MPI_Iscan, MPI_Scan_init,
      MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c)
CALLS(exscan, SCAN,
      MPI_Exscan, MPI_Iexscan, MPI_Exscan_init,
      MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c)
CALLS(neighbor_allgather, ALLGATHER,
      MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init,
      MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c, MPI_Neighbor_allgather_init_c)
CALLS(neighbor_allgatherv, ALLGATHERV,
      MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init,
      MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c, MPI_Neighbor_allgatherv_init_c)
CALLS(neighbor_alltoall, ALLTOALL,
      MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
      MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c, MPI_Neighbor_alltoall_init_c)
CALLS(neighbor_alltoallv, ALLTOALLV,
      MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init,
      MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c, MPI_Neighbor_alltoallv_init_c)
CALLS(neighbor_alltoallw, NEIGHBOR_W,
      MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init,
      MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c)
/* clang-format on */

/* No counts, so no large ones. */
static int call_barrier(const struct args *a, enum form form, MPI_Request *request)
{
    if (form == BLOCKING || form == BLOCKING_C)
        return MPI_Barrier(a->comm);
#if MPI_VERSION >= 4
    if (form == PERSISTENT || form == PERSISTENT_C)
        return MPI_Barrier_init(a->comm, a->info, request);
#endif
    return MPI_Ibarrier(a->comm, request);
}

#endif
