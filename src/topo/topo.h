/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Virtual topologies (MPI 5.0 §8.5): making communicators that have one, and asking it. As data they stand
 * in obj/topology.h.
 *
 * * The caller checks handles, signs of lengths, ranks, and arrays whose length is an argument; everything else is
 * checked here. Functions return 0 or an error code; MPI_ERR_TOPOLOGY when the communicator has no topology or one of
 * another kind. What makes a communicator is collective over the old one and blocks: all processes then compare their
 * arguments, and an error of one, or a difference, is an error of all. With `reorder` the
 * ranks of the new one may be others, if that brings neighbours nearer to each other. *out is NULL at processes that it
 * leaves out. All else is local. Several threads may call at
 * once, makers for different old communicators. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "obj/comm.h"
#include "obj/topology.h"

/* §8.5.1. The first processes of `comm`, as many as the grid has. Errors: MPI_ERR_DIMS for a dimension below 1 or a
 * grid with more processes than there are, MPI_ERR_ARG for arguments that differ, MPI_ERR_NO_MEM. */
int topo_cart_create(struct comm *comm, int ndims, const int *dims, const int *periods, int reorder,
                     struct comm **out);
/* §8.5.7. `remain` has a flag for each dimension. Errors: MPI_ERR_ARG. */
int topo_cart_sub(struct comm *comm, const int *remain, struct comm **out);

/* §8.5.2. Sets the entries that are 0, in an order that does not rise, so that the largest and the smallest one of
 * them differ as little as possible; of several ways the one whose smallest entry is larger, then the one with the
 * smallest second entry, and so on. Errors: MPI_ERR_DIMS for a negative entry, a number of nodes below 1 or one
 * that the entries cannot give; MPI_ERR_NO_MEM. */
int topo_dims_create(int nodes, int ndims, int *dims);

/* §8.5.3. The first `nodes` processes; none if there are no nodes. `index` has an entry for each node. Errors:
 * MPI_ERR_ARG for too many nodes, a wrong index, arguments that differ; MPI_ERR_RANK for an edge to no node. */
int topo_graph_create(struct comm *comm, int nodes, const int *index, const int *edges, int reorder,
                      struct comm **out);

/* Edges of one direction as the user gives them. */
struct topo_edges {
    int count;
    const int *ranks;
    const int *weights; /* MPI_UNWEIGHTED; MPI_WEIGHTS_EMPTY or NULL if there are none */
};

/* §8.5.4. Errors: MPI_ERR_RANK for a neighbour out of range, MPI_ERR_ARG for a negative degree or weight, weights that
 * are missing, MPI_UNWEIGHTED here and not there. */
int topo_dist_graph_create_adjacent(struct comm *comm, const struct topo_edges *in,
                                    const struct topo_edges *out_edges, int reorder, struct comm **out);
/* `degrees` has an entry for each of the `n` sources; edges->count is not used. */
int topo_dist_graph_create(struct comm *comm, int n, const int *sources, const int *degrees,
                           const struct topo_edges *edges, int reorder, struct comm **out);

/* §8.5.5. Arrays shorter than what there is get its beginning. */
int topo_test(const struct comm *comm); /* MPI_CART, …; MPI_UNDEFINED: none */
int topo_cartdim_get(const struct comm *comm, int *ndims);
int topo_cart_get(const struct comm *comm, int max, int *dims, int *periods, int *coords);
/* Coordinates of periodic dimensions wrap. Errors: MPI_ERR_ARG for others out of range, or no array. */
int topo_cart_rank(const struct comm *comm, const int *coords, int *rank);
int topo_cart_coords(const struct comm *comm, int rank, int max, int *coords);
int topo_graphdims_get(const struct comm *comm, int *nodes, int *edges);
int topo_graph_get(const struct comm *comm, int max_index, int max_edges, int *index, int *edges);
int topo_graph_neighbors_count(const struct comm *comm, int rank, int *count);
int topo_graph_neighbors(const struct comm *comm, int rank, int max, int *neighbors);
int topo_dist_graph_neighbors_count(const struct comm *comm, int *indegree, int *outdegree, int *is_weighted);
/* Arrays of weights may be MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY or NULL, and are not touched if the graph has none. */
int topo_dist_graph_neighbors(const struct comm *comm, int max_in, int *sources, int *source_weights, int max_out,
                              int *destinations, int *dest_weights);

/* §8.5.6. Errors: MPI_ERR_DIMS for a direction out of range. */
int topo_cart_shift(const struct comm *comm, int direction, int disp, int *source, int *dest);

/* §8.5.8. The rank that this process would have; MPI_UNDEFINED if it would be left out. Local. Errors as those of the
 * calls that create. */
int topo_cart_map(struct comm *comm, int ndims, const int *dims, const int *periods, int *new_rank);
int topo_graph_map(struct comm *comm, int nodes, const int *index, const int *edges, int *new_rank);

#endif
