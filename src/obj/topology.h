/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. A virtual topology as data (MPI 5.0 §8): what a communicator knows of the neighbours of its processes. It
 * never changes, so communicators that are copies of each other share one. Making them stands in room topo. */
#ifndef OBJ_TOPOLOGY_H
#define OBJ_TOPOLOGY_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All arrays lie behind the struct. Which of the members counts is told by `kind`. */
struct topology {
    _Atomic unsigned refs;  /* communicators */
    int kind;               /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    struct {
        int ndims;
        int *dims;          /* each at least 1 */
        int *periods;       /* 0 or 1 */
        int *coords;        /* of this process */
    } cart;
    struct {
        int nodes;
        int *index;         /* of each node: where the edges of the next one begin; never falls */
        int *edges;         /* as many as the last index says */
    } graph;
    struct {
        int indegree, outdegree;
        bool is_weighted;
        int *sources, *source_weights;    /* of this process; no weights: arrays of 0 */
        int *destinations, *dest_weights;
    } dist;
};

/* With one reference and no edges. Arrays of no length are not NULL. NULL: no memory. */
struct topology *topology_create_cart(int ndims);
struct topology *topology_create_graph(int nodes, int edges);
struct topology *topology_create_dist(int indegree, int outdegree);
/* Of a new one, whose edges are known by their number only until now: so many of all come in, the others go out. */
void topology_divide_dist(struct topology *topology, int indegree);
/* One more communicator has it. NULL is fine, and returned. */
struct topology *topology_ref(struct topology *topology);
/* One less; NULL is fine. */
void topology_unref(struct topology *topology);

/* Rank in a grid of the process `steps` further along a dimension from this one, `rank`, down if negative;
 * MPI_PROC_NULL: beyond the edge. */
int topology_grid_rank(const struct topology *grid, int rank, int along, int64_t steps);

#endif
