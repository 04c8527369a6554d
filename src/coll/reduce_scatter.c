/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce_scatter(_block) (MPI 5.0 §6.10); m is the size of all blocks together.
 *
 *   tree       reduce to rank 0, which hands out the blocks; log2 n rounds of m bytes, then n messages from rank 0,
 *              which keeps all of it for a while
 *   halving    partners at half the distance each time send each other the half that the other one needs: ceil(log2 n)
 *              rounds (+ 2 if n is no power of two) and m bytes out of each process, temporary memory for 2 m. For
 *              operators that commute
 *   linear     each gets all operands of its block, straight from all who have one, and combines them from the last
 *              rank to the first: n - 1 messages of a block, of which none waits for another, and as much temporary
 *              memory
 *   pairs      n - 1 rounds of one block: to the process at each distance the operand for it. (n - 1) / n m bytes out
 *              of each; operands of lower and of higher ranks are combined apart, so that the order is kept
 *   ring       n - 1 rounds of one block, which is combined on its way round to where it belongs; m bytes out of each.
 *              For operators that commute */
#include "coll/algorithms.h"

/* Where the blocks lie in the vector. */
struct blocks {
    const struct coll_args *args;
    struct coll_block all;  /* the operand of this process */
    MPI_Count *first;       /* of each block, and the end; NULL: all of one size, or no memory */
    MPI_Count most;         /* items in the largest one */
};

static struct blocks blocks_of(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size;
    struct blocks b = { .args = args, .most = args->recv.count };
    MPI_Count sum = 0;

    b.all = (struct coll_block){ (void *)(uintptr_t)coll_own(args), args->recv.count * size, args->recv.type };
    if (!args->recv.counts.p)
        return b;
    b.most = 0;
    b.first = sched_bytes(s, ((size_t)size + 1) * sizeof *b.first);
    for (int rank = 0; b.first && rank < size; rank++) {
        const MPI_Count count = coll_number(&args->recv.counts, rank);

        b.first[rank] = sum;
        sum += count;
        b.most = count > b.most ? count : b.most;
    }
    if (b.first)
        b.first[size] = sum;
    b.all.count = sum;
    return b;
}

static MPI_Count first_of(const struct blocks *b, int rank)
{
    return b->first ? b->first[rank] : b->args->recv.count * rank;
}

/* The blocks of ranks [from, to) in a vector like the operand. */
static struct coll_block blocks_at(const struct blocks *b, struct coll_block all, int from, int to)
{
    const MPI_Count first = first_of(b, from);

    return coll_part(all, first, first_of(b, to) - first);
}

static struct coll_block result_of(const struct blocks *b, int rank)
{
    struct coll_block result = blocks_at(b, b->all, rank, rank + 1);

    result.buf = b->args->recv.buf;
    return result;
}

void coll_reduce_scatter_tree(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct coll_team team = coll_team_all(s, 0);
    const struct blocks b = blocks_of(s, args);
    struct coll_block all = b.all;
    int last;

    if (!rank)
        all = sched_items(s, b.all.type, b.all.count);
    last = coll_part_reduce(s, &team, b.all, all, 0, SCHED_NONE);
    if (rank) {
        sched_recv(s, result_of(&b, rank), 0, 1, AFTER(last));
        return;
    }
    for (int dest = 0; dest < size; dest++) {
        const struct coll_block block = blocks_at(&b, all, dest, dest + 1);

        if (dest)
            sched_send(s, block, dest, 1, AFTER(last));
        else
            sched_copy(s, block, result_of(&b, rank), AFTER(last));
    }
}

/* --- halving --- */

enum { SUB_IN, SUB_HALVE, SUB_OUT };

/* The first of the ranks that a place stands for. */
static int first_rank(const struct coll_fold *fold, int place)
{
    return place < fold->pairs ? 2 * place : place + fold->pairs;
}

static int halve(struct sched *s, const struct blocks *b, const struct coll_fold *fold, const struct coll_rooms *rooms,
                 int last)
{
    const int place = coll_fold_place(fold, s->comm->rank);
    int from = 0;

    for (int bit = fold->places / 2; bit > 0; bit /= 2) {
        const int partner = coll_fold_rank(fold, place ^ bit), middle = first_rank(fold, from + bit);
        const int begin = first_rank(fold, from), end = first_rank(fold, from + 2 * bit);
        const bool is_upper = place & bit;
        const int keep[2] = { is_upper ? middle : begin, is_upper ? end : middle };
        const struct coll_block come = blocks_at(b, rooms->other, keep[0], keep[1]);
        const int got = sched_recv(s, come, partner, SUB_HALVE, AFTER(last));

        sched_send(s, blocks_at(b, rooms->value, is_upper ? begin : middle, is_upper ? middle : end), partner,
                   SUB_HALVE, AFTER(last));
        last = sched_reduce(s, come, blocks_at(b, rooms->value, keep[0], keep[1]), AFTER(got, last));
        from += is_upper ? bit : 0;
    }
    return last;
}

