/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of the model test, with what a process must know of each to say what comes from where: groups of
 * several shapes, intercommunicators of two unequal sides, topologies with edges missing, doubled and to oneself. */
#ifndef TESTS_COLL_PLACES_H
#define TESTS_COLL_PLACES_H

#include "mpitest.h"

#include <stdbool.h>

enum { MOST_EDGES = 48, MOST_PLACES = 24 };
enum place_kind { GROUP, SIDES, NEIGHBORS };

struct place {
    const char *name;
    enum place_kind kind;
    MPI_Comm comm;          /* MPI_COMM_NULL: this process is not in it */
    int rank, size;         /* in the own group */
    int peers;              /* processes that data comes from: the own group, or the other side */
    int side, peer_side;    /* 0 or 1 */
    int ins, outs;          /* edges */
    int in[MOST_EDGES];     /* where the i-th edge comes from; MPI_PROC_NULL: from nowhere */
    int index[MOST_EDGES];  /* which outgoing edge it is there */
    int out[MOST_EDGES];
};

static struct place places[MOST_PLACES];
static int place_count;

/* `is_local`: made by each process alone, so the others do not count it. */
static inline struct place *place_add(const char *name, enum place_kind kind, MPI_Comm comm)
{
    struct place *p = &places[place_count++];

    CHECK(place_count <= MOST_PLACES, "room for %d communicators", MOST_PLACES);
    memset(p, 0, sizeof *p);
    p->name = name;
    p->kind = kind;
    p->comm = comm;
    if (comm == MPI_COMM_NULL)
        return p;
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_rank(comm, &p->rank));
    CHECK_OK(MPI_Comm_size(comm, &p->size));
    p->peers = p->size;
    return p;
}

static inline void places_groups(void)
{
    MPI_Comm comm;

    place_add("world", GROUP, MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    place_add("dup", GROUP, comm);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &comm));
    place_add("reversed", GROUP, comm);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &comm));
    place_add("reversed half", GROUP, comm);
    place_add("self", GROUP, MPI_COMM_SELF);
}

/* ---- intercommunicators ---------------------------------------------------------------------------------- */

/* Side 0 has the ranks for which `is_first`; its leader is `leader`, that of the other side `other`. */
static inline void place_sides(const char *name, bool is_first, int leader, int other)
{
    MPI_Comm side, comm;
    struct place *p;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, !is_first, test_rank, &side));
    CHECK_OK(MPI_Intercomm_create(side, is_first ? leader : other - leader - 1, MPI_COMM_WORLD,
                                  is_first ? other : leader, 7, &comm));
    CHECK_OK(MPI_Comm_free(&side));
    p = place_add(name, SIDES, comm);
    p->side = !is_first;
    p->peer_side = is_first;
    CHECK_OK(MPI_Comm_remote_size(comm, &p->peers));
}

/* One process against all others, and about a third against two thirds; with two processes they are the same. */
static inline void places_sides(void)
{
    const int third = (test_size + 2) / 3;

    place_sides("one against all others", test_rank == 0, 0, test_size - 1);
    if (test_size > 2)
        place_sides("a third against two", test_rank < third, third - 1, third);
}

/* ---- topologies ------------------------------------------------------------------------------------------ */

/* The k-th edge from one process to another is the k-th that this one has from that one. `all` has MOST_EDGES of
 * outgoing edges for each process. */
static inline void place_match_edges(struct place *p, const int *all)
{
    int i, j, nth;

    for (i = 0; i < p->ins; i++) {
        if (p->in[i] == MPI_PROC_NULL)
            continue;
        for (j = nth = 0; j < i; j++)
            nth += p->in[j] == p->in[i];
        for (j = 0; j < MOST_EDGES; j++)
            if (all[p->in[i] * MOST_EDGES + j] == p->rank && nth-- == 0)
                break;
        CHECK(j < MOST_EDGES, "%s: no edge from %d to %d is left", p->name, p->in[i], p->rank);
        p->index[i] = j;
    }
}

static inline void place_find_edges(struct place *p)
{
    int *all = test_alloc(sizeof(int) * MOST_EDGES * (size_t)p->size), i;

    for (i = p->outs; i < MOST_EDGES; i++)
        p->out[i] = MPI_PROC_NULL;
    CHECK_OK(MPI_Allgather(p->out, MOST_EDGES, MPI_INT, all, MOST_EDGES, MPI_INT, p->comm));
    place_match_edges(p, all);
    free(all);
}

/* What is sent in one direction comes from the other, also where both neighbours are one process (MPI 5.0 §8.6). */
static inline void place_grid(const char *name, int dims, const int *sizes, const int *periods)
{
    MPI_Comm comm;
    struct place *p;
    int d;

    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dims, sizes, periods, 0, &comm));
    p = place_add(name, NEIGHBORS, comm);
    if (comm == MPI_COMM_NULL)
        return;
    p->ins = p->outs = 2 * dims;
    for (d = 0; d < dims; d++) {
        CHECK_OK(MPI_Cart_shift(comm, d, 1, &p->in[2 * d], &p->in[2 * d + 1]));
        p->index[2 * d] = 2 * d + 1;
        p->index[2 * d + 1] = 2 * d;
    }
    memcpy(p->out, p->in, sizeof p->out);
}

