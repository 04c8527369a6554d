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

/* --- in segments --- */

struct chain {
    struct coll_block own, result;
    int segments;
    bool is_in_place, is_exclusive;
    struct coll_block room[COLL_STREAM]; /* for what comes, or goes on; no items where not needed */
};

/* In a scan what comes is combined into the operand's copy, in the place of the result; if the order does not matter,
 * the operand into what has come there, and neither a copy nor a room is needed. In an exclusive one what has come is
 * the result, and what goes on is made in a room. */
static bool takes_straight(const struct sched *s, const struct chain *c)
{
    return c->is_exclusive || (s->op->is_commutative && !c->is_in_place);
}

static bool needs_room(const struct sched *s, const struct chain *c)
{
    const int rank = s->comm->rank;

    return c->is_exclusive ? rank && rank + 1 < s->comm->size : rank && !takes_straight(s, c);
}

/* The result of segment `i`, and in *value what goes on; after `over`. */
static int link_inclusive(struct sched *s, const struct chain *c, int i, int over, struct coll_block *value)
{
    const struct coll_block mine = coll_pieces(c->own, i, i + 1, c->segments);
    const struct coll_block to = coll_pieces(c->result, i, i + 1, c->segments);
    const int left = s->comm->rank - 1, turn = i % COLL_STREAM;
    int kept = SCHED_NONE, got;

    *value = to;
    if (left >= 0 && takes_straight(s, c)) {
        got = sched_recv(s, to, left, turn, AFTER(over));
        return sched_reduce(s, mine, to, AFTER(got));
    }
    if (!c->is_in_place)
        kept = sched_copy(s, mine, to, AFTER(over));
    if (left < 0)
        return sched_join(s, AFTER(over, kept));
    got = sched_recv(s, coll_part(c->room[turn], 0, mine.count), left, turn, AFTER(over));
    return sched_reduce(s, coll_part(c->room[turn], 0, mine.count), to, AFTER(got, kept));
}

/* The last rank needs no operand. Where it lies in place, it is read before what comes is written there. */
static int link_exclusive(struct sched *s, const struct chain *c, int i, int over, struct coll_block *value)
{
    const struct coll_block mine = coll_pieces(c->own, i, i + 1, c->segments);
    const struct coll_block to = coll_pieces(c->result, i, i + 1, c->segments);
    const int left = s->comm->rank - 1, turn = i % COLL_STREAM;
    int kept, got;

    *value = mine;
    if (left < 0)
        return over;
    if (s->comm->rank + 1 == s->comm->size)
        return sched_recv(s, to, left, turn, AFTER(over));
    *value = coll_part(c->room[turn], 0, mine.count);
    kept = sched_copy(s, mine, *value, AFTER(over));
    got = sched_recv(s, to, left, turn, AFTER(over, c->is_in_place ? kept : SCHED_NONE));
    return sched_reduce(s, to, *value, AFTER(got, kept));
}

void coll_scan_chain(struct sched *s, const struct coll_args *args)
{
    struct chain c = { .own = coll_operand(args, coll_own(args)), .result = coll_operand(args, args->recv.buf),
                       .is_exclusive = args->operation == COLL_EXSCAN };
    int over[COLL_STREAM];

    c.segments = coll_segments(s, c.own);
    c.is_in_place = coll_is_in_place(args->send.buf);
    for (int turn = 0; turn < COLL_STREAM; turn++) {
        over[turn] = SCHED_NONE;
        if (needs_room(s, &c) && turn < c.segments)
            c.room[turn] = sched_items(s, c.own.type, coll_pieces(c.own, 0, 1, c.segments).count);
    }
    for (int i = 0; i < c.segments; i++) {
        int *last = &over[i % COLL_STREAM];
        struct coll_block value;

        *last = (c.is_exclusive ? link_exclusive : link_inclusive)(s, &c, i, *last, &value);
        if (s->comm->rank + 1 < s->comm->size)
            *last = sched_send(s, value, s->comm->rank + 1, i % COLL_STREAM, AFTER(*last));
    }
}
