/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Scan and MPI_Exscan (MPI 5.0 §6.11).
 *
 *   doubling   in round k each process combines with the value of the process 2^k ranks before, which covers the 2^k
 *              ranks up to that one. ceil(log2 n) rounds of m bytes and one combination; exscan: one message more,
 *              by which the inclusive results move on by one rank */
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
