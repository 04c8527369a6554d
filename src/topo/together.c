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
    struct coll_agreement all;

    rc = coll_agree(comm, call, rc, hash, &all);
    if (rc)
        return rc;
    if (all.error_class)
        return err(all.error_class, "E0339: the call has failed at rank %d, so it fails here, too", all.rank);
    if (!all.is_same)
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
