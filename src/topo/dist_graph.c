/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Graphs of which each process tells a part (MPI 5.0 §8.5.4). With MPI_Dist_graph_create an edge may be
 * told by anybody: it is sent to both its ends. Neighbours stand in the order of the ranks of those who told them, and
 * then as these told them. Memory while it is made: a few numbers for each process and edge. */
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "topo/int_topo.h"
#include "topo/topo.h"

static const char agreed[] = "reorder, or MPI_UNWEIGHTED, which all or none may use";
static const char create_call[] = "MPI_Dist_graph_create";

/* One end of an edge, on its way to that process. */
struct end {
    int other, weight;
    int is_out; /* the edge goes to `other`; else it comes from there */
};

/* What goes to each process and what comes, in ends. */
struct exchange {
    int size;
    MPI_Count *send_counts, *send_places, *recv_counts, *recv_places; /* `size` of each; one piece of memory */
    struct end *send, *recv;
    MPI_Count incoming;
};

static bool has_weights(const struct topo_edges *edges)
{
    return edges->weights != MPI_UNWEIGHTED;
}

/* What must be equal everywhere. */
static uint64_t word_of(const struct topo_edges *edges, int reorder)
{
    return (uint64_t)(has_weights(edges) + 2 * (reorder != 0));
}

static int check_weights(const struct topo_edges *edges, const char *name)
{
    if (!has_weights(edges) || !edges->count)
        return 0;
    if (!edges->weights || edges->weights == MPI_WEIGHTS_EMPTY)
        return err(MPI_ERR_ARG, "%s is %s, and there are %d edges", name,
                   edges->weights ? "MPI_WEIGHTS_EMPTY" : "NULL", edges->count);
    for (int i = 0; i < edges->count; i++) {
        if (edges->weights[i] < 0)
            return err(MPI_ERR_ARG, "%s[%d] is %d, which is negative", name, i, edges->weights[i]);
    }
    return 0;
}

static int check_ranks(const struct comm *comm, const int *ranks, int count, const char *name)
{
    if (count && !ranks)
        return err(MPI_ERR_ARG, "%s is NULL, and there are %d edges", name, count);
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= comm->size)
            return err(MPI_ERR_RANK, "%s[%d] is %d, the communicator has %d processes", name, i, ranks[i],
                       comm->size);
    }
    return 0;
}

static int check_adjacent(const struct comm *comm, const struct topo_edges *in, const struct topo_edges *out)
{
    int rc = check_ranks(comm, in->ranks, in->count, "sources");

    if (!rc)
        rc = check_ranks(comm, out->ranks, out->count, "destinations");
    if (!rc && has_weights(in) != has_weights(out))
        rc = err(MPI_ERR_ARG, "%s is MPI_UNWEIGHTED, the other weights are not",
                 has_weights(in) ? "destweights" : "sourceweights");
    if (!rc)
        rc = check_weights(in, "sourceweights");
    if (!rc)
        rc = check_weights(out, "destweights");
    return rc;
}

static void copy_edges(const struct topo_edges *from, int *ranks, int *weights)
{
    if (!from->count)
        return;
    memcpy(ranks, from->ranks, (size_t)from->count * sizeof *ranks);
    if (has_weights(from))
        memcpy(weights, from->weights, (size_t)from->count * sizeof *weights);
}

int topo_dist_graph_create_adjacent(struct comm *comm, const struct topo_edges *in,
                                    const struct topo_edges *out_edges, int reorder, struct comm **out)
{
    static const char call[] = "MPI_Dist_graph_create_adjacent";
    struct topology *topology = NULL;
    int rc = check_adjacent(comm, in, out_edges);

    if (!rc) {
        topology = topology_create_dist(in->count, out_edges->count);
        if (!topology)
            rc = err(MPI_ERR_NO_MEM, "no memory for %d sources, %d destinations", in->count, out_edges->count);
    }
    rc = topo_agree(comm, call, rc, word_of(in, reorder), agreed);
    if (rc) {
        topology_unref(topology);
        return rc;
    }
    topology->dist.is_weighted = has_weights(in);
    copy_edges(in, topology->dist.sources, topology->dist.source_weights);
    copy_edges(out_edges, topology->dist.destinations, topology->dist.dest_weights);
    return topo_dist_make(comm, call, reorder, topology, out);
}

/* Adds up the degrees. */
static int check_told(const struct comm *comm, int n, const int *sources, const int *degrees,
                      const struct topo_edges *edges, int *count)
{
    int64_t sum = 0;
    int rc = check_ranks(comm, sources, n, "sources");

    for (int i = 0; i < n && !rc; i++) {
        if (degrees[i] < 0)
            rc = err(MPI_ERR_ARG, "degrees[%d] is %d, which is negative", i, degrees[i]);
        sum += degrees[i];
        if (!rc && sum > INT_MAX)
            rc = err(MPI_ERR_ARG, "degrees[0] to degrees[%d] make %lld edges; one call takes %d", i, (long long)sum,
                     INT_MAX);
    }
    if (rc)
        return rc;
    *count = (int)sum;
    rc = check_ranks(comm, edges->ranks, *count, "destinations");
    return rc ? rc : check_weights(&(const struct topo_edges){ *count, edges->ranks, edges->weights }, "weights");
}

