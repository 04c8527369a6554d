/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of every collective operation: which blocks a process gives, which it gets, and what must be in those. One
 * table of operations, one short function for each. Knows nothing of buffers and datatypes. */
#ifndef TESTS_COLL_PLAIN_H
#define TESTS_COLL_PLAIN_H

#include "calls.h"
#include "cells.h"
#include "places.h"

enum { MOST_BLOCKS = 48, MOST_CELLS = 12000 };

/* How the blocks of one side of a call are described to MPI. */
enum shape { NONE, ONE, SAME, VARYING, MIXED };

/* Where the cells of a block come from: those of `index` that processes first .. last of a side have, from `offset` on,
 * combined if there are several; last < first: the block stays what it was. */
struct origin {
    int side, first, last, index, offset;
};

/* One direction of a call in this process. */
struct blocks {
    bool is_used; /* else nothing that describes it is significant */
    int n;
    int cells[MOST_BLOCKS];
    struct origin from[MOST_BLOCKS];
};

struct operation;

/* A call as all processes know it, and what it means in this one. */
struct meaning {
    const struct operation *operation;
    const struct place *place;
    uint64_t key;      /* of the counts */
    uint64_t contents; /* key of them */
    enum kind kind;
    enum fold fold;
    int most;              /* cells of a block; all counts are multiples of `step` */
    int step;
    int root, root_side;   /* among the processes of that side */
    bool is_in_place;
    int total;             /* MPI_Reduce_scatter: cells of the operand */
    struct blocks give, get;
};

/* Cells that one process of a side gives to a destination in the forms with varying counts; often none. */
static inline int plain_length(const struct meaning *m, int side, int from, int to)
{
    const uint64_t random = test_mix(test_mix(m->key + (uint64_t)side * 7 + (uint64_t)from * 64) + (uint64_t)to);

    return random % 4 == 0 ? 0 : (int)(random / 4 % (uint64_t)(m->most + 1)) * m->step;
}

/* Cells of every block that comes from a side, in the forms with one count. */
static inline int plain_count(const struct meaning *m, int side)
{
    const int spread = m->place->kind == SIDES ? side : 0;

    return (m->most + spread * 3) * m->step;
}

static inline bool plain_is_root(const struct meaning *m)
{
    return m->place->side == m->root_side && m->place->rank == m->root;
}

/* Takes part on the side that the root is not on; in a group that is everybody. */
static inline bool plain_is_opposite(const struct meaning *m)
{
    return m->place->kind != SIDES || m->place->side != m->root_side;
}

static inline void plain_add(struct blocks *b, int cells, struct origin from)
{
    CHECK(b->n < MOST_BLOCKS, "room for %d blocks", MOST_BLOCKS);
    b->is_used = true;
    b->cells[b->n] = cells;
    b->from[b->n++] = from;
}

/* A block of this process's own contents. */
static inline void plain_give(struct meaning *m, int cells, int index)
{
    plain_add(&m->give, cells, (struct origin){ m->place->side, m->place->rank, m->place->rank, index, 0 });
}

static inline void plain_get(struct meaning *m, int cells, int from, int index)
{
    plain_add(&m->get, cells, (struct origin){ m->place->peer_side, from, from, index, 0 });
}

/* ---- operations without neighbours ----------------------------------------------------------------------- */

struct operation {
    const char *name;
    call_function *call;
    void (*plan)(struct meaning *m);
    enum shape give, get;
    bool has_root, is_fold, has_place; /* has_place: MPI_IN_PLACE is allowed */
    bool is_for_sides, is_for_neighbors;
};

static inline bool plain_varies(const struct meaning *m)
{
    return m->operation->give >= VARYING || m->operation->get >= VARYING;
}

static void plan_barrier(struct meaning *m)
{
    m->most = 0;
}

static void plan_bcast(struct meaning *m)
{
    const int cells = plain_count(m, m->root_side);

    if (plain_is_root(m))
        plain_give(m, cells, 0);
    else if (plain_is_opposite(m))
        plain_add(&m->get, cells, (struct origin){ m->root_side, m->root, m->root, 0, 0 });
}

static void plan_gather(struct meaning *m)
{
    const bool varies = plain_varies(m);
    const int side = m->place->side, peer = m->place->peer_side;
    int i;

    if (plain_is_opposite(m))
        plain_give(m, varies ? plain_length(m, side, m->place->rank, 0) : plain_count(m, side), 0);
    for (i = 0; plain_is_root(m) && i < m->place->peers; i++)
        plain_get(m, varies ? plain_length(m, peer, i, 0) : plain_count(m, peer), i, 0);
}

