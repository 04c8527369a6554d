/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Scan and MPI_Exscan (MPI 5.0 §6.11).
 *
 *   doubling   in round k each process combines with the value of the process 2^k ranks before, which covers the 2^k
 *              ranks up to that one. ceil(log2 n) rounds of m bytes and one combination; exscan: one message more,
 *              by which the inclusive results move on by one rank
 *   chain:segment  in segments from each rank to the next, with its operand combined: n - 2 + m / segment rounds, m
 *              bytes out of each process and combined there */
#include "coll/algorithms.h"

/* `value` holds the operand and then the result, `in` takes what comes. */
static int double_up(struct sched *s, struct coll_block value, struct coll_block in, int last)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int sub = 0;

    for (int distance = 1; distance < size; distance += distance, sub++) {
        int out = SCHED_NONE;

        if (rank + distance < size)
            out = sched_send(s, value, rank + distance, sub, AFTER(last));
        if (rank >= distance)
            last = sched_reduce(s, in, value, AFTER(sched_recv(s, in, rank - distance, sub, AFTER(last)), out, last));
        else
            last = sched_join(s, AFTER(out, last));
    }
    return last;
}

void coll_scan_doubling(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank, size = s->comm->size;
    const bool is_exclusive = args->operation == COLL_EXSCAN;
    struct coll_block value = is_exclusive ? sched_items(s, own.type, own.count) : result;
    int last = value.buf == own.buf ? SCHED_NONE : sched_copy(s, own, value, AT_ONCE);

    last = double_up(s, value, sched_items(s, own.type, own.count), last);
    if (is_exclusive && rank + 1 < size)
        sched_send(s, value, rank + 1, SCHED_SUBS - 1, AFTER(last));
    if (is_exclusive && rank)
        sched_recv(s, result, rank - 1, SCHED_SUBS - 1, AFTER(last)); /* the operand may have lain there */
}

/* A segment of what this rank hands on is made in a room of its own, and what has come is the result of exscan. */
void coll_scan_chain(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank, size = s->comm->size, n = coll_segments(s, own);
    const bool is_exclusive = args->operation == COLL_EXSCAN;
    const MPI_Count most = coll_pieces(own, 0, 1, n).count;
    struct coll_block in[COLL_STREAM], sum[COLL_STREAM];
    int over[COLL_STREAM];

    for (int turn = 0; turn < COLL_STREAM; turn++) {
        over[turn] = SCHED_NONE;
        in[turn] = sched_items(s, own.type, turn < n ? most : 0);
        sum[turn] = sched_items(s, own.type, turn < n ? most : 0);
    }
    for (int i = 0; i < n; i++) {
        const struct coll_block mine = coll_pieces(own, i, i + 1, n), to = coll_pieces(result, i, i + 1, n);
        const int turn = i % COLL_STREAM;
        const struct coll_block come = coll_part(in[turn], 0, mine.count), value = coll_part(sum[turn], 0, mine.count);
        int last = sched_copy(s, mine, value, AFTER(over[turn])), kept = SCHED_NONE;

        if (rank)
            last = sched_reduce(s, come, value,
                                AFTER(last, sched_recv(s, come, rank - 1, turn, AFTER(over[turn]))));
        if (!is_exclusive)
            kept = sched_copy(s, value, to, AFTER(last));
        else if (rank)
            kept = sched_copy(s, come, to, AFTER(last));
        if (rank + 1 < size)
            last = sched_send(s, value, rank + 1, turn, AFTER(last));
        over[turn] = sched_join(s, AFTER(last, kept));
    }
}
