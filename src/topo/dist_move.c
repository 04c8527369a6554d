/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. A distributed graph whose processes may become other ranks (MPI 5.0 §8.5.4). Nobody knows all of it, so
 * rank 0 collects it, and when the order changes, hands the neighbours of each node on to the process that is the node
 * now. Memory there: four numbers for each edge. */
#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "topo/int_topo.h"

/* The graph at rank 0: of each process two degrees and then, behind those of the others, the arrays of its
 * topology. */
struct whole {
    struct comm *comm;
    const char *call;
    bool is_weighted;
    int *degrees;
    MPI_Count *counts, *places; /* one piece of memory */
    int *numbers;
    MPI_Count total;
};

static int whole_open(struct whole *w)
{
    const size_t n = (size_t)w->comm->size;

    if (w->comm->rank != 0)
        return 0;
    w->degrees = mem_alloc(2 * n * sizeof *w->degrees);
    w->counts = mem_alloc(2 * n * sizeof *w->counts);
    w->places = w->counts + n;
    return w->degrees && w->counts ? 0 : err(MPI_ERR_NO_MEM, "no memory for the degrees of %zu processes", n);
}

static void whole_close(struct whole *w)
{
    mem_free(w->degrees);
    mem_free(w->counts);
    mem_free(w->numbers);
}

/* Where what comes from each process lies, and room for it. */
static int whole_prepare(struct whole *w)
{
    if (w->comm->rank != 0)
        return 0;
    for (int rank = 0; rank < w->comm->size; rank++) {
        w->places[rank] = w->total;
        w->counts[rank] = 2 * ((MPI_Count)w->degrees[2 * rank] + w->degrees[2 * rank + 1]);
        w->total += w->counts[rank];
    }
    w->numbers = mem_alloc(((size_t)w->total + 1) * sizeof *w->numbers);
    return w->numbers ? 0 : err(MPI_ERR_NO_MEM, "no memory for a graph of %lld edges", (long long)w->total / 4);
}

/* The arrays of a topology lie one after the other. */
static MPI_Count numbers_of(const struct topology *topology)
{
    return 2 * ((MPI_Count)topology->dist.indegree + topology->dist.outdegree);
}

/* Collective. */
static int whole_collect(struct whole *w, const struct topology *topology)
{
    const int degrees[2] = { topology->dist.indegree, topology->dist.outdegree };
    struct type *type = obj_type(MPI_INT);
    int rc;

    w->comm->coll_outer = w->call;
    rc = coll_run(w->comm, COLL_ARGS(COLL_GATHER, COLL_SAME(degrees, 2, type), COLL_SAME(w->degrees, 2, type),
                                     NULL, 0));
    w->comm->coll_outer = NULL;
    if (rc)
        return rc;
    rc = topo_agree(w->comm, w->call, whole_prepare(w), 0, "");
    if (rc)
        return rc;
    w->comm->coll_outer = w->call;
    rc = coll_run(w->comm, COLL_ARGS(COLL_GATHERV, COLL_SAME(topology->dist.sources, numbers_of(topology), type),
                                     COLL_VARYING(w->numbers, w->counts, w->places, type), NULL, 0));
    w->comm->coll_outer = NULL;
    return rc;
}

/* Edges of one direction of a node; returns how many there are now. */
static int64_t add_pairs(const struct whole *w, struct topo_pair *pairs, int64_t n, int node, const int *others,
                         int count)
{
    for (int i = 0; i < count; i++)
        pairs[n++] = (struct topo_pair){ node, others[i], w->is_weighted ? others[count + i] : 1 };
    return n;
}

