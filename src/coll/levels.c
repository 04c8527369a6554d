/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Two-level algorithms: inside the nodes, and between nodes by one process of each, its leader. k is the
 * number of processes of the largest node, h that of nodes.
 *
 *   barrier    up in the node, dissemination between leaders, down: 2 log2 k + log2 h rounds
 *   bcast      binomial trees between the leaders, then in the nodes: log2 h + log2 k rounds of m bytes
 *   reduce     the same upwards. Operators that do not commute ask for nodes that are runs of ranks
 *   allreduce  up, doubling between leaders, down: 2 log2 k + log2 h (+ 2) rounds of m bytes
 *   allgather  blocks to the leader, nodes' blocks around between leaders, all of it down; h - 1 + log2 k + 1 rounds,
 *              n m bytes down each edge in the node, n m bytes of temporary memory
 *   alltoall   all to the leader, a message between each two leaders, and back: k n m bytes in and out of a leader, as
 *              much temporary memory three times, h + 1 rounds
 *
 * The leader is the root in its node, elsewhere the first of the node. */
#include <string.h>

#include "coll/algorithms.h"

enum { SUB_UP, SUB_ACROSS, SUB_DOWN, SUB_ON };

struct levels {
    struct coll_team node;   /* place 0 is the leader */
    struct coll_team top;    /* the leaders, by nodes; place 0 is that of the root's node */
    bool is_leader;
    int nodes;
    const int *node_of;      /* NULL: one node */
    int *order, *start;      /* ranks by nodes; where each node begins in that order */
};

static int node_of(const struct levels *l, int rank)
{
    return l->node_of ? l->node_of[rank] : 0;
}

/* Ranks sorted by nodes, stable: count, then place. */
static void sort_ranks(struct levels *l, int size)
{
    memset(l->start, 0, ((size_t)l->nodes + 1) * sizeof *l->start);
    for (int rank = 0; rank < size; rank++)
        l->start[node_of(l, rank) + 1]++;
    for (int node = 0; node < l->nodes; node++)
        l->start[node + 1] += l->start[node];
    for (int rank = 0; rank < size; rank++)
        l->order[l->start[node_of(l, rank)]++] = rank;
    memmove(l->start + 1, l->start, (size_t)l->nodes * sizeof *l->start);
    l->start[0] = 0;
}

static int place_in(const int *ranks, int size, int rank)
{
    int i = 0;

    while (i < size && ranks[i] != rank)
        i++;
    return i < size ? i : 0;
}

/* False without memory. */
static bool levels_of(struct sched *s, int root, struct levels *l)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int own, first, *leaders;

    *l = (struct levels){ .nodes = s->layout ? s->layout->nodes : 1 };
    l->node_of = s->layout ? s->layout->node_of : NULL;
    l->order = sched_bytes(s, (size_t)size * sizeof(int));
    l->start = sched_bytes(s, ((size_t)l->nodes + 1) * sizeof(int));
    leaders = sched_bytes(s, (size_t)l->nodes * sizeof(int));
    if (s->failed)
        return false;
    sort_ranks(l, size);
    for (int node = 0; node < l->nodes; node++)
        leaders[node] = l->order[l->start[node]];
    leaders[node_of(l, root)] = root;
    own = node_of(l, rank);
    first = l->start[own];
    l->is_leader = leaders[own] == rank;
    l->node = (struct coll_team){ .size = l->start[own + 1] - first, .ranks = l->order + first };
    l->node.first = place_in(l->node.ranks, l->node.size, leaders[own]);
    l->node.place = (place_in(l->node.ranks, l->node.size, rank) - l->node.first + l->node.size) % l->node.size;
    l->top = (struct coll_team){ .size = l->nodes, .first = node_of(l, root), .ranks = leaders };
    l->top.place = (own - l->top.first + l->nodes) % l->nodes;
    return true;
}

void coll_barrier_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    struct levels l;
    int last;

    (void)args;
    if (!levels_of(s, 0, &l))
        return;
    last = coll_part_meet(s, &l.node, 2, SUB_UP, SCHED_NONE);
    if (l.is_leader)
        last = coll_part_disseminate(s, &l.top, SUB_ACROSS, last);
    coll_part_bcast(s, &l.node, nothing, 2, SUB_DOWN, last);
}

