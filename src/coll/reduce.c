/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce (MPI 5.0 §6.9.1). If the operator commutes, ranks are counted from the root, else from 0.
 *
 *   linear     the root gets all operands and combines them from the last rank to the first: n - 1 messages of m bytes,
 *              of which none waits for another, and as much temporary memory
 *   binomial   a tree in which each process holds the result of a run of neighbouring ranks, so that the order of
 *              operands is kept; ceil(log2 n) rounds of m bytes, and of one combination. If the operator does not
 *              commute, the root of the tree is rank 0, and the result goes on from there: one round more
 *   ordered    the same from rank 0, whatever the operator: the result does not depend on the root
 *   chain:segment      in segments from the last place to the first: n - 2 + m / segment rounds; m bytes out of each
 *              process and combined there. Little temporary memory
 *   pipelined:segment  in segments up a binary tree in which a process stands between its two subtrees: 2 (log2 n + m /
 *              segment) rounds, m bytes out of each process, 2 m combined in inner ones. Little temporary memory
 *   halving    halving.c
 *
 * In chain and pipelined, too, the result goes on if it comes out elsewhere than at the root. */
#include "coll/algorithms.h"

enum { SUB_UP = 0, SUB_ON = 2 * COLL_STREAM };

/* The result begins as the operand of the last rank. In place, the root's own is put by before that one comes. */
void coll_reduce_linear(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int rank = s->comm->rank, end = s->comm->size - 1;
    struct coll_block mine = own;
    int last = SCHED_NONE;

    if (rank != args->root) {
        sched_send(s, own, args->root, SUB_UP, AT_ONCE);
        return;
    }
    if (rank == end && !coll_is_in_place(args->send.buf))
        last = sched_copy(s, own, result, AT_ONCE);
    if (rank != end && coll_is_in_place(args->send.buf)) {
        mine = sched_items(s, own.type, own.count);
        last = sched_copy(s, own, mine, AT_ONCE);
    }
    if (rank != end)
        last = sched_recv(s, result, end, SUB_UP, AFTER(last));
    coll_part_collect(s, mine, result, SUB_UP, last);
}

static void from_tree(struct sched *s, const struct coll_args *args, int top)
{
    const int rank = s->comm->rank;
    const struct coll_team team = coll_team_all(s, top);
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    struct coll_block at_top = result;
    int last;

    if (rank == top && rank != args->root)
        at_top = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &team, own, at_top, SUB_UP, SCHED_NONE);
    if (top == args->root)
        return;
    if (rank == top)
        sched_send(s, at_top, args->root, SUB_ON, AFTER(last));
    else if (rank == args->root)
        sched_recv(s, result, top, SUB_ON, AFTER(last));
}

void coll_reduce_binomial(struct sched *s, const struct coll_args *args)
{
    from_tree(s, args, s->op->is_commutative ? args->root : 0);
}

void coll_reduce_ordered(struct sched *s, const struct coll_args *args)
{
    from_tree(s, args, 0);
}

/* --- pipelines --- */

/* A stream of segments through this process: operands from `left` (places before this one) and `right` (those after),
 * the results to `parent`; -1: none. At the top they stay, or go on to the root. */
struct stream {
    struct coll_team team;
    struct coll_block own, result;
    int left, right, parent, root;
    int segments;
    struct coll_block room[2][COLL_STREAM]; /* for what comes, and results */
    int over[COLL_STREAM];                  /* the last step that uses them */
};

static void open_stream(struct sched *s, const struct coll_args *args, struct stream *stream)
{
    stream->own = coll_operand(args, coll_own(args));
    stream->result = coll_operand(args, args->recv.buf);
    stream->root = args->root;
    stream->segments = coll_segments(s, stream->own);
    for (int turn = 0; turn < COLL_STREAM; turn++) {
        const struct coll_block largest = coll_pieces(stream->own, 0, 1, stream->segments);

        stream->over[turn] = SCHED_NONE;
        if ((stream->right >= 0 || stream->left >= 0) && turn < stream->segments)
            stream->room[0][turn] = sched_items(s, largest.type, largest.count);
        if (stream->left >= 0 && turn < stream->segments)
            stream->room[1][turn] = sched_items(s, largest.type, largest.count);
    }
}

