/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. The steps that the makers of communicators with a topology take together: compare their arguments, so
 * that a mistake of one process is an error of all and nobody is left waiting; then make the communicator. */
#include "base/err.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "topo/int_topo.h"

uint64_t topo_hash(uint64_t hash, const int *array, int count)
{
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint32_t)array[i]) * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
    return hash ^ hash >> 29;
}

int topo_agree(struct comm *comm, const char *call, int rc, uint64_t hash, const char *what)
{
    /* Maxima: of the errors and who has them, of the value, and of its complement, which gives the minimum. */
    uint64_t seen[3] = { rc ? (uint64_t)err_class(rc) << 32 | (uint32_t)comm->rank : 0, hash, ~hash };
    struct type *type = obj_type(MPI_UINT64_T);
    int failed;

    comm->coll_outer = call;
    failed = coll_run(comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 3, type), COLL_SAME(seen, 3, type),
                                      obj_op(MPI_MAX), 0));
    comm->coll_outer = NULL;
    if (rc || failed)
        return rc ? rc : failed;
    if (seen[0])
        return err((int)(seen[0] >> 32), "the call has failed at rank %d, so it fails here, too",
                   (int)(uint32_t)seen[0]);
    if (seen[1] != ~seen[2])
        return err(MPI_ERR_ARG, "the processes do not agree about %s", what);
    return 0;
}

int topo_make(struct comm *comm, const char *call, struct group *group, struct topology *topology, struct comm **out)
{
    const int rc = comm_create_for(comm, group, call, out);

    group_unref(group);
    if (rc || !*out)
        topology_unref(topology);
    else
        (*out)->topology = topology;
    return rc;
}

int topo_make_first(struct comm *comm, const char *call, int size, struct topology *topology, struct comm **out)
{
    const int range[1][3] = { { 0, size - 1, 1 } };
    struct group *group;
    int rc;

    if (size == comm->size) {
        group = comm->group;
        obj_ref(&group->obj);
    } else {
        rc = comm_group_range_incl(comm->group, 1, range, &group);
        if (rc) {
            topology_unref(topology);
            return rc;
        }
    }
    return topo_make(comm, call, group, topology, out);
}