void coll_reduce_scatter_halving(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct coll_fold fold = coll_fold_of(size, -1);
    const struct coll_team team = coll_team_all(s, 0);
    const struct blocks b = blocks_of(s, args);
    struct coll_rooms rooms = { b.all, b.all };
    const bool is_paired = rank < 2 * fold.pairs;
    int last = SCHED_NONE;

    if (is_paired && rank % 2 == 0) {
        coll_fold_in(s, &fold, &team, &rooms, SUB_IN, &last);
        sched_recv(s, result_of(&b, rank), rank + 1, SUB_OUT, AFTER(last));
        return;
    }
    rooms.value = sched_items(s, b.all.type, b.all.count);
    rooms.other = sched_items(s, b.all.type, b.all.count);
    last = sched_copy(s, b.all, rooms.value, AT_ONCE);
    coll_fold_in(s, &fold, &team, &rooms, SUB_IN, &last);
    last = halve(s, &b, &fold, &rooms, last);
    if (is_paired)
        sched_send(s, blocks_at(&b, rooms.value, rank - 1, rank), rank - 1, SUB_OUT, AFTER(last));
    sched_copy(s, blocks_at(&b, rooms.value, rank, rank + 1), result_of(&b, rank), AFTER(last));
}

/* --- all blocks at once --- */

/* Nothing is sent to those who have an empty block. In place, the result lies where blocks for others are sent from. */
void coll_reduce_scatter_linear(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, end = size - 1;
    const bool is_in_place = coll_is_in_place(args->send.buf);
    const struct blocks b = blocks_of(s, args);
    const struct coll_block own = blocks_at(&b, b.all, rank, rank + 1);
    struct coll_block value = result_of(&b, rank);
    int last, sent = SCHED_NONE;

    for (int distance = 1; distance < size; distance++) {
        const int dest = (rank + distance) % size;
        const struct coll_block out = blocks_at(&b, b.all, dest, dest + 1);

        if (out.count)
            sent = sched_join(s, AFTER(sent, sched_send(s, out, dest, 0, AT_ONCE)));
    }
    if (!own.count)
        return;
    if (is_in_place)
        value = sched_items(s, own.type, own.count);
    last = rank == end ? sched_copy(s, own, value, AT_ONCE) : sched_recv(s, value, end, 0, AT_ONCE);
    last = coll_part_collect(s, own, value, 0, last);
    if (is_in_place)
        sched_copy(s, value, result_of(&b, rank), AFTER(last, sent));
}

/* --- a block a round --- */

/* Sources come downwards from the rank before this one, past 0, to the one after it: each goes in front of the value;
 * those of higher ranks make a value of their own. */
void coll_reduce_scatter_pairs(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct blocks b = blocks_of(s, args);
    const struct coll_block own = blocks_at(&b, b.all, rank, rank + 1);
    const struct coll_block lower = sched_items(s, own.type, own.count), in = sched_items(s, own.type, own.count);
    const struct coll_block upper = sched_items(s, own.type, own.count);
    int last = sched_copy(s, own, lower, AT_ONCE);

    for (int distance = 1; distance < size; distance++) {
        const int dest = (rank + distance) % size, source = (rank - distance + size) % size;
        const bool is_first = source == size - 1 && rank < size - 1;
        const int out = sched_send(s, blocks_at(&b, b.all, dest, dest + 1), dest, 0, AFTER(last));
        const int got = sched_recv(s, is_first ? upper : in, source, 0, AFTER(last));

        last = is_first ? got : sched_reduce(s, in, source < rank ? lower : upper, AFTER(got, last));
        last = sched_join(s, AFTER(last, out));
    }
    if (rank < size - 1)
        last = sched_reduce(s, lower, upper, AFTER(last));
    sched_copy(s, rank < size - 1 ? upper : lower, result_of(&b, rank), AFTER(last));
}

/* In round k comes what has been combined for the rank k + 2 before this one. */
void coll_reduce_scatter_ring(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, right = (rank + 1) % size, left = (rank - 1 + size) % size;
    const struct blocks b = blocks_of(s, args);
    const struct coll_block room[2] = { sched_items(s, b.all.type, b.most), sched_items(s, b.all.type, b.most) };
    struct coll_block value = blocks_at(&b, b.all, left, left + 1);
    int last = SCHED_NONE;

    for (int round = 0; round < size - 1; round++) {
        const int block = (left - 1 - round + 2 * size) % size;
        const struct coll_block own = blocks_at(&b, b.all, block, block + 1);
        const struct coll_block come = coll_part(room[round % 2], 0, own.count);
        const int got = sched_recv(s, come, left, 0, AFTER(last));
        const int out = sched_send(s, value, right, 0, AFTER(last));

        last = sched_join(s, AFTER(out, sched_reduce(s, own, come, AFTER(got))));
        value = come;
    }
    if (size > 1 || !coll_is_in_place(args->send.buf))
        sched_copy(s, value, result_of(&b, rank), AFTER(last));
}
