/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. The table of algorithms, and which one a call takes. All processes choose alike: by the operation, the
 * number of processes, and what they give alike. */
#include "coll/algorithms.h"

static const struct coll_algorithm
    barrier_dissemination = { "dissemination", coll_barrier_dissemination },
    bcast_binomial = { "binomial", coll_bcast_binomial },
    gather_linear = { "linear", coll_gather_linear },
    scatter_linear = { "linear", coll_scatter_linear },
    allgather_dissemination = { "dissemination", coll_allgather_dissemination },
    allgather_ring = { "ring", coll_allgather_ring },
    alltoall_pairs = { "pairs", coll_alltoall_pairs },
    alltoall_in_place = { "in_place", coll_alltoall_in_place },
    reduce_binomial = { "binomial", coll_reduce_binomial },
    allreduce_doubling = { "doubling", coll_allreduce_doubling },
    reduce_scatter_tree = { "tree", coll_reduce_scatter_tree },
    scan_doubling = { "doubling", coll_scan_doubling },
    neighbor_direct = { "direct", coll_neighbor_direct },
    inter = { "two_sides", coll_inter };

const struct coll_algorithm *coll_choose(const struct comm *comm, const struct coll_args *args)
{
    if (comm->is_inter)
        return &inter;
    switch (args->operation) {
    case COLL_BARRIER: return &barrier_dissemination;
    case COLL_BCAST: return &bcast_binomial;
    case COLL_GATHER:
    case COLL_GATHERV: return &gather_linear;
    case COLL_SCATTER:
    case COLL_SCATTERV: return &scatter_linear;
    case COLL_ALLGATHER: return &allgather_dissemination;
    case COLL_ALLGATHERV: return &allgather_ring;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW: return coll_is_in_place(args->send.buf) ? &alltoall_in_place : &alltoall_pairs;
    case COLL_REDUCE: return &reduce_binomial;
    case COLL_ALLREDUCE: return &allreduce_doubling;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: return &reduce_scatter_tree;
    case COLL_SCAN:
    case COLL_EXSCAN: return &scan_doubling;
    default: return &neighbor_direct;
    }
}