static int exchange_open(struct exchange *x, int size, int edges)
{
    const size_t n = (size_t)size;

    *x = (struct exchange){ .size = size };
    x->send_counts = mem_zalloc(4 * n * sizeof *x->send_counts);
    x->send = mem_alloc((2 * (size_t)edges + 1) * sizeof *x->send);
    if (!x->send_counts || !x->send)
        return err(MPI_ERR_NO_MEM, "no memory to tell %d edges to %d processes", edges, size);
    x->send_places = x->send_counts + n;
    x->recv_counts = x->send_counts + 2 * n;
    x->recv_places = x->send_counts + 3 * n;
    return 0;
}

static void exchange_close(struct exchange *x)
{
    mem_free(x->send_counts);
    mem_free(x->send);
    mem_free(x->recv);
}

/* Sorts the ends by the processes that they go to. */
static void exchange_fill(struct exchange *x, int n, const int *sources, const int *degrees,
                          const struct topo_edges *edges)
{
    MPI_Count place = 0;

    for (int i = 0, e = 0; i < n; i++) {
        x->send_counts[sources[i]] += degrees[i];
        for (const int end = e + degrees[i]; e < end; e++)
            x->send_counts[edges->ranks[e]]++;
    }
    for (int rank = 0; rank < x->size; rank++) {
        x->send_places[rank] = place;
        place += x->send_counts[rank];
    }
    for (int i = 0, e = 0; i < n; i++) {
        for (const int end = e + degrees[i]; e < end; e++) {
            const int weight = has_weights(edges) ? edges->weights[e] : 0, dest = edges->ranks[e];

            x->send[x->send_places[sources[i]]++] = (struct end){ dest, weight, 1 };
            x->send[x->send_places[dest]++] = (struct end){ sources[i], weight, 0 };
        }
    }
    for (int rank = 0; rank < x->size; rank++)
        x->send_places[rank] -= x->send_counts[rank];
}

/* Numbers of ends become numbers of bytes: what the exchange counts in. */
static void in_bytes(MPI_Count *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] *= (MPI_Count)sizeof(struct end);
}

/* Collective. */
static int exchange_counts(struct comm *comm, struct exchange *x)
{
    struct type *count = obj_type(MPI_COUNT);
    int rc;

    comm->coll_outer = create_call;
    rc = coll_run(comm, COLL_ARGS(COLL_ALLTOALL, COLL_SAME(x->send_counts, 1, count),
                                  COLL_SAME(x->recv_counts, 1, count), NULL, 0));
    comm->coll_outer = NULL;
    for (int rank = 0; rank < x->size; rank++) {
        x->recv_places[rank] = x->incoming;
        x->incoming += x->recv_counts[rank];
    }
    return rc;
}

/* Collective. */
static int exchange_ends(struct comm *comm, struct exchange *x)
{
    struct type *byte = obj_type(MPI_BYTE);
    int rc;

    in_bytes(x->send_counts, 4 * x->size);
    comm->coll_outer = create_call;
    rc = coll_run(comm, COLL_ARGS(COLL_ALLTOALLV, COLL_VARYING(x->send, x->send_counts, x->send_places, byte),
                                  COLL_VARYING(x->recv, x->recv_counts, x->recv_places, byte), NULL, 0));
    comm->coll_outer = NULL;
    return rc;
}

/* Room for what comes and for the graph, before anybody sends: nothing is missing later, when others rely on it. How
 * many of the edges come in is not known yet. */
static int prepare(struct exchange *x, struct topology **topology)
{
    if (x->incoming > INT_MAX)
        return err(MPI_ERR_ARG, "this process has %lld edges; a graph takes %d", (long long)x->incoming, INT_MAX);
    x->recv = mem_alloc(((size_t)x->incoming + 1) * sizeof *x->recv);
    *topology = x->recv ? topology_create_dist((int)x->incoming, 0) : NULL;
    return *topology ? 0 : err(MPI_ERR_NO_MEM, "no memory for %lld edges", (long long)x->incoming);
}

/* From the ends that came. */
static void fill_topology(const struct exchange *x, bool is_weighted, struct topology *topology)
{
    int in = 0, outgoing = 0;

    for (MPI_Count i = 0; i < x->incoming; i++)
        outgoing += x->recv[i].is_out;
    topology_divide_dist(topology, (int)x->incoming - outgoing);
    topology->dist.is_weighted = is_weighted;
    outgoing = 0;
    for (MPI_Count i = 0; i < x->incoming; i++) {
        const struct end *end = &x->recv[i];

        if (end->is_out) {
            topology->dist.destinations[outgoing] = end->other;
            topology->dist.dest_weights[outgoing++] = end->weight;
        } else {
            topology->dist.sources[in] = end->other;
            topology->dist.source_weights[in++] = end->weight;
        }
    }
}

int topo_dist_graph_create(struct comm *comm, int n, const int *sources, const int *degrees,
                           const struct topo_edges *edges, int reorder, struct comm **out)
{
    struct topology *topology = NULL;
    struct exchange x = { 0 };
    int count, rc = check_told(comm, n, sources, degrees, edges, &count);

    if (!rc)
        rc = exchange_open(&x, comm->size, count);
    if (!rc)
        exchange_fill(&x, n, sources, degrees, edges);
    rc = topo_agree(comm, create_call, rc, word_of(edges, reorder), agreed);
    if (!rc) {
        rc = exchange_counts(comm, &x);
        if (!rc)
            rc = prepare(&x, &topology);
        rc = topo_agree(comm, create_call, rc, 0, "");
    }
    if (!rc)
        rc = exchange_ends(comm, &x);
    if (!rc)
        fill_topology(&x, has_weights(edges), topology);
    exchange_close(&x);
    if (!rc)
        return topo_dist_make(comm, create_call, reorder, topology, out);
    topology_unref(topology);
    return rc;
}
