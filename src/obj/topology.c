/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Life of a virtual topology: one piece of memory, counted references. Knows nothing of communicators. */
#include "obj/topology.h"

#include "base/mem.h"

/* With room for `numbers` ints behind it, all zero. */
static struct topology *create(int kind, size_t numbers, int **array)
{
    struct topology *topology = mem_zalloc(sizeof *topology + numbers * sizeof(int));

    if (!topology)
        return NULL;
    atomic_init(&topology->refs, 1);
    topology->kind = kind;
    *array = (int *)(void *)(topology + 1);
    return topology;
}

struct topology *topology_create_cart(int ndims)
{
    int *array;
    struct topology *topology = create(MPI_CART, 3 * (size_t)ndims, &array);

    if (!topology)
        return NULL;
    topology->cart.ndims = ndims;
    topology->cart.dims = array;
    topology->cart.periods = array + ndims;
    topology->cart.coords = array + 2 * (size_t)ndims;
    return topology;
}

struct topology *topology_create_graph(int nodes, int edges)
{
    int *array;
    struct topology *topology = create(MPI_GRAPH, (size_t)nodes + (size_t)edges, &array);

    if (!topology)
        return NULL;
    topology->graph.nodes = nodes;
    topology->graph.index = array;
    topology->graph.edges = array + nodes;
    return topology;
}

/* The arrays lie one after the other behind the struct. */
static void place_edges(struct topology *topology, int indegree, int outdegree)
{
    int *const array = (int *)(void *)(topology + 1);
    const size_t in = (size_t)indegree, out = (size_t)outdegree;

    topology->dist.indegree = indegree;
    topology->dist.outdegree = outdegree;
    topology->dist.sources = array;
    topology->dist.source_weights = array + in;
    topology->dist.destinations = array + 2 * in;
    topology->dist.dest_weights = array + 2 * in + out;
}

struct topology *topology_create_dist(int indegree, int outdegree)
{
    int *array;
    struct topology *topology = create(MPI_DIST_GRAPH, 2 * (size_t)indegree + 2 * (size_t)outdegree, &array);

    if (topology)
        place_edges(topology, indegree, outdegree);
    return topology;
}

void topology_divide_dist(struct topology *topology, int indegree)
{
    place_edges(topology, indegree, topology->dist.indegree + topology->dist.outdegree - indegree);
}

struct topology *topology_ref(struct topology *topology)
{
    if (topology)
        atomic_fetch_add_explicit(&topology->refs, 1, memory_order_relaxed);
    return topology;
}

void topology_unref(struct topology *topology)
{
    /* acquire and release: whoever frees it does so after all others have read it */
    if (topology && atomic_fetch_sub_explicit(&topology->refs, 1, memory_order_acq_rel) == 1)
        mem_free(topology);
}

int topology_grid_rank(const struct topology *grid, int rank, int along, int64_t steps)
{
    const int64_t size = grid->cart.dims[along], here = grid->cart.coords[along];
    int64_t stride = 1, there = here + steps;

    if (there < 0 || there >= size) {
        if (!grid->cart.periods[along])
            return MPI_PROC_NULL;
        there = (there % size + size) % size;
    }
    for (int i = grid->cart.ndims - 1; i > along; i--)
        stride *= grid->cart.dims[i];
    return (int)(rank + (there - here) * stride);
}