static void plan_scatter(struct meaning *m)
{
    const int cells = plain_count(m, m->root_side), rank = m->place->rank;
    int i;

    for (i = 0; plain_is_root(m) && i < m->place->peers; i++)
        plain_give(m, plain_varies(m) ? plain_length(m, m->root_side, 0, i) : cells, i);
    if (plain_is_opposite(m))
        plain_get(m, plain_varies(m) ? plain_length(m, m->root_side, 0, rank) : cells, m->root, rank);
}

static void plan_allgather(struct meaning *m)
{
    const bool varies = plain_varies(m);
    const int side = m->place->side, peer = m->place->peer_side;
    int i;

    plain_give(m, varies ? plain_length(m, side, m->place->rank, 0) : plain_count(m, side), 0);
    for (i = 0; i < m->place->peers; i++)
        plain_get(m, varies ? plain_length(m, peer, i, 0) : plain_count(m, peer), i, 0);
}

/* In place the two blocks of a pair are of one length. */
static inline int plain_exchanged(const struct meaning *m, int side, int from, int to)
{
    if (!plain_varies(m))
        return plain_count(m, side);
    if (m->is_in_place && from > to)
        return plain_length(m, side, to, from);
    return plain_length(m, side, from, to);
}

static void plan_alltoall(struct meaning *m)
{
    const int rank = m->place->rank;
    int i;

    for (i = 0; i < m->place->peers; i++) {
        plain_give(m, plain_exchanged(m, m->place->side, rank, i), i);
        plain_get(m, plain_exchanged(m, m->place->peer_side, i, rank), i, rank);
    }
}

static void plan_reduce(struct meaning *m)
{
    const int cells = m->most * m->step;

    if (plain_is_opposite(m))
        plain_give(m, cells, 0);
    if (plain_is_root(m))
        plain_add(&m->get, cells, (struct origin){ m->place->peer_side, 0, m->place->peers - 1, 0, 0 });
}

static void plan_allreduce(struct meaning *m)
{
    plain_give(m, m->most * m->step, 0);
    plain_add(&m->get, m->most * m->step, (struct origin){ m->place->peer_side, 0, m->place->peers - 1, 0, 0 });
}

/* Both sides of an intercommunicator have operands of one length. */
static void plan_block(struct meaning *m)
{
    const int cells = m->most * m->step * (m->place->kind == SIDES ? m->place->peers : 1);

    m->total = cells * m->place->size;
    plain_give(m, m->total, 0);
    plain_add(&m->get, cells,
              (struct origin){ m->place->peer_side, 0, m->place->peers - 1, 0, cells * m->place->rank });
}

/* Random parts of a whole: what is left over goes to the last process. */
static inline int plain_part(const struct meaning *m, int rank, int *before)
{
    int left = m->total, part = 0, i;

    for (i = 0; i <= rank; i++) {
        part = plain_length(m, m->place->side, i, 1);
        part = i == m->place->size - 1 || part > left ? left : part;
        left -= part;
    }
    *before = m->total - left - part;
    return part;
}

static void plan_reduce_scatter(struct meaning *m)
{
    int before, cells;

    m->total = m->most * m->step * 3;
    cells = plain_part(m, m->place->rank, &before);
    plain_give(m, m->total, 0);
    plain_add(&m->get, cells, (struct origin){ m->place->peer_side, 0, m->place->peers - 1, 0, before });
}

static void plan_scan(struct meaning *m)
{
    plain_give(m, m->most * m->step, 0);
    plain_add(&m->get, m->most * m->step, (struct origin){ 0, 0, m->place->rank, 0, 0 });
}

static void plan_exscan(struct meaning *m)
{
    plain_give(m, m->most * m->step, 0);
    plain_add(&m->get, m->most * m->step, (struct origin){ 0, 0, m->place->rank - 1, 0, 0 });
}

/* ---- neighbours ------------------------------------------------------------------------------------------ */

/* A block from a neighbour that is not there stays what it was. */
static inline void plain_get_edge(struct meaning *m, int edge, int cells, int index)
{
    const int from = m->place->in[edge];

    plain_add(&m->get, cells, (struct origin){ 0, from, from == MPI_PROC_NULL ? from - 1 : from, index, 0 });
}

static inline int plain_edge_length(const struct meaning *m, int from, int index)
{
    return plain_varies(m) ? plain_length(m, 0, from, index) : plain_count(m, 0);
}

