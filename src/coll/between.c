/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Collective operations on intercommunicators (MPI 5.0 §6.2.3). Each side works together in its local
 * group where that saves messages to the other side; its rank 0 then speaks for it.
 *
 *   barrier, allreduce, reduce_scatter   local tree, exchange of the first processes, local tree (reduce_scatter: from
 *                                        the first one to each); 2 log2 n + 1 rounds, 2 (n + m) - 2 messages
 *   bcast, reduce                        root, first process of the other side, its local tree; as many messages as
 *                                        that side has processes, 1 + log2 of that one after the other
 *   the others                           a message from each that sends to each that receives, WINDOW at a time
 *
 * A process whose side has the root and is not it says MPI_PROC_NULL and has nothing to do. */
#include "coll/algorithms.h"

enum { WINDOW = 16 };

/* Numbers of messages between the sides; those of the local trees are in the other communicator. */
enum { TO_OTHER_SIDE = 0, UP = 0, DOWN = 1, HAND_OUT = 1 };

/* Between the first processes: `out` goes, `in` comes. Over when `in` is there. */
static int swap(struct sched *s, struct coll_block out, struct coll_block in, int after)
{
    sched_send(s, out, 0, TO_OTHER_SIDE, AFTER(after));
    return sched_recv(s, in, 0, TO_OTHER_SIDE, AT_ONCE);
}

static void barrier(struct sched *s)
{
    const struct coll_block nothing = { NULL, 0, obj_type(MPI_BYTE) };
    const struct coll_team side = coll_team_all(s, 0);
    int last = coll_part_meet(s, &side, 2, UP, SCHED_NONE);

    if (!side.place)
        last = sched_join(s, AFTER(last, swap(s, nothing, nothing, last)));
    coll_part_bcast(s, &side, nothing, 2, DOWN, last);
}

static void bcast(struct sched *s, const struct coll_args *args)
{
    const struct coll_block block = coll_data_block(&args->send, 0);
    const struct coll_team team = coll_team_all(s, 0);
    int last = SCHED_NONE;

    if (args->root == MPI_ROOT) {
        sched_send(s, block, 0, TO_OTHER_SIDE, AT_ONCE);
        return;
    }
    if (!s->comm->rank)
        last = sched_recv(s, block, args->root, TO_OTHER_SIDE, AT_ONCE);
    coll_part_bcast(s, &team, block, 2, DOWN, last);
}

static void gather(struct sched *s, const struct coll_args *args)
{
    if (args->root != MPI_ROOT) {
        sched_send(s, coll_data_block(&args->send, 0), args->root, TO_OTHER_SIDE, AT_ONCE);
        return;
    }
    for (int source = 0; source < s->comm->remote_size; source++)
        sched_recv(s, coll_data_block(&args->recv, source), source, TO_OTHER_SIDE, AT_ONCE);
}

static void scatter(struct sched *s, const struct coll_args *args)
{
    if (args->root != MPI_ROOT) {
        sched_recv(s, coll_data_block(&args->recv, 0), args->root, TO_OTHER_SIDE, AT_ONCE);
        return;
    }
    for (int dest = 0; dest < s->comm->remote_size; dest++)
        sched_send(s, coll_data_block(&args->send, dest), dest, TO_OTHER_SIDE, AT_ONCE);
}

/* The ranks of the two sides that deal with each other in one round have the same sum, modulo the larger size. */
static void all_to_all(struct sched *s, const struct coll_args *args, bool is_one)
{
    const int peers = s->comm->remote_size, rounds = peers > s->comm->size ? peers : s->comm->size;
    int over[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        over[i] = SCHED_NONE;
    for (int round = 0; round < rounds; round++) {
        const int peer = (round - s->comm->rank + rounds) % rounds;
        int *turn = &over[round % WINDOW], in, out;

        if (peer >= peers)
            continue;
        in = sched_recv(s, coll_data_block(&args->recv, peer), peer, TO_OTHER_SIDE, AFTER(*turn));
        out = sched_send(s, coll_data_block(&args->send, is_one ? 0 : peer), peer, TO_OTHER_SIDE, AFTER(*turn));
        *turn = sched_join(s, AFTER(in, out));
    }
}

static void reduce(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, args->send.buf);
    struct coll_block side = own;
    int last;

    if (args->root == MPI_ROOT) {
        sched_recv(s, coll_operand(args, args->recv.buf), 0, TO_OTHER_SIDE, AT_ONCE);
        return;
    }
    if (!s->comm->rank)
        side = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &team, own, side, UP, SCHED_NONE);
    if (!s->comm->rank)
        sched_send(s, side, args->root, TO_OTHER_SIDE, AFTER(last));
}

static void allreduce(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, args->send.buf), result = coll_operand(args, args->recv.buf);
    struct coll_block side = own;
    int last;

    if (!s->comm->rank)
        side = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &team, own, side, UP, SCHED_NONE);
    if (!s->comm->rank)
        last = swap(s, side, result, last);
    coll_part_bcast(s, &team, result, 2, DOWN, last);
}

/* Counts are those of the processes of this side; their sum is the same on both. */
static void reduce_scatter(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_numbers *counts = &args->recv.counts;
    const MPI_Count each = args->recv.count, count = counts->p ? coll_sum(&args->recv, size) : each * size;
    struct coll_block own = { args->send.buf, count, args->recv.type }, side = own, result = own;
    MPI_Count first = 0;
    int last;

    result.buf = args->recv.buf;
    result.count = counts->p ? coll_number(counts, rank) : each;
    if (!rank)
        side = sched_items(s, own.type, count);
    last = coll_part_reduce(s, &team, own, side, UP, SCHED_NONE);
    if (rank) {
        sched_recv_local(s, result, 0, HAND_OUT, AT_ONCE);
        return;
    }
    own = sched_items(s, own.type, count);
    last = swap(s, side, own, last);
    for (int dest = 0; dest < size; dest++) {
        const struct coll_block block = coll_part(own, first, counts->p ? coll_number(counts, dest) : each);

        first += block.count;
        if (dest)
            sched_send_local(s, block, dest, HAND_OUT, AFTER(last));
        else
            sched_copy(s, block, result, AFTER(last));
    }
}

void coll_inter(struct sched *s, const struct coll_args *args)
{
    if (args->root == MPI_PROC_NULL)
        return;
    switch (args->operation) {
    case COLL_BARRIER: barrier(s); break;
    case COLL_BCAST: bcast(s, args); break;
    case COLL_GATHER:
    case COLL_GATHERV: gather(s, args); break;
    case COLL_SCATTER:
    case COLL_SCATTERV: scatter(s, args); break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: all_to_all(s, args, true); break;
    case COLL_REDUCE: reduce(s, args); break;
    case COLL_ALLREDUCE: allreduce(s, args); break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: reduce_scatter(s, args); break;
    default: all_to_all(s, args, false);
    }
}
