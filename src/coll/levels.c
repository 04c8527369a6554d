/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Two-level algorithms: inside the nodes, and between nodes by one process of each, its leader. k is the
 * number of processes of the largest node, h that of nodes.
 *
 *   barrier    up in the node, dissemination between leaders, down: 2 log2 k + log2 h rounds
 *   bcast      binomial trees between the leaders, then in the nodes: log2 h + log2 k rounds of m bytes
 *   reduce     the same upwards. Operators that do not commute ask for nodes that are runs of ranks
 *   allreduce  up, doubling between leaders, down: 2 log2 k + log2 h (+ 2) rounds of m bytes
 *
 * Those that carry blocks: levels_blocks.c. */
#include "coll/levels.h"

#include <string.h>

/* Ranks sorted by nodes, stable: count, then place. */
static void sort_ranks(struct coll_levels *l, int size)
{
    memset(l->start, 0, ((size_t)l->nodes + 1) * sizeof *l->start);
    for (int rank = 0; rank < size; rank++)
        l->start[coll_levels_node(l, rank) + 1]++;
    for (int node = 0; node < l->nodes; node++)
        l->start[node + 1] += l->start[node];
    for (int rank = 0; rank < size; rank++)
        l->order[l->start[coll_levels_node(l, rank)]++] = rank;
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

bool coll_levels_of(struct sched *s, int root, struct coll_levels *l)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int own, first, *leaders;

    *l = (struct coll_levels){ .has_runs = true, .nodes = s->layout ? s->layout->nodes : 1 };
    l->node_of = s->layout ? s->layout->node_of : NULL;
    l->order = sched_bytes(s, (size_t)size * sizeof(int));
    l->start = sched_bytes(s, ((size_t)l->nodes + 1) * sizeof(int));
    leaders = sched_bytes(s, (size_t)l->nodes * sizeof(int));
    if (s->failed)
        return false;
    sort_ranks(l, size);
    for (int node = 0; node < l->nodes; node++)
        leaders[node] = l->order[l->start[node]];
    leaders[coll_levels_node(l, root)] = root;
    own = coll_levels_node(l, rank);
    first = l->start[own];
    l->is_leader = leaders[own] == rank;
    l->node = (struct coll_team){ .size = l->start[own + 1] - first, .ranks = l->order + first };
    l->node.first = place_in(l->node.ranks, l->node.size, leaders[own]);
    l->node.place = (place_in(l->node.ranks, l->node.size, rank) - l->node.first + l->node.size) % l->node.size;
    l->top = (struct coll_team){ .size = l->nodes, .first = coll_levels_node(l, root), .ranks = leaders };
    l->top.place = (own - l->top.first + l->nodes) % l->nodes;
    for (int i = 0; i < size; i++)
        l->has_runs &= l->order[i] == i;
    return true;
}

void coll_barrier_by(struct sched *s, coll_meet_fn *across)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    struct coll_levels l;
    int last;

    if (!coll_levels_of(s, 0, &l))
        return;
    last = coll_part_meet(s, &l.node, 2, LEVELS_UP, SCHED_NONE);
    if (l.is_leader)
        last = across(s, &l.top, last);
    coll_part_bcast(s, &l.node, nothing, 2, LEVELS_DOWN, last);
}

static int disseminate(struct sched *s, const struct coll_team *top, int after)
{
    return coll_part_disseminate(s, top, LEVELS_ACROSS, after);
}

void coll_barrier_levels(struct sched *s, const struct coll_args *args)
{
    (void)args;
    coll_barrier_by(s, disseminate);
}

void coll_bcast_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block block = coll_data_block(&args->send, 0);
    struct coll_levels l;
    int last = SCHED_NONE;

    if (!coll_levels_of(s, args->root, &l))
        return;
    if (l.is_leader)
        last = coll_part_bcast(s, &l.top, block, 2, LEVELS_ACROSS, last);
    coll_part_bcast(s, &l.node, block, 2, LEVELS_DOWN, last);
}

void coll_reduce_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int top = s->op->is_commutative ? args->root : 0, rank = s->comm->rank;
    struct coll_block value = result;
    struct coll_levels l;
    int last;

    if (!coll_levels_of(s, top, &l))
        return;
    if (l.is_leader && (rank != args->root || rank != top))
        value = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &l.node, own, value, LEVELS_UP, SCHED_NONE);
    if (l.is_leader)
        last = coll_part_reduce(s, &l.top, value, value, LEVELS_ACROSS, last);
    if (top == args->root)
        return;
    if (rank == top)
        sched_send(s, value, args->root, LEVELS_ON, AFTER(last));
    else if (rank == args->root)
        sched_recv(s, result, top, LEVELS_ON, AFTER(last));
}

void coll_allreduce_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    struct coll_levels l;
    int last;

    if (!coll_levels_of(s, 0, &l))
        return;
    last = coll_part_reduce(s, &l.node, own, result, LEVELS_UP, SCHED_NONE);
    if (l.is_leader)
        last = coll_part_allreduce(s, &l.top, result, LEVELS_ACROSS, last);
    coll_part_bcast(s, &l.node, result, 2, LEVELS_DOWN, last);
}