static void plan_neighbor_allgather(struct meaning *m)
{
    int i;

    plain_give(m, plain_edge_length(m, m->place->rank, 0), 0);
    m->get.is_used = true;
    for (i = 0; i < m->place->ins; i++)
        plain_get_edge(m, i, plain_edge_length(m, m->place->in[i], 0), 0);
}

static void plan_neighbor_alltoall(struct meaning *m)
{
    int i;

    m->give.is_used = m->get.is_used = true;
    for (i = 0; i < m->place->outs; i++)
        plain_give(m, plain_edge_length(m, m->place->rank, i), i);
    for (i = 0; i < m->place->ins; i++)
        plain_get_edge(m, i, plain_edge_length(m, m->place->in[i], m->place->index[i]), m->place->index[i]);
}

/* ---- the table ------------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct operation operations[] = {
    /* name, call, model, given, got, root, fold, in place, for sides, for neighbours */
    { "Barrier", call_barrier, plan_barrier, NONE, NONE, false, false, false, true, false },
    { "Bcast", call_bcast, plan_bcast, ONE, ONE, true, false, false, true, false },
    { "Gather", call_gather, plan_gather, ONE, SAME, true, false, true, true, false },
    { "Gatherv", call_gatherv, plan_gather, ONE, VARYING, true, false, true, true, false },
    { "Scatter", call_scatter, plan_scatter, SAME, ONE, true, false, true, true, false },
    { "Scatterv", call_scatterv, plan_scatter, VARYING, ONE, true, false, true, true, false },
    { "Allgather", call_allgather, plan_allgather, ONE, SAME, false, false, true, true, false },
    { "Allgatherv", call_allgatherv, plan_allgather, ONE, VARYING, false, false, true, true, false },
    { "Alltoall", call_alltoall, plan_alltoall, SAME, SAME, false, false, true, true, false },
    { "Alltoallv", call_alltoallv, plan_alltoall, VARYING, VARYING, false, false, true, true, false },
    { "Alltoallw", call_alltoallw, plan_alltoall, MIXED, MIXED, false, false, true, true, false },
    { "Reduce", call_reduce, plan_reduce, ONE, ONE, true, true, true, true, false },
    { "Allreduce", call_allreduce, plan_allreduce, ONE, ONE, false, true, true, true, false },
    { "Reduce_scatter_block", call_reduce_scatter_block, plan_block, ONE, ONE, false, true, true, true, false },
    { "Reduce_scatter", call_reduce_scatter, plan_reduce_scatter, ONE, ONE, false, true, true, true, false },
    { "Scan", call_scan, plan_scan, ONE, ONE, false, true, true, false, false },
    { "Exscan", call_exscan, plan_exscan, ONE, ONE, false, true, true, false, false },
    { "Neighbor_allgather", call_neighbor_allgather, plan_neighbor_allgather,
      ONE, SAME, false, false, false, false, true },
    { "Neighbor_allgatherv", call_neighbor_allgatherv, plan_neighbor_allgather,
      ONE, VARYING, false, false, false, false, true },
    { "Neighbor_alltoall", call_neighbor_alltoall, plan_neighbor_alltoall,
      SAME, SAME, false, false, false, false, true },
    { "Neighbor_alltoallv", call_neighbor_alltoallv, plan_neighbor_alltoall,
      VARYING, VARYING, false, false, false, false, true },
    { "Neighbor_alltoallw", call_neighbor_alltoallw, plan_neighbor_alltoall,
      MIXED, MIXED, false, false, false, false, true },
};
/* clang-format on */
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static inline bool plain_allows(const struct operation *o, const struct place *p)
{
    switch (p->kind) {
    case NEIGHBORS: return o->is_for_neighbors;
    case SIDES: return o->is_for_sides;
    default: return !o->is_for_neighbors;
    }
}

/* One cell of a block that is given or got. False: nobody writes it. */
static inline bool plain_cell(const struct meaning *m, const struct origin *from, int cell, unsigned char *out)
{
    unsigned char next[CELL_BYTES];
    int rank;

    for (rank = from->first; rank <= from->last; rank++) {
        const uint64_t who = (uint64_t)from->side * 1000 + (uint64_t)rank;

        cell_make(m->kind, test_key(m->contents, who * 64 + (uint64_t)from->index, (uint64_t)(from->offset + cell)),
                  rank == from->first ? out : next);
        if (rank == from->first)
            continue;
        cell_fold(m->fold, out, next);
        memcpy(out, next, CELL_BYTES);
    }
    return from->last >= from->first;
}

#endif
