/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. The algorithms: each adds the steps of one process to a schedule. What it costs stands at its
 * head; n is the number of processes, m the bytes of a block (of the whole vector in bcast, reduce, allreduce,
 * scan). */
#ifndef COLL_ALGORITHMS_H
#define COLL_ALGORITHMS_H

#include "coll/int_call.h"

typedef void coll_build_fn(struct sched *s, const struct coll_args *args);

/* --- on intracommunicators --- */

coll_build_fn coll_barrier_dissemination;
coll_build_fn coll_bcast_binomial;
coll_build_fn coll_gather_linear, coll_scatter_linear;
coll_build_fn coll_allgather_dissemination, coll_allgather_ring;
coll_build_fn coll_alltoall_pairs, coll_alltoall_in_place;
coll_build_fn coll_reduce_binomial;
coll_build_fn coll_allreduce_doubling;
coll_build_fn coll_reduce_scatter_tree;
coll_build_fn coll_scan_doubling;

/* --- on topologies and intercommunicators, for all operations --- */

coll_build_fn coll_neighbor_direct;
coll_build_fn coll_inter;

/* Is there a topology, and are there buffers for all neighbours? Errors: MPI_ERR_TOPOLOGY, MPI_ERR_BUFFER. */
int coll_neighbor_check(const struct comm *comm, const struct coll_args *args);

/* --- parts that several of them are made of. They return the step after which the result is there --- */

/* A block from the process at place 0 to those at places up to `size` - 1, along a binomial tree; process r of the
 * communicator, or of the local group of an intercommunicator, is at place (r - root + size) % size. Comes after
 * `after`. */
int coll_part_bcast(struct sched *s, struct coll_block block, int root, int after);

/* Reduce `own` of all to `result` at `root`, operands in the order of ranks counted from `root`; `result` counts there
 * only, and may be where its own operand is. `own` is not changed elsewhere. In the local group of an
 * intercommunicator. */
int coll_part_reduce(struct sched *s, struct coll_block own, struct coll_block result, int root);

#endif
