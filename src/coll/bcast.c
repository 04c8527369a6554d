/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Bcast (MPI 5.0 §6.4). Places are ranks counted from the root.
 *
 *   tree:radix          a tree with up to radix - 1 children a floor; with 2 the binomial tree. n - 1 messages of m
 *                       bytes in ceil(log_radix n) rounds, of which the root has (radix - 1) messages each
 *   scatter_ring        pieces of m / n down a binomial tree, then each from left to right. ceil(log2 n) + n - 1
 *                       rounds, 2 m bytes out of each process; less what it has from the tree
 *   scatter_doubling    the same, but partners at growing distance swap what they have: 2 log2 n rounds, 2 m bytes. n a
 *                       power of two
 *   chain:segment       segments from each place to the next, n - 2 + m / segment rounds; m bytes out of each
 *   pipelined:segment   segments down a binary tree; 2 (log2 n + m / segment) rounds, 2 m bytes out of inner processes
 *   double_tree:segment each half of the vector in segments down a binary tree of its own, where who is inside one
 *                       tree is a leaf of the other: log2 n + m / segment rounds; m bytes out of each
 *
 * What travels in pieces travels as bytes, since types may differ between processes if only their signatures are the
 * same; where items are not in one run, they are packed into a temporary buffer of m bytes. */
#include "coll/algorithms.h"

enum { SUB_SCATTER, SUB_ALLGATHER };

void coll_bcast_tree(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);

    coll_part_bcast(s, &team, coll_data_block(&args->send, 0), (int)s->parameter, 0, SCHED_NONE);
}

/* --- scatter, then allgather --- */

/* How many pieces, from its own on, the tree brings to a place. */
static int pieces_of(const struct coll_team *team, int place)
{
    const int below = place ? place & -place : team->size;

    return below < team->size - place ? below : team->size - place;
}

static int scatter(struct sched *s, const struct coll_team *team, struct coll_block all, int after)
{
    const int place = team->place, size = team->size;
    int distance = 1, last = after;

    while (distance < size && !(place & distance))
        distance += distance;
    if (place)
        last = coll_team_recv(s, team, coll_pieces(all, place, place + pieces_of(team, place), size),
                              place - distance, SUB_SCATTER, AFTER(after));
    for (distance /= 2; distance > 0; distance /= 2) {
        const int below = place + distance;
        if (below < size)
            coll_team_send(s, team, coll_pieces(all, below, below + pieces_of(team, below), size), below,
                           SUB_SCATTER, AFTER(last));
    }
    return last;
}

/* In each round the piece that has come in the one before goes on, unless the next one has it from the tree. */
static int ring(struct sched *s, const struct coll_team *team, struct coll_block all, int after)
{
    const int place = team->place, size = team->size, right = (place + 1) % size, left = (place - 1 + size) % size;
    int last = after;

    for (int round = 0; round < size - 1; round++) {
        const int out = (place - round + size) % size, in = (left - round + size) % size;

        if ((out - right + size) % size >= pieces_of(team, right))
            coll_team_send(s, team, coll_pieces(all, out, out + 1, size), right, SUB_ALLGATHER, AFTER(last));
        if ((in - place + size) % size >= pieces_of(team, place))
            last = coll_team_recv(s, team, coll_pieces(all, in, in + 1, size), left, SUB_ALLGATHER, AFTER(last));
    }
    return last;
}

static int doubling(struct sched *s, const struct coll_team *team, struct coll_block all, int after)
{
    const int place = team->place, size = team->size;
    int last = after;

    for (int bit = 1; bit < size; bit += bit) {
        const int partner = place ^ bit, in = partner & -bit, out = place & -bit;
        int got = SCHED_NONE;

        if (place & (2 * bit - 1)) /* else the tree has brought it */
            got = coll_team_recv(s, team, coll_pieces(all, in, in + bit, size), partner, SUB_ALLGATHER, AFTER(last));
        if (partner & (2 * bit - 1))
            coll_team_send(s, team, coll_pieces(all, out, out + bit, size), partner, SUB_ALLGATHER, AFTER(last));
        last = sched_join(s, AFTER(last, got));
    }
    return last;
}

static void in_pieces(struct sched *s, const struct coll_args *args,
                      int (*allgather)(struct sched *, const struct coll_team *, struct coll_block, int))
{
    const struct coll_team team = coll_team_all(s, args->root);
    const struct coll_block block = coll_data_block(&args->send, 0);
    int last = SCHED_NONE;
    const struct coll_block bytes = coll_as_bytes(s, block, !team.place, &last);

    last = allgather(s, &team, bytes, scatter(s, &team, bytes, last));
    if (team.place)
        coll_from_bytes(s, bytes, block, last);
}

