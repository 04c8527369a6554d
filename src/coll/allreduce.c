/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allreduce (MPI 5.0 §6.9.6). All results are equal to the bit: each item is either combined at one
 * process, or in the same order by all.
 *
 *   doubling   partners exchange their values and combine them in the order of ranks, both the same way round. If the
 *              number of processes is no power of two, the first ones are taken together in pairs of neighbours, of
 *              which the odd one takes part. floor(log2 n) rounds (+ 2) of m bytes and one combination
 *   halving    halving.c
 *   ring       pieces of m / n go round and are combined on the way, then go round once more: 2 (n - 1) rounds of m / n
 *              bytes. Combines each piece in another order: for operators that commute
 *   reduce_bcast  up a binomial tree to rank 0 and down again: 2 ceil(log2 n) rounds of m bytes */
#include "coll/algorithms.h"

static int begin(struct sched *s, struct coll_block own, struct coll_block result)
{
    return own.buf == result.buf ? SCHED_NONE : sched_copy(s, own, result, AT_ONCE);
}

void coll_allreduce_doubling(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);

    coll_part_allreduce(s, &team, result, 0, begin(s, own, result));
}

void coll_allreduce_reduce_bcast(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);

    coll_part_bcast(s, &team, result, 2, 1, coll_part_reduce(s, &team, own, result, 0, SCHED_NONE));
}

/* In round k of the first turn piece rank - k goes on, and rank - 1 - k comes. */
void coll_allreduce_ring(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, right = (rank + 1) % size, left = (rank - 1 + size) % size;
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const struct coll_block largest = coll_pieces(own, 0, 1, size);
    const struct coll_block room = size > 1 ? sched_items(s, own.type, largest.count) : largest;
    int last = begin(s, own, result);

    for (int round = 0; round < size - 1; round++) {
        const int out = (rank - round + size) % size, in = (left - round + size) % size;
        const struct coll_block piece = coll_pieces(result, in, in + 1, size), come = coll_part(room, 0, piece.count);
        const int got = sched_recv(s, come, left, 0, AFTER(last));
        const int gone = sched_send(s, coll_pieces(result, out, out + 1, size), right, 0, AFTER(last));

        last = sched_join(s, AFTER(gone, sched_reduce(s, come, piece, AFTER(got))));
    }
    for (int round = 0; round < size - 1; round++) {
        const int out = (right - round + size) % size, in = (rank - round + size) % size;

        sched_send(s, coll_pieces(result, out, out + 1, size), right, 1, AFTER(last));
        last = sched_recv(s, coll_pieces(result, in, in + 1, size), left, 1, AFTER(last));
    }
}
