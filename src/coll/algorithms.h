/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. The algorithms: each adds the steps of one process to a schedule. What it costs stands at its
 * head; n is the number of processes, m the bytes of a block (of the whole vector in bcast, reduce, allreduce,
 * scan). Names, parameters and what each asks for: the table in algorithms.c. */
#ifndef COLL_ALGORITHMS_H
#define COLL_ALGORITHMS_H

#include "coll/int_call.h"

/* --- on intracommunicators --- */

coll_build_fn coll_barrier_dissemination, coll_barrier_tree, coll_barrier_levels;
coll_build_fn coll_bcast_tree, coll_bcast_scatter_ring, coll_bcast_scatter_doubling, coll_bcast_chain,
    coll_bcast_pipelined, coll_bcast_double_tree, coll_bcast_levels;
coll_build_fn coll_gather_linear, coll_gather_throttled, coll_gather_binomial, coll_gather_levels;
coll_build_fn coll_scatter_linear, coll_scatter_throttled, coll_scatter_binomial, coll_scatter_levels;
coll_build_fn coll_allgather_dissemination, coll_allgather_ring, coll_allgather_doubling, coll_allgather_neighbors,
    coll_allgather_packed, coll_allgather_levels;
coll_build_fn coll_alltoall_pairs, coll_alltoall_in_place, coll_alltoall_bruck, coll_alltoall_levels;
coll_build_fn coll_reduce_linear, coll_reduce_binomial, coll_reduce_ordered, coll_reduce_halving, coll_reduce_chain,
    coll_reduce_pipelined, coll_reduce_levels;
coll_build_fn coll_allreduce_doubling, coll_allreduce_halving, coll_allreduce_ring, coll_allreduce_reduce_bcast,
    coll_allreduce_levels;
coll_build_fn coll_reduce_scatter_linear, coll_reduce_scatter_tree, coll_reduce_scatter_halving,
    coll_reduce_scatter_pairs, coll_reduce_scatter_ring, coll_reduce_scatter_levels;
coll_build_fn coll_scan_doubling, coll_scan_chain, coll_scan_levels;
coll_build_fn coll_gather_vary_levels, coll_scatter_vary_levels, coll_alltoall_vary_levels;

/* --- on topologies and intercommunicators, for all operations --- */

coll_build_fn coll_neighbor_direct;
coll_build_fn coll_inter;

/* Is there a topology, and are there buffers for all neighbours? Errors: MPI_ERR_TOPOLOGY, MPI_ERR_BUFFER. */
int coll_neighbor_check(const struct comm *comm, const struct coll_args *args);

/* --- teams: processes that work together --- */

/* All of the communicator (of the local group of an intercommunicator), or those in a list. They have places from 0,
 * and go around: place 0 is number `first`. */
struct coll_team {
    int size, place;  /* of this process */
    int first;
    const int *ranks; /* NULL: number i is rank i */
};

static inline int coll_team_rank(const struct coll_team *team, int place)
{
    const int i = place < team->size - team->first ? place + team->first : place - (team->size - team->first);

    return team->ranks ? team->ranks[i] : i;
}

/* All, counted from rank `first`. */
struct coll_team coll_team_all(const struct sched *s, int first);

static inline int coll_team_send(struct sched *s, const struct coll_team *team, struct coll_block block, int place,
                                 int sub, const int *after)
{
    return sched_send_local(s, block, coll_team_rank(team, place), sub, after);
}

static inline int coll_team_recv(struct sched *s, const struct coll_team *team, struct coll_block block, int place,
                                 int sub, const int *after)
{
    return sched_recv_local(s, block, coll_team_rank(team, place), sub, after);
}

/* --- parts that several of them are made of. They return the step after which the result is there. A part uses one
 * `sub`, if nothing else is said; two parts that follow each other use different ones --- */

/* A block from place 0 to all, along a tree in which a process has up to radix - 1 children a floor. Comes after
 * `after`. */
int coll_part_bcast(struct sched *s, const struct coll_team *team, struct coll_block block, int radix, int sub,
                    int after);

/* Reduce `own` of all to `result` at place 0, operands in the order of places; `result` counts there only, and may be
 * where its own operand is. `own` is not changed elsewhere. `own` is there after `after`. */
int coll_part_reduce(struct sched *s, const struct coll_team *team, struct coll_block own, struct coll_block result,
                     int sub, int after);

/* All get the reduction of the operands in `value`, in the order of places; at all of them to the same bits. */
int coll_part_allreduce(struct sched *s, const struct coll_team *team, struct coll_block value, int sub, int after);

/* `value`, which holds the last rank's operand after `after`, becomes the result of all: each of the other ranks sends
 * its operand with number `sub`, and this rank's own is `own`. */
int coll_part_collect(struct sched *s, struct coll_block own, struct coll_block value, int sub, int after);

/* Over at place 0 when all have come, each after its `after`; elsewhere when those below have been told of. */
int coll_part_meet(struct sched *s, const struct coll_team *team, int radix, int sub, int after);

/* Over when all have come, each after its `after`; at every place. */
int coll_part_disseminate(struct sched *s, const struct coll_team *team, int sub, int after);

/* --- pieces of data --- */

/* Items [from, to) of the `n` pieces that a block is cut into, of nearly one length. */
struct coll_block coll_pieces(struct coll_block block, int from, int to, int n);

/* How many pieces of about `s->parameter` bytes; at least 1, not very many. */
int coll_segments(const struct sched *s, struct coll_block block);

/* The bytes of a block in one run: where they are, or in a temporary buffer. If it `is_filled` they are there after
 * *last, which is moved on. */
struct coll_block coll_as_bytes(struct sched *s, struct coll_block block, bool is_filled, int *last);
/* The way back, where the bytes have come from elsewhere after `last`. */
int coll_from_bytes(struct sched *s, struct coll_block bytes, struct coll_block block, int last);

static inline struct coll_block coll_byte_block(void *buf, size_t len)
{
    return (struct coll_block){ buf, (MPI_Count)len, obj_type(MPI_BYTE) };
}

/* Neighbouring blocks of COLL_SAME from that of rank `first` on, around the end: one or two messages. */
struct coll_range {
    int parts;
    struct coll_block part[2];
};

struct coll_range coll_range_around(const struct coll_data *data, int first, int n, int size);

/* Processes in an exchange of partners, which must be a power of two: if there are more, the first ones are taken
 * together in pairs of neighbours, of which one stands for both. */
struct coll_fold {
    int places;
    int pairs;
    int even; /* the one even process that stands for its pair; -1: all odd ones do */
};

struct coll_fold coll_fold_of(int size, int even);
int coll_fold_rank(const struct coll_fold *fold, int place);
int coll_fold_place(const struct coll_fold *fold, int rank);

/* Where a value lies, and another room of the same size. */
struct coll_rooms {
    struct coll_block value, other;
};

/* `rooms->value` becomes what both in the pair have combined, in order. Is this process still in it? Else the
 * value was sent to the other one, after which *last stands. */
bool coll_fold_in(struct sched *s, const struct coll_fold *fold, const struct coll_team *team,
                  struct coll_rooms *rooms, int sub, int *last);

/* How many pipelined messages to or from one process may be under way; as many numbers does each stream take. */
enum { COLL_STREAM = 4 };

#endif