void coll_bcast_scatter_ring(struct sched *s, const struct coll_args *args)
{
    in_pieces(s, args, ring);
}

void coll_bcast_scatter_doubling(struct sched *s, const struct coll_args *args)
{
    in_pieces(s, args, doubling);
}

/* --- pipelines --- */

/* Where segments come from, and where they go to; -1: nowhere. */
struct edges {
    int parent, child[2];
};

/* Of a message the next COLL_STREAM-th one waits for, on both sides, so that those with one number keep their order. */
static int flow(struct sched *s, const struct coll_team *team, struct coll_block all, struct edges edges, int sub,
                int after)
{
    const int n = coll_segments(s, all);
    int in[COLL_STREAM], out[2][COLL_STREAM];

    for (int i = 0; i < COLL_STREAM; i++)
        in[i] = out[0][i] = out[1][i] = SCHED_NONE;
    for (int i = 0; i < n; i++) {
        const struct coll_block segment = coll_pieces(all, i, i + 1, n);
        const int turn = i % COLL_STREAM;

        if (edges.parent >= 0)
            in[turn] = coll_team_recv(s, team, segment, edges.parent, sub + turn, AFTER(after, in[turn]));
        for (int c = 0; c < 2; c++) {
            if (edges.child[c] >= 0)
                out[c][turn] = coll_team_send(s, team, segment, edges.child[c], sub + turn,
                                              AFTER(after, in[turn], out[c][turn]));
        }
    }
    for (int i = 0; i < COLL_STREAM; i++)
        after = sched_join(s, AFTER(after, in[i]));
    return after;
}

void coll_bcast_chain(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);
    const struct edges edges = { team.place - 1, { team.place + 1 < team.size ? team.place + 1 : -1, -1 } };
    const struct coll_block block = coll_data_block(&args->send, 0);
    int last = SCHED_NONE;
    const struct coll_block bytes = coll_as_bytes(s, block, !team.place, &last);

    last = flow(s, &team, bytes, edges, 0, last);
    if (team.place)
        coll_from_bytes(s, bytes, block, last);
}

/* Of node `i` among `n` in a tree with i's children at 2 i + 1 and 2 i + 2. */
static struct edges edges_of(int i, int n)
{
    struct edges edges = { i ? (i - 1) / 2 : -1, { -1, -1 } };

    for (int c = 0; c < 2; c++) {
        if (i < n / 2 && 2 * i + 1 + c < n)
            edges.child[c] = 2 * i + 1 + c;
    }
    return edges;
}

void coll_bcast_pipelined(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);
    const struct coll_block block = coll_data_block(&args->send, 0);
    int last = SCHED_NONE;
    const struct coll_block bytes = coll_as_bytes(s, block, !team.place, &last);

    last = flow(s, &team, bytes, edges_of(team.place, team.size), 0, last);
    if (team.place)
        coll_from_bytes(s, bytes, block, last);
}

/* Places 1 to n - 1 are the nodes of both trees, in the second one backwards, so that those with children in one are
 * among the last ones of the other; the root is above both. */
static struct edges edges_in(const struct coll_team *team, bool is_second)
{
    const int n = team->size - 1, shift = is_second ? team->size - 1 : 1, sign = is_second ? -1 : 1;
    struct edges edges = { -1, { n > 0 ? shift : -1, -1 } };

    if (!team->place)
        return edges;
    edges = edges_of((team->place - shift) * sign, n);
    edges.parent = edges.parent < 0 ? 0 : edges.parent * sign + shift;
    for (int c = 0; c < 2; c++) {
        if (edges.child[c] >= 0)
            edges.child[c] = edges.child[c] * sign + shift;
    }
    return edges;
}

void coll_bcast_double_tree(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);
    const struct coll_block block = coll_data_block(&args->send, 0);
    int last = SCHED_NONE, over[2];
    const struct coll_block bytes = coll_as_bytes(s, block, !team.place, &last);

    for (int half = 0; half < 2; half++)
        over[half] = flow(s, &team, coll_pieces(bytes, half, half + 1, 2), edges_in(&team, half), half * COLL_STREAM,
                          last);
    if (team.place)
        coll_from_bytes(s, bytes, block, sched_join(s, AFTER(over[0], over[1])));
}
