/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. `reorder`: which process becomes which rank of the new communicator. All tell where they sit, rank 0
 * calculates and tells the result, so all have the same, and the work is done once. The calls that map only (MPI 5.0
 * §8.5.8) are local: they go by what the launcher has told, and each calculates for itself. */
#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "p2p/p2p.h"
#include "topo/int_topo.h"

int topo_reorder_open(struct topo_reorder *r, struct comm *comm, const char *call, int size, int reorder)
{
    struct site made_up;

    *r = (struct topo_reorder){ .comm = comm, .call = call, .size = size, .is_on = reorder && size > 1 };
    r->is_on &= !p2p_is_foreign_ctx(comm->ctx); /* nobody knows where processes of other clients are */
    if (!r->is_on)
        return 0;
    r->seats = mem_alloc((size_t)comm->size * sizeof *r->seats);
    r->order = mem_alloc((size_t)size * sizeof *r->order);
    if (!r->seats || !r->order)
        return err(MPI_ERR_NO_MEM, "no memory for the places of %d processes", comm->size);
    return site_is_made_up() ? site_find(0, 0, &made_up) : 0; /* its mistakes, before anybody waits */
}

void topo_reorder_close(struct topo_reorder *r)
{
    mem_free(r->seats);
    mem_free(r->order);
}

static int calculate(struct topo_reorder *r, topo_talk_fn *make_talk, const void *arg)
{
    struct topo_places places;
    struct topo_talk talk;
    int rc = make_talk(arg, &talk);

    if (rc)
        return rc;
    rc = topo_places_read(&places, r->seats, r->size);
    if (!rc) {
        rc = topo_map(&talk, &places, r->order, &r->is_better);
        topo_places_free(&places);
    }
    topo_talk_free(&talk);
    return rc;
}

/* What rank 0 has found, or that it has failed with `rc`. */
static int tell(struct topo_reorder *r, int rc)
{
    int told[2] = { rc ? err_class(rc) : 0, r->is_better };
    struct type *type = obj_type(MPI_INT);
    int failed;

    r->comm->coll_outer = r->call;
    failed = coll_run(r->comm, COLL_ARGS(COLL_BCAST, COLL_SAME(told, 2, type), COLL_NOTHING, NULL, 0));
    if (!failed && told[1])
        failed = coll_run(r->comm, COLL_ARGS(COLL_BCAST, COLL_SAME(r->order, r->size, type), COLL_NOTHING, NULL,
                                             0));
    r->comm->coll_outer = NULL;
    r->is_better = told[1];
    if (rc || failed || !told[0])
        return rc ? rc : failed;
    return err(told[0], "the call has failed at rank 0, so it fails here, too");
}

int topo_reorder_find(struct topo_reorder *r, topo_talk_fn *make_talk, const void *arg)
{
    int rc;

    if (!r->is_on)
        return 0;
    rc = comm_gather_seats(r->comm, r->call, r->seats);
    if (!rc && r->comm->rank == 0)
        rc = calculate(r, make_talk, arg);
    return tell(r, rc);
}

int topo_reorder_rank(const struct topo_reorder *r)
{
    int rank = r->comm->rank;

    if (r->is_better && rank < r->size)
        for (rank = 0; r->order[rank] != r->comm->rank;)
            rank++;
    return rank;
}

int topo_reorder_make(const struct topo_reorder *r, struct topology *topology, struct comm **out)
{
    struct group *group;
    int rc;

    if (!r->is_better)
        return topo_make_first(r->comm, r->call, r->size, topology, out);
    rc = comm_group_incl(r->comm->group, r->size, r->order, &group);
    if (!rc)
        return topo_make(r->comm, r->call, group, topology, out);
    topology_unref(topology);
    return rc;
}

int topo_reorder_alone(struct comm *comm, int size, topo_talk_fn *make_talk, const void *arg, int *rank)
{
    struct topo_reorder r;
    int rc = topo_reorder_open(&r, comm, "", size, true);

    if (!rc && r.is_on && comm_bound_seats(comm, r.seats))
        rc = calculate(&r, make_talk, arg);
    if (!rc)
        *rank = comm->rank < size ? topo_reorder_rank(&r) : MPI_UNDEFINED;
    topo_reorder_close(&r);
    return rc;
}