/* As many items as a segment has, in a room. */
static struct coll_block room_for(const struct stream *stream, int which, int i)
{
    struct coll_block room = stream->room[which][i % COLL_STREAM];

    room.count = coll_pieces(stream->own, i, i + 1, stream->segments).count;
    return room;
}

/* Combine segment `i`. Returns where the result is, after *last: a room, or the operand itself. */
static struct coll_block combine(struct sched *s, struct stream *stream, int i, int *last)
{
    const int turn = i % COLL_STREAM, before = stream->over[turn];
    struct coll_block value = coll_pieces(stream->own, i, i + 1, stream->segments), in;
    int got;

    *last = before;
    if (stream->right >= 0) {
        in = room_for(stream, 0, i);
        got = coll_team_recv(s, &stream->team, in, stream->right, SUB_UP + turn, AFTER(before));
        *last = sched_reduce(s, value, in, AFTER(got));
        value = in;
    }
    if (stream->left >= 0) {
        in = room_for(stream, 1, i);
        got = coll_team_recv(s, &stream->team, in, stream->left, SUB_UP + turn, AFTER(before));
        if (stream->right < 0) { /* the operand must stay as it is */
            struct coll_block copy = in;
            copy.buf = stream->room[0][turn].buf;
            *last = sched_copy(s, value, copy, AFTER(before));
            value = copy;
        }
        *last = sched_reduce(s, in, value, AFTER(got, *last));
    }
    return value;
}

/* Once a segment of the operand is used, what comes back to the root may lie in its place. */
static void run_stream(struct sched *s, struct stream *stream, int top)
{
    const int rank = s->comm->rank;
    int come[COLL_STREAM] = { SCHED_NONE, SCHED_NONE, SCHED_NONE, SCHED_NONE };

    for (int i = 0; i < stream->segments; i++) {
        const struct coll_block to = coll_pieces(stream->result, i, i + 1, stream->segments);
        const int turn = i % COLL_STREAM;
        int last;
        const struct coll_block value = combine(s, stream, i, &last);

        if (rank != top)
            last = coll_team_send(s, &stream->team, value, stream->parent, SUB_UP + turn, AFTER(last));
        else if (rank != stream->root)
            last = sched_send(s, value, stream->root, SUB_ON + turn, AFTER(last));
        else if (value.buf != to.buf)
            last = sched_copy(s, value, to, AFTER(last));
        stream->over[turn] = last;
        if (rank == stream->root && rank != top)
            come[turn] = sched_recv(s, to, top, SUB_ON + turn, AFTER(last, come[turn]));
    }
}

void coll_reduce_chain(struct sched *s, const struct coll_args *args)
{
    struct stream stream = { .team = coll_team_all(s, s->op->is_commutative ? args->root : 0), .left = -1 };

    stream.parent = stream.team.place - 1;
    stream.right = stream.team.place + 1 < stream.team.size ? stream.team.place + 1 : -1;
    open_stream(s, args, &stream);
    run_stream(s, &stream, coll_team_rank(&stream.team, 0));
}

/* The middle of [from, to), the top of the tree of these places; -1 if there are none. */
static int middle(int from, int to)
{
    return from < to ? from + (to - from) / 2 : -1;
}

void coll_reduce_pipelined(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, top = size / 2;
    struct stream stream = { .team = coll_team_all(s, s->op->is_commutative ? (args->root - top + size) % size : 0) };
    const int place = stream.team.place;
    int from = 0, to = size, at;

    stream.parent = -1;
    while ((at = middle(from, to)) != place) {
        stream.parent = at;
        if (place < at)
            to = at;
        else
            from = at + 1;
    }
    stream.left = middle(from, place);
    stream.right = middle(place + 1, to);
    open_stream(s, args, &stream);
    run_stream(s, &stream, coll_team_rank(&stream.team, top));
}
