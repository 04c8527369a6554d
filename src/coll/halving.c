/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Reductions in which partners share the work (Rabenseifner's): in each round both halve what they have,
 * each combines one half, and at the end each process has a part of the result. Since the first partners are
 * neighbours and the distance grows, operands stay in the order of ranks.
 *
 *   halving of MPI_Allreduce   the parts come back the same way: 2 log2 n rounds (+ 2 if n is no power of two), 2 m
 *                              bytes out of each process, m bytes combined, m bytes of temporary memory
 *   halving of MPI_Reduce      the parts go to the root: 2 log2 n rounds (+ 1), up to 2 m bytes out of a process, m
 *                              bytes combined, 2 m bytes of temporary memory, m at the root */
#include "coll/algorithms.h"

enum { MOST_FLOORS = 31, SUB_IN = 0, SUB_HALVE, SUB_BACK, SUB_OUT };

struct part {
    MPI_Count first, count;
};

/* What this process has after `floor` rounds. */
struct floors {
    struct part part[MOST_FLOORS];
    int count;
};

static struct coll_block piece(struct coll_block block, struct part part)
{
    return coll_part(block, part.first, part.count);
}

/* The half of `part` that process `place` keeps in the round of `bit`. */
static struct part half(struct part part, int place, int bit)
{
    const MPI_Count lower = part.count / 2;

    if (place & bit)
        return (struct part){ part.first + lower, part.count - lower };
    return (struct part){ part.first, lower };
}

static int halve(struct sched *s, const struct coll_fold *fold, struct coll_rooms *rooms, struct floors *floors,
                 int last)
{
    const int place = coll_fold_place(fold, s->comm->rank);
    struct part all = { 0, rooms->value.count };

    floors->count = 0;
    floors->part[0] = all;
    for (int bit = 1; bit < fold->places; bit += bit) {
        const int partner = place ^ bit, rank = coll_fold_rank(fold, partner);
        const struct part mine = half(all, place, bit), theirs = half(all, partner, bit);
        const int got = sched_recv(s, piece(rooms->other, mine), rank, SUB_HALVE, AFTER(last));
        const int out = sched_send(s, piece(rooms->value, theirs), rank, SUB_HALVE, AFTER(last));

        if (partner < place || s->op->is_commutative) {
            last = sched_reduce(s, piece(rooms->other, mine), piece(rooms->value, mine), AFTER(got, last));
        } else {
            const struct coll_block value = rooms->value;
            last = sched_reduce(s, piece(value, mine), piece(rooms->other, mine), AFTER(got, last));
            rooms->value = rooms->other;
            rooms->other = value;
        }
        last = sched_join(s, AFTER(last, out));
        floors->part[++floors->count] = all = mine;
    }
    return last;
}

/* Parts lie in `result` on both sides. */
static int bring_back(struct sched *s, const struct coll_fold *fold, struct coll_block result,
                      const struct floors *floors, int last)
{
    const int place = coll_fold_place(fold, s->comm->rank);

    for (int floor = floors->count - 1; floor >= 0; floor--) {
        const int partner = place ^ 1 << floor, rank = coll_fold_rank(fold, partner);
        const struct part theirs = half(floors->part[floor], partner, 1 << floor);

        sched_send(s, piece(result, floors->part[floor + 1]), rank, SUB_BACK, AFTER(last));
        last = sched_recv(s, piece(result, theirs), rank, SUB_BACK, AFTER(last));
    }
    return last;
}

void coll_allreduce_halving(struct sched *s, const struct coll_args *args)
{
    const struct coll_fold fold = coll_fold_of(s->comm->size, -1);
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank;
    struct coll_rooms rooms = { result, result };
    struct floors floors;
    int last = own.buf == result.buf ? SCHED_NONE : sched_copy(s, own, result, AT_ONCE);

    if (rank >= 2 * fold.pairs || rank % 2)
        rooms.other = sched_items(s, own.type, own.count);
    if (!coll_fold_in(s, &fold, &team, &rooms, SUB_IN, &last)) {
        sched_recv(s, result, rank + 1, SUB_OUT, AFTER(last));
        return;
    }
    last = halve(s, &fold, &rooms, &floors, last);
    if (rooms.value.buf != result.buf)
        last = sched_copy(s, piece(rooms.value, floors.part[floors.count]),
                          piece(result, floors.part[floors.count]), AFTER(last));
    last = bring_back(s, &fold, result, &floors, last);
    if (rank < 2 * fold.pairs)
        sched_send(s, result, rank - 1, SUB_OUT, AFTER(last));
}

/* A process sends what it has in the first round in which the way to the root leads to its partner. */
static int collect(struct sched *s, const struct coll_fold *fold, struct coll_block value, const struct floors *floors,
                   int root, int last)
{
    const int place = coll_fold_place(fold, s->comm->rank), top = coll_fold_place(fold, root);

    for (int floor = floors->count - 1; floor >= 0; floor--) {
        const int partner = place ^ 1 << floor, rank = coll_fold_rank(fold, partner);

        if ((place ^ top) >> floor & 1)
            return sched_send(s, piece(value, floors->part[floor + 1]), rank, SUB_BACK, AFTER(last));
        last = sched_recv(s, piece(value, half(floors->part[floor], partner, 1 << floor)), rank, SUB_BACK, AFTER(last));
    }
    return last;
}

void coll_reduce_halving(struct sched *s, const struct coll_args *args)
{
    const struct coll_fold fold = coll_fold_of(s->comm->size, args->root);
    const struct coll_team team = coll_team_all(s, 0);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank;
    const bool is_root = rank == args->root;
    struct coll_rooms rooms;
    struct floors floors;
    int last = SCHED_NONE;

    if (rank < 2 * fold.pairs && coll_fold_rank(&fold, rank / 2) != rank) {
        rooms.value = own;
        coll_fold_in(s, &fold, &team, &rooms, SUB_IN, &last);
        return;
    }
    rooms.value = is_root ? result : sched_items(s, own.type, own.count);
    rooms.other = sched_items(s, own.type, own.count);
    if (rooms.value.buf != own.buf)
        last = sched_copy(s, own, rooms.value, AT_ONCE);
    coll_fold_in(s, &fold, &team, &rooms, SUB_IN, &last);
    last = halve(s, &fold, &rooms, &floors, last);
    if (is_root && rooms.value.buf != result.buf) {
        last = sched_copy(s, piece(rooms.value, floors.part[floors.count]),
                          piece(result, floors.part[floors.count]), AFTER(last));
        rooms.value = result;
    }
    collect(s, &fold, rooms.value, &floors, args->root, last);
}