void coll_bcast_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block block = coll_data_block(&args->send, 0);
    struct levels l;
    int last = SCHED_NONE;

    if (!levels_of(s, args->root, &l))
        return;
    if (l.is_leader)
        last = coll_part_bcast(s, &l.top, block, 2, SUB_ACROSS, last);
    coll_part_bcast(s, &l.node, block, 2, SUB_DOWN, last);
}

void coll_reduce_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int top = s->op->is_commutative ? args->root : 0, rank = s->comm->rank;
    struct coll_block value = result;
    struct levels l;
    int last;

    if (!levels_of(s, top, &l))
        return;
    if (l.is_leader && (rank != args->root || rank != top))
        value = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &l.node, own, value, SUB_UP, SCHED_NONE);
    if (l.is_leader)
        last = coll_part_reduce(s, &l.top, value, value, SUB_ACROSS, last);
    if (top == args->root)
        return;
    if (rank == top)
        sched_send(s, value, args->root, SUB_ON, AFTER(last));
    else if (rank == args->root)
        sched_recv(s, result, top, SUB_ON, AFTER(last));
}

void coll_allreduce_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    struct levels l;
    int last;

    if (!levels_of(s, 0, &l))
        return;
    last = coll_part_reduce(s, &l.node, own, result, SUB_UP, SCHED_NONE);
    if (l.is_leader)
        last = coll_part_allreduce(s, &l.top, result, SUB_ACROSS, last);
    coll_part_bcast(s, &l.node, result, 2, SUB_DOWN, last);
}

/* --- blocks, packed in the order of nodes --- */

static struct coll_block bytes_at(void *buf, size_t len, MPI_Count first, MPI_Count n)
{
    return coll_byte_block(coll_address(buf, (MPI_Count)len * first), len * (size_t)n);
}

/* Each leader's blocks to the next one, and on. */
static int ring(struct sched *s, const struct levels *l, void *all, size_t len, int after)
{
    const int n = l->nodes, place = l->top.place, left = (place - 1 + n) % n;
    int last = after;

    for (int round = 0; round < n - 1; round++) {
        const int out = (place - round + n) % n, in = (left - round + n) % n;

        coll_team_send(s, &l->top, bytes_at(all, len, l->start[out], l->start[out + 1] - l->start[out]),
                       (place + 1) % n, SUB_ACROSS, AFTER(last));
        last = coll_team_recv(s, &l->top, bytes_at(all, len, l->start[in], l->start[in + 1] - l->start[in]), left,
                              SUB_ACROSS, AFTER(last));
    }
    return last;
}

void coll_allgather_levels(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const bool is_in_place = coll_is_in_place(args->send.buf);
    const struct coll_block own = is_in_place ? coll_data_block(&args->recv, rank) : coll_data_block(&args->send, 0);
    const size_t len = coll_bytes(&own);
    struct levels l;
    void *all;
    int last;

    if (!levels_of(s, 0, &l))
        return;
    all = sched_bytes(s, len * (size_t)size);
    if (l.is_leader) {
        const int first = l.start[node_of(&l, rank)];

        last = sched_copy(s, own, bytes_at(all, len, first, 1), AT_ONCE);
        for (int i = 1; i < l.node.size; i++)
            last = sched_join(s, AFTER(last, coll_team_recv(s, &l.node, bytes_at(all, len, first + i, 1), i, SUB_UP,
                                                            AT_ONCE)));
        last = ring(s, &l, all, len, last);
    } else {
        last = coll_team_send(s, &l.node, own, 0, SUB_UP, AT_ONCE);
    }
    last = coll_part_bcast(s, &l.node, bytes_at(all, len, 0, size), 2, SUB_DOWN, last);
    for (int i = 0; i < size; i++) {
        if (l.order[i] != rank || !is_in_place)
            sched_copy(s, bytes_at(all, len, i, 1), coll_data_block(&args->recv, l.order[i]), AFTER(last));
    }
}

/* --- alltoall --- */

/* What a leader keeps: the blocks of its node by source and then destination; what goes to each node and what comes
 * from it, by sources and then destinations; at last by destinations, and then sources. */
struct bundle {
    const struct levels *l;
    size_t len;
    void *in, *across, *come;
    int k, n;            /* processes of this node; of all */
};

