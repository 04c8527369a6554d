/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Which node each member of a communicator is on, as the segment says (sys/job.h). Knows: sys. Does not
 * know: what is done about it. */
#include "coll/spanning.h"

#include "base/err.h"
#include "base/mem.h"
#include "coll/clients.h"
#include "coll/shelf.h"
#include "p2p/p2p.h"
#include "sys/place.h"

/* Number of the job's node; of a communicator over several clients, that of the client. */
static int node_of_rank(const struct comm *comm, int rank)
{
    if (unlikely(p2p_is_foreign_ctx(comm->ctx)))
        return clients_of(group_proc(comm->group, rank));
    return place_node(group_proc(comm->group, rank));
}

static bool is_on_one(const struct comm *comm)
{
    int node, rank = 1;

    if (p2p_is_foreign_ctx(comm->ctx))
        return false;
    if (!place_is_spread())
        return true;
    node = node_of_rank(comm, 0);
    while (rank < comm->size && node_of_rank(comm, rank) == node)
        rank++;
    return rank == comm->size;
}

/* Nodes by their first ranks; `number` has a place for each node of the job. */
static void number_nodes(const struct comm *comm, struct spread *spread, int *number, int *members)
{
    spread->has_runs = true;
    for (int rank = 0; rank < comm->size; rank++) {
        const int node = node_of_rank(comm, rank);

        if (!number[node])
            number[node] = ++spread->layout.nodes;
        spread->node_of[rank] = number[node] - 1;
        spread->has_runs &= !rank || spread->node_of[rank] >= spread->node_of[rank - 1];
        if (++members[node] > spread->most)
            spread->most = members[node];
    }
}

/* The members on this node, not those of this client. `procs` has room for all. */
static int gather_here(struct comm *comm, struct spread *spread, int *procs)
{
    const int own = spread->node_of[comm->rank];
    struct comm *here = &spread->here;
    int count = 0;

    if (p2p_is_foreign_ctx(comm->ctx)) {
        here->size = 1; /* those of this client have no shelf */
        return 0;
    }
    for (int rank = 0; rank < comm->size; rank++)
        if (spread->node_of[rank] == own)
            procs[count++] = group_proc(comm->group, rank);
    *here = (struct comm){ .ctx = comm->ctx, .whole = comm, .size = count, .remote_size = count, .is_placed = true };
    if (group_create_list(count, procs, group_proc(comm->group, comm->rank), &here->group))
        return 1;
    here->remote_group = here->group;
    here->rank = here->group->rank;
    return 0;
}

static int most_node(const struct comm *comm)
{
    int most = 0;

    for (int rank = 0; rank < comm->size; rank++)
        if (node_of_rank(comm, rank) > most)
            most = node_of_rank(comm, rank);
    return most;
}

int coll_spread_find(struct comm *comm)
{
    const size_t nodes = is_on_one(comm) ? 0 : (size_t)most_node(comm) + 1, size = (size_t)comm->size;
    struct spread *spread = NULL;
    int *numbers = NULL, rc;

    if (!nodes) {
        comm->is_placed = true;
        return 0;
    }
    spread = mem_zalloc(sizeof *spread + size * sizeof(int));
    numbers = mem_zalloc((2 * nodes + size) * sizeof(int));
    rc = !spread || !numbers;
    if (!rc) {
        spread->layout.node_of = spread->node_of = (int *)(spread + 1);
        number_nodes(comm, spread, numbers, numbers + nodes);
        rc = gather_here(comm, spread, numbers + 2 * nodes);
    }
    mem_free(numbers);
    if (rc) {
        mem_free(spread);
        return err(MPI_ERR_NO_MEM, "no memory for the nodes of %d processes", comm->size);
    }
    comm->spread = spread;
    comm->is_placed = true;
    return 0;
}

void coll_spread_drop(struct comm *comm)
{
    if (!comm->spread)
        return;
    if (comm->spread->here.shelf.number > 0 && shelf_is_offered())
        shelf_leave(&comm->spread->here);
    group_unref(comm->spread->here.group);
    mem_free(comm->spread);
    comm->spread = NULL;
}