static inline void places_grids(void)
{
    const int two = test_size > 1 ? 2 : 1, half = test_size / two;

    place_grid("ring", 1, (int[]){ test_size }, (int[]){ 1 });
    place_grid("line", 1, (int[]){ test_size }, (int[]){ 0 });
    place_grid("ring with a dimension of 1", 3, (int[]){ 1, test_size, 1 }, (int[]){ 1, 1, 0 });
    place_grid("torus with a dimension of 2", 2, (int[]){ two, half }, (int[]){ 1, 1 });
    place_grid("grid, half periodic", 2, (int[]){ half, two }, (int[]){ 0, 1 });
}

/* Every process with the next one, twice, and rank 0 with itself and with everybody. */
static inline void place_graph(void)
{
    int *index = test_alloc(sizeof(int) * (size_t)test_size), *edges, n = 0, rank, i;
    MPI_Comm comm;
    struct place *p;

    edges = test_alloc(sizeof(int) * 8 * (size_t)test_size);
    for (rank = 0; rank < test_size; rank++) {
        for (i = 0; i < 2 && test_size > 1; i++) {
            edges[n++] = (rank + 1) % test_size;
            edges[n++] = (rank + test_size - 1) % test_size;
        }
        if (rank > 0)
            edges[n++] = 0;
        for (i = 0; rank == 0 && i < test_size; i++)
            edges[n++] = i;
        index[rank] = n;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &comm));
    p = place_add("graph", NEIGHBORS, comm);
    CHECK_OK(MPI_Graph_neighbors_count(comm, p->rank, &p->outs));
    CHECK(p->outs <= MOST_EDGES, "room for %d edges, there are %d", MOST_EDGES, p->outs);
    CHECK_OK(MPI_Graph_neighbors(comm, p->rank, MOST_EDGES, p->out));
    p->ins = p->outs;
    memcpy(p->in, p->out, sizeof p->in);
    place_find_edges(p);
    free(index);
    free(edges);
}

static inline void place_ask_dist_graph(const char *name, MPI_Comm comm)
{
    struct place *p = place_add(name, NEIGHBORS, comm);
    int is_weighted;

    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &p->ins, &p->outs, &is_weighted));
    CHECK(p->ins <= MOST_EDGES && p->outs <= MOST_EDGES, "room for %d edges, there are %d and %d", MOST_EDGES,
          p->ins, p->outs);
    CHECK_OK(MPI_Dist_graph_neighbors(comm, MOST_EDGES, p->in, MPI_UNWEIGHTED, MOST_EDGES, p->out,
                                      MPI_UNWEIGHTED));
    place_find_edges(p);
}

/* Random edges, the same list at every process: some doubled, some to oneself, some processes with none. */
static inline int random_edges(uint64_t key, int *from, int *to)
{
    uint64_t state = test_key(key, 0, 98);
    const int n = (int)test_below(&state, MOST_EDGES);
    int i;

    for (i = 0; i < n; i++) {
        from[i] = (int)test_below(&state, (size_t)test_size);
        to[i] = (int)test_below(&state, (size_t)test_size);
    }
    return n;
}

/* Told by their ends. */
static inline void place_adjacent(void)
{
    int from[MOST_EDGES], to[MOST_EDGES], in[MOST_EDGES], out[MOST_EDGES], ins = 0, outs = 0, i;
    const int n = random_edges(1, from, to);
    MPI_Comm comm;

    for (i = 0; i < n; i++) {
        if (to[i] == test_rank)
            in[ins++] = from[i];
        if (from[n - 1 - i] == test_rank)
            out[outs++] = to[n - 1 - i];
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, in, MPI_UNWEIGHTED, outs, out, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &comm));
    place_ask_dist_graph("distributed graph, adjacent", comm);
}

/* Told by the process after the one they come from. */
static inline void place_distributed(void)
{
    int from[MOST_EDGES], to[MOST_EDGES], mine[MOST_EDGES], ones[MOST_EDGES], ends[MOST_EDGES], n = 0, i;
    const int all = random_edges(2, from, to);
    MPI_Comm comm;

    for (i = 0; i < all; i++)
        if ((from[i] + 1) % test_size == test_rank) {
            mine[n] = from[i];
            ends[n] = to[i];
            ones[n++] = 1;
        }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, mine, ones, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm));
    place_ask_dist_graph("distributed graph", comm);
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

static inline void places_begin(bool with_groups, bool with_sides, bool with_neighbors)
{
    if (with_groups)
        places_groups();
    if (with_sides && test_size > 1)
        places_sides();
    if (!with_neighbors)
        return;
    places_grids();
    place_graph();
    place_adjacent();
    place_distributed();
}

static inline void places_end(void)
{
    int i;

    for (i = 0; i < place_count; i++)
        if (places[i].comm != MPI_COMM_NULL && places[i].comm != MPI_COMM_WORLD && places[i].comm != MPI_COMM_SELF)
            CHECK_OK(MPI_Comm_free(&places[i].comm));
}

#endif
