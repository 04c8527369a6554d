/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. What a communicator with a topology is asked (MPI 5.0 §8.5.5), but for calculations with coordinates. */
#include <string.h>

#include "base/err.h"
#include "topo/int_topo.h"
#include "topo/topo.h"

static const char *kind_name(const struct topology *topology)
{
    if (!topology)
        return "no topology";
    switch (topology->kind) {
    case MPI_CART: return "a cartesian topology";
    case MPI_GRAPH: return "a graph topology";
    default: return "a distributed graph topology";
    }
}

int topo_find(const struct comm *comm, int kind, const struct topology **out)
{
    *out = comm->topology;
    if (comm->topology && comm->topology->kind == kind)
        return 0;
    return err(MPI_ERR_TOPOLOGY, "communicator %s has %s, and this call needs %s",
               comm->name[0] ? comm->name : "without a name", kind_name(comm->topology),
               kind_name(&(const struct topology){ .kind = kind }));
}

/* The beginning of an array. */
static void copy(int *to, const int *from, int max, int count)
{
    const int n = max < count ? max : count;

    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

int topo_test(const struct comm *comm)
{
    return comm->topology ? comm->topology->kind : MPI_UNDEFINED;
}

int topo_cartdim_get(const struct comm *comm, int *ndims)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_CART, &topology);

    if (!rc)
        *ndims = topology->cart.ndims;
    return rc;
}

int topo_cart_get(const struct comm *comm, int max, int *dims, int *periods, int *coords)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_CART, &topology);

    if (rc)
        return rc;
    copy(dims, topology->cart.dims, max, topology->cart.ndims);
    copy(periods, topology->cart.periods, max, topology->cart.ndims);
    copy(coords, topology->cart.coords, max, topology->cart.ndims);
    return 0;
}

/* Where the edges of a node begin; of the one behind the last: how many there are. */
static int edges_begin(const struct topology *graph, int node)
{
    return node ? graph->graph.index[node - 1] : 0;
}

int topo_graphdims_get(const struct comm *comm, int *nodes, int *edges)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_GRAPH, &topology);

    if (rc)
        return rc;
    *nodes = topology->graph.nodes;
    *edges = edges_begin(topology, topology->graph.nodes);
    return 0;
}

int topo_graph_get(const struct comm *comm, int max_index, int max_edges, int *index, int *edges)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_GRAPH, &topology);

    if (rc)
        return rc;
    copy(index, topology->graph.index, max_index, topology->graph.nodes);
    copy(edges, topology->graph.edges, max_edges, edges_begin(topology, topology->graph.nodes));
    return 0;
}

int topo_graph_neighbors_count(const struct comm *comm, int rank, int *count)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_GRAPH, &topology);

    if (!rc)
        *count = edges_begin(topology, rank + 1) - edges_begin(topology, rank);
    return rc;
}

int topo_graph_neighbors(const struct comm *comm, int rank, int max, int *neighbors)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_GRAPH, &topology);
    int first;

    if (rc)
        return rc;
    first = edges_begin(topology, rank);
    copy(neighbors, topology->graph.edges + first, max, edges_begin(topology, rank + 1) - first);
    return 0;
}

int topo_dist_graph_neighbors_count(const struct comm *comm, int *indegree, int *outdegree, int *is_weighted)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_DIST_GRAPH, &topology);

    if (rc)
        return rc;
    *indegree = topology->dist.indegree;
    *outdegree = topology->dist.outdegree;
    *is_weighted = topology->dist.is_weighted;
    return 0;
}

static bool takes_weights(const int *array)
{
    return array && array != MPI_UNWEIGHTED && array != MPI_WEIGHTS_EMPTY;
}

int topo_dist_graph_neighbors(const struct comm *comm, int max_in, int *sources, int *source_weights, int max_out,
                              int *destinations, int *dest_weights)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_DIST_GRAPH, &topology);

    if (rc)
        return rc;
    copy(sources, topology->dist.sources, max_in, topology->dist.indegree);
    copy(destinations, topology->dist.destinations, max_out, topology->dist.outdegree);
    if (topology->dist.is_weighted && takes_weights(source_weights))
        copy(source_weights, topology->dist.source_weights, max_in, topology->dist.indegree);
    if (topology->dist.is_weighted && takes_weights(dest_weights))
        copy(dest_weights, topology->dist.dest_weights, max_out, topology->dist.outdegree);
    return 0;
}
