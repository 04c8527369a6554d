/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Neighborhood collectives (MPI 5.0 §8.6): the block at each place in the list of destinations goes to
 * that neighbour, the one at each place in the list of sources comes from there.
 *
 *   direct     a message for each edge, all at once; blocking ones in a grid on one machine: node_neighbor.c
 *
 * In a grid both lists are: dimension by dimension the neighbour below, then the one above. What is sent below
 * arrives as what comes from above, also where both are one process (§8.6): the messages carry the place of the
 * receiver. In graphs several edges between two processes keep their order. */
#include "base/err.h"
#include "coll/algorithms.h"
#include "obj/topology.h"

struct neighbors {
    int count;
    const int *ranks;             /* NULL: of a grid */
    const struct topology *grid;
};

static struct neighbors neighbors_of(const struct comm *comm, bool is_out)
{
    const struct topology *t = comm->topology;
    int first;

    switch (t->kind) {
    case MPI_CART: return (struct neighbors){ 2 * t->cart.ndims, NULL, t };
    case MPI_GRAPH:
        first = comm->rank ? t->graph.index[comm->rank - 1] : 0;
        return (struct neighbors){ t->graph.index[comm->rank] - first, t->graph.edges + first, NULL };
    default:
        return is_out ? (struct neighbors){ t->dist.outdegree, t->dist.destinations, NULL }
                      : (struct neighbors){ t->dist.indegree, t->dist.sources, NULL };
    }
}

static int neighbor_at(const struct comm *comm, const struct neighbors *n, int i)
{
    return n->ranks ? n->ranks[i] : topology_grid_rank(n->grid, comm->rank, i / 2, i % 2 ? 1 : -1);
}

/* The same block goes to all neighbours; the caller has checked it. */
static bool sends_one(const struct coll_args *args)
{
    return args->operation == COLL_NEIGHBOR_ALLGATHER || args->operation == COLL_NEIGHBOR_ALLGATHERV;
}

void coll_neighbor_direct(struct sched *s, const struct coll_args *args)
{
    const struct neighbors in = neighbors_of(s->comm, false), out = neighbors_of(s->comm, true);
    const bool is_one = sends_one(args);

    for (int i = 0; i < in.count; i++) {
        const int source = neighbor_at(s->comm, &in, i);
        if (source != MPI_PROC_NULL)
            sched_recv(s, coll_data_block(&args->recv, i), source, in.grid ? i : 0, AT_ONCE);
    }
    for (int i = 0; i < out.count; i++) {
        const int dest = neighbor_at(s->comm, &out, i);
        if (dest != MPI_PROC_NULL)
            sched_send(s, coll_data_block(&args->send, is_one ? 0 : i), dest, out.grid ? i ^ 1 : 0, AT_ONCE);
    }
}

/* Where there is no neighbour nothing is looked at, wherever the block may lie. */
static int check_blocks(const struct comm *comm, const struct coll_data *data, bool is_out, const char *name)
{
    const struct neighbors n = neighbors_of(comm, is_out);
    int rc = 0;

    for (int i = 0; i < n.count && !rc && unlikely((uintptr_t)data->buf <= (uintptr_t)MPI_IN_PLACE); i++) {
        const struct coll_block block = coll_data_block(data, i);

        if (neighbor_at(comm, &n, i) != MPI_PROC_NULL)
            rc = coll_check_buffer(data->types ? block.buf : data->buf, block.count, block.type, name);
    }
    return rc;
}

int coll_neighbor_check(const struct comm *comm, const struct coll_args *args)
{
    int rc = 0;

    if (!comm->topology)
        return err(MPI_ERR_TOPOLOGY, "E0720: the communicator has no topology, so its processes have no neighbors");
    if (!sends_one(args))
        rc = check_blocks(comm, &args->send, true, "sendbuf");
    if (!rc)
        rc = check_blocks(comm, &args->recv, false, "recvbuf");
    return rc;
}