static int collect(struct sched *s, const struct bundle *b, struct coll_block own, int after)
{
    int last = sched_copy(s, own, bytes_at(b->in, b->len, 0, b->n), AFTER(after));

    for (int i = 1; i < b->k; i++)
        last = sched_join(s, AFTER(last, coll_team_recv(s, &b->l->node, bytes_at(b->in, b->len, (MPI_Count)i * b->n,
                                                                                 b->n), i, SUB_UP, AT_ONCE)));
    return last;
}

/* The blocks between this node and another one, which has `there` processes, begin at the k * start-th in both
 * buffers. */
static int cross(struct sched *s, const struct bundle *b, int node, int after)
{
    const struct levels *l = b->l;
    const int first = l->start[node], there = l->start[node + 1] - first;
    const int place = (node - l->top.first + l->nodes) % l->nodes;
    const MPI_Count at = (MPI_Count)b->k * first, all = (MPI_Count)b->k * there;
    int last = after;

    for (int i = 0; i < b->k; i++)
        last = sched_join(s, AFTER(last, sched_copy(s, bytes_at(b->in, b->len, (MPI_Count)i * b->n + first, there),
                                                    bytes_at(b->across, b->len, at + (MPI_Count)i * there, there),
                                                    AFTER(after))));
    if (place == l->top.place)
        return sched_copy(s, bytes_at(b->across, b->len, at, all), bytes_at(b->come, b->len, at, all), AFTER(last));
    coll_team_send(s, &l->top, bytes_at(b->across, b->len, at, all), place, SUB_ACROSS, AFTER(last));
    return sched_join(s, AFTER(last, coll_team_recv(s, &l->top, bytes_at(b->come, b->len, at, all), place, SUB_ACROSS,
                                                    AT_ONCE)));
}

/* The blocks for one process of the node to where they are sent from, in the order of their sources. */
static int sort_for(struct sched *s, const struct bundle *b, int i, int after)
{
    int last = after;

    for (int source = 0; source < b->n; source++)
        last = sched_join(s, AFTER(last, sched_copy(s, bytes_at(b->come, b->len, (MPI_Count)source * b->k + i, 1),
                                                    bytes_at(b->in, b->len, (MPI_Count)i * b->n + source, 1),
                                                    AFTER(after))));
    return last;
}

static int through_leader(struct sched *s, const struct levels *l, struct coll_block own, size_t len, int after)
{
    const int n = s->comm->size, k = l->node.size;
    const size_t room = len * (size_t)n * (size_t)k;
    struct bundle b = { .l = l, .len = len, .k = k, .n = n };
    int last, all, sorted;

    b.in = sched_bytes(s, room);
    b.across = sched_bytes(s, room);
    b.come = sched_bytes(s, room);
    last = all = collect(s, &b, own, after);
    for (int node = 0; node < l->nodes; node++)
        all = sched_join(s, AFTER(all, cross(s, &b, (node + l->top.place + l->top.first) % l->nodes, last)));
    for (int i = 1; i < k; i++)
        coll_team_send(s, &l->node, bytes_at(b.in, len, (MPI_Count)i * n, n), i, SUB_DOWN,
                       AFTER(sort_for(s, &b, i, all)));
    sorted = sort_for(s, &b, 0, all);
    return sched_copy(s, bytes_at(b.in, len, 0, n), own, AFTER(sorted));
}

void coll_alltoall_levels(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size;
    const struct coll_data *from = coll_is_in_place(args->send.buf) ? &args->recv : &args->send;
    const struct coll_block block = coll_data_block(&args->recv, 0);
    const size_t len = coll_bytes(&block);
    struct coll_block own;
    struct levels l;
    int last = SCHED_NONE;

    if (!levels_of(s, 0, &l))
        return;
    own = coll_byte_block(sched_bytes(s, len * (size_t)size), len * (size_t)size);
    for (int i = 0; i < size; i++)
        last = sched_join(s, AFTER(last, sched_copy(s, coll_data_block(from, l.order[i]), bytes_at(own.buf, len, i, 1),
                                                    AT_ONCE)));
    if (l.is_leader) {
        last = through_leader(s, &l, own, len, last);
    } else {
        last = coll_team_send(s, &l.node, own, 0, SUB_UP, AFTER(last));
        last = coll_team_recv(s, &l.node, own, 0, SUB_DOWN, AFTER(last));
    }
    for (int i = 0; i < size; i++)
        sched_copy(s, bytes_at(own.buf, len, i, 1), coll_data_block(&args->recv, l.order[i]), AFTER(last));
}
