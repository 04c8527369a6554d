/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce (MPI 5.0 §6.9.1).
 *
 *   binomial   a tree in which each process holds the result of a run of neighbouring ranks, so that the order of
 *              operands is kept; ceil(log2 n) rounds of m bytes, and of one combination. If the operator does not
 *              commute, the root of the tree is rank 0, and the result goes on from there */
#include "coll/algorithms.h"

/* What comes lies in one of two rooms in turn, and becomes the value there; the room of the value before is free
 * then. */
int coll_part_reduce(struct sched *s, struct coll_block own, struct coll_block result, int root)
{
    const int size = s->comm->size, place = (s->comm->rank - root + size) % size;
    const bool is_in_place = !place && own.buf == result.buf;
    struct coll_block value = own, room[2] = { { NULL, 0, NULL }, { NULL, 0, NULL } };
    int last = SCHED_NONE, round = 0, distance;

    if (!place)
        room[is_in_place] = result;
    for (distance = 1; distance < size && !(place & distance); distance += distance) {
        struct coll_block *in = &room[round % 2];
        int got;

        if (place + distance >= size)
            continue;
        if (!in->type)
            *in = sched_items(s, own.type, own.count);
        got = sched_recv_local(s, *in, (place + distance + root) % size, 0,
                               AFTER(round > 1 || is_in_place ? last : SCHED_NONE));
        last = sched_reduce(s, value, *in, AFTER(got, last));
        value = *in;
        round++;
    }
    if (place)
        sched_send_local(s, value, (place - distance + root) % size, 0, AFTER(last));
    else if (value.buf != result.buf)
        last = sched_copy(s, value, result, AFTER(last));
    return last;
}

void coll_reduce_binomial(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank, top = args->op->is_commutative ? args->root : 0;
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    struct coll_block at_top = result;
    int last;

    if (rank == top && rank != args->root)
        at_top = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, own, at_top, top);
    if (top == args->root)
        return;
    if (rank == top)
        sched_send(s, at_top, args->root, 1, AFTER(last));
    else if (rank == args->root)
        sched_recv(s, result, top, 1, AFTER(last));
}
