/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Graphs that every process knows as a whole (MPI 5.0 §8.5.3, §8.5.8). */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "topo/int_topo.h"
#include "topo/topo.h"

static int check_edges(int nodes, int count, const int *edges)
{
    if (count && !edges)
        return err(MPI_ERR_ARG, "edges is NULL, the index says %d edges", count);
    for (int i = 0; i < count; i++) {
        if (edges[i] < 0 || edges[i] >= nodes)
            return err(MPI_ERR_RANK, "edges[%d] is %d, the graph has %d nodes, counted from 0", i, edges[i], nodes);
    }
    return 0;
}

/* Checks all; *count is how many edges there are. */
static int check_graph(const struct comm *comm, int nodes, const int *index, const int *edges, int *count)
{
    *count = 0;
    if (nodes > comm->size)
        return err(MPI_ERR_ARG, "nnodes is %d, the communicator has %d processes", nodes, comm->size);
    for (int i = 0; i < nodes; i++) {
        if (index[i] < *count)
            return err(MPI_ERR_ARG, "index[%d] is %d, less than %d: it counts the edges up to that node", i, index[i],
                       *count);
        *count = index[i];
    }
    return check_edges(nodes, *count, edges);
}

/* A graph as the user gives it. */
struct graph {
    int nodes;
    const int *index, *edges;
};

static int graph_talk(const void *arg, struct topo_talk *talk)
{
    const struct graph *graph = arg;
    const int count = graph->nodes ? graph->index[graph->nodes - 1] : 0;
    struct topo_pair *pairs = count > TOPO_PAIRS_MAX ? NULL : mem_alloc(((size_t)count + 1) * sizeof *pairs);
    int rc;

    if (!pairs)
        return err(MPI_ERR_NO_MEM, "no memory to map a graph of %d edges", count);
    for (int node = 0, e = 0; node < graph->nodes; node++)
        for (; e < graph->index[node]; e++)
            pairs[e] = (struct topo_pair){ node, graph->edges[e], 1 };
    rc = topo_talk_pairs(talk, graph->nodes, pairs, count);
    mem_free(pairs);
    return rc;
}

int topo_graph_create(struct comm *comm, int nodes, const int *index, const int *edges, int reorder,
                      struct comm **out)
{
    static const char call[] = "MPI_Graph_create";
    const struct graph graph = { nodes, index, edges };
    struct topo_reorder r = { 0 };
    struct topology *topology = NULL;
    uint64_t hash = (uint64_t)nodes;
    int count, rc = check_graph(comm, nodes, index, edges, &count);

    if (!rc) {
        hash = topo_hash(topo_hash(topo_hash(hash, &(const int){ reorder != 0 }, 1), index, nodes), edges, count);
        if (comm->rank < nodes) {
            topology = topology_create_graph(nodes, count);
            rc = topology ? 0 : err(MPI_ERR_NO_MEM, "no memory for a graph of %d nodes, %d edges", nodes, count);
        }
    }
    if (!rc)
        rc = topo_reorder_open(&r, comm, call, nodes, reorder);
    rc = topo_agree(comm, call, rc, hash, "nnodes, index, edges or reorder");
    if (!rc)
        rc = topo_reorder_find(&r, graph_talk, &graph);
    if (!rc && topology) {
        memcpy(topology->graph.index, index, (size_t)nodes * sizeof *index);
        if (count)
            memcpy(topology->graph.edges, edges, (size_t)count * sizeof *edges);
    }
    if (rc || !nodes)
        topology_unref(topology);
    else
        rc = topo_reorder_make(&r, topology, out);
    topo_reorder_close(&r);
    return rc;
}

int topo_graph_map(struct comm *comm, int nodes, const int *index, const int *edges, int *new_rank)
{
    const struct graph graph = { nodes, index, edges };
    int count;
    const int rc = check_graph(comm, nodes, index, edges, &count);

    return rc ? rc : topo_reorder_alone(comm, nodes, graph_talk, &graph, new_rank);
}