static int make_talk(const void *arg, struct topo_talk *talk)
{
    const struct whole *w = arg;
    struct topo_pair *pairs = w->total / 2 > TOPO_PAIRS_MAX
                                  ? NULL : mem_alloc(((size_t)w->total / 2 + 1) * sizeof *pairs);
    int64_t n = 0;
    int rc;

    if (!pairs)
        return err(MPI_ERR_NO_MEM, "no memory to map a graph of %lld edges", (long long)w->total / 4);
    for (int rank = 0; rank < w->comm->size; rank++) {
        const int *numbers = w->numbers + w->places[rank], in = w->degrees[2 * rank];

        n = add_pairs(w, pairs, n, rank, numbers, in);
        n = add_pairs(w, pairs, n, rank, numbers + 2 * (size_t)in, w->degrees[2 * rank + 1]);
    }
    rc = topo_talk_pairs(talk, w->comm->size, pairs, n);
    mem_free(pairs);
    return rc;
}

/* Counts and places of what each process is to get, by its new rank; `each`: two degrees for all. */
static void aim(struct whole *w, const int *order, MPI_Count *counts, MPI_Count *places, bool each)
{
    for (int rank = 0; rank < w->comm->size; rank++) {
        counts[order[rank]] = each ? 2 : w->counts[rank];
        places[order[rank]] = each ? 2 * (MPI_Count)rank : w->places[rank];
    }
}

/* Collective: *topology becomes that of the node which this process is now. `counts` has room for two numbers for each
 * process, at rank 0. */
static int hand_on(struct whole *w, const int *order, MPI_Count *counts, struct topology **topology)
{
    MPI_Count *const places = counts + w->comm->size;
    struct type *type = obj_type(MPI_INT);
    struct topology *mine;
    int degrees[2], rc;

    if (w->comm->rank == 0)
        aim(w, order, counts, places, true);
    w->comm->coll_outer = w->call;
    rc = coll_run(w->comm, COLL_ARGS(COLL_SCATTERV, COLL_VARYING(w->degrees, counts, places, type),
                                     COLL_SAME(degrees, 2, type), NULL, 0));
    w->comm->coll_outer = NULL;
    if (rc)
        return rc;
    mine = topology_create_dist(degrees[0], degrees[1]);
    rc = mine ? 0 : err(MPI_ERR_NO_MEM, "no memory for %d sources, %d destinations", degrees[0], degrees[1]);
    rc = topo_agree(w->comm, w->call, rc, 0, "");
    if (!rc) {
        mine->dist.is_weighted = w->is_weighted;
        if (w->comm->rank == 0)
            aim(w, order, counts, places, false);
        w->comm->coll_outer = w->call;
        rc = coll_run(w->comm, COLL_ARGS(COLL_SCATTERV, COLL_VARYING(w->numbers, counts, places, type),
                                         COLL_SAME(mine->dist.sources, numbers_of(mine), type), NULL, 0));
        w->comm->coll_outer = NULL;
    }
    topology_unref(rc ? mine : *topology);
    if (!rc)
        *topology = mine;
    return rc;
}

/* Collective, from the memory that all have. */
static int move_nodes(struct topo_reorder *r, struct whole *w, MPI_Count *counts, struct topology **topology)
{
    int rc = whole_collect(w, *topology);

    if (!rc)
        rc = topo_reorder_find(r, make_talk, w);
    return rc || !r->is_better ? rc : hand_on(w, r->order, counts, topology);
}

int topo_dist_make(struct comm *comm, const char *call, int reorder, struct topology *topology, struct comm **out)
{
    struct whole w = { .comm = comm, .call = call, .is_weighted = topology->dist.is_weighted };
    struct topo_reorder r;
    MPI_Count *counts = NULL;
    int rc = topo_reorder_open(&r, comm, call, comm->size, reorder);

    if (r.is_on) {
        if (!rc)
            rc = whole_open(&w);
        if (!rc && comm->rank == 0 && !(counts = mem_alloc(2 * (size_t)comm->size * sizeof *counts)))
            rc = err(MPI_ERR_NO_MEM, "no memory to hand on the edges of %d processes", comm->size);
        rc = topo_agree(comm, call, rc, 0, "");
        if (!rc)
            rc = move_nodes(&r, &w, counts, &topology);
        mem_free(counts);
        whole_close(&w);
    }
    if (rc)
        topology_unref(topology);
    else
        rc = topo_reorder_make(&r, topology, out);
    topo_reorder_close(&r);
    return rc;
}
