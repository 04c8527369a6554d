/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allreduce (MPI 5.0 §6.9.6).
 *
 *   doubling   partners exchange their values and combine them in the order of ranks, both the same way round, so all
 *              results are equal to the bit. If the number of processes is no power of two, the first ones are taken
 *              together in pairs of neighbours, of which the odd one takes part; they count as one place. floor(log2
 *              n) rounds (+ 2) of m bytes and one combination */
#include "coll/algorithms.h"

/* Places in the exchange, a power of two, and how many of them stand for two ranks. */
struct doubling {
    int places;
    int pairs;
};

static struct doubling doubling_of(int size)
{
    struct doubling d = { 1, 0 };

    while (d.places <= size / 2)
        d.places += d.places;
    d.pairs = size - d.places;
    return d;
}

static int rank_at(const struct doubling *d, int place)
{
    return place < d->pairs ? 2 * place + 1 : place + d->pairs;
}

static int place_of(const struct doubling *d, int rank)
{
    return rank < 2 * d->pairs ? rank / 2 : rank - d->pairs;
}

/* The value lies in one of the two rooms; the other one takes what the partners send. */
static int double_up(struct sched *s, const struct doubling *d, struct coll_block *value, struct coll_block *other,
                     int last)
{
    const int place = place_of(d, s->comm->rank);
    int sub = 1;

    for (int bit = 1; bit < d->places; bit += bit, sub++) {
        const int partner = rank_at(d, place ^ bit);
        const int got = sched_recv(s, *other, partner, sub, AFTER(last));
        const int out = sched_send(s, *value, partner, sub, AFTER(last));

        if ((place ^ bit) < place) {
            last = sched_reduce(s, *other, *value, AFTER(got, out));
        } else {
            const struct coll_block free_room = *value;
            last = sched_join(s, AFTER(sched_reduce(s, *value, *other, AFTER(got)), out));
            *value = *other;
            *other = free_room;
        }
    }
    return last;
}

void coll_allreduce_doubling(struct sched *s, const struct coll_args *args)
{
    const struct doubling d = doubling_of(s->comm->size);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank;
    const bool is_paired = rank < 2 * d.pairs;
    struct coll_block value = result, other;
    int last;

    if (is_paired && rank % 2 == 0) { /* the neighbour stands for both */
        last = sched_send(s, own, rank + 1, 0, AT_ONCE);
        sched_recv(s, result, rank + 1, 0, AFTER(last));
        return;
    }
    last = own.buf == result.buf ? SCHED_NONE : sched_copy(s, own, result, AT_ONCE);
    if (s->comm->size == 1)
        return;
    other = sched_items(s, own.type, own.count);
    if (is_paired)
        last = sched_reduce(s, other, value, AFTER(sched_recv(s, other, rank - 1, 0, AT_ONCE), last));
    last = double_up(s, &d, &value, &other, last);
    if (is_paired)
        sched_send(s, value, rank - 1, 0, AFTER(last));
    if (value.buf != result.buf)
        sched_copy(s, value, result, AFTER(last));
}
