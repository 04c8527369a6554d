/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. A few bytes to the processes of a group that need not be a communicator's, for making communicators: a
 * binomial tree of blocking messages. Knows: p2p. Does not know: schedules. */
#include "base/err.h"
#include "coll/int_coll.h"

static int rank_at(struct comm *comm, const struct group *group, int place, int *rank)
{
    *rank = group_rank_of(comm->group, group_proc(group, place));
    if (*rank == MPI_UNDEFINED)
        return err(MPI_ERR_GROUP, "rank %d of the group is not in the communicator", place);
    return 0;
}

static int send_below(struct comm *comm, const struct group *group, int tag, const struct coll_block *block,
                      int distance)
{
    int rank, rc = 0;

    for (; distance > 0 && !rc; distance /= 2) {
        if (group->rank + distance >= group->size)
            continue;
        rc = rank_at(comm, group, group->rank + distance, &rank);
        if (!rc)
            rc = coll_send(comm, tag, block, rank);
    }
    return rc;
}

int coll_group_bcast(struct comm *comm, const struct group *group, void *buf, size_t size, int tag)
{
    const struct coll_block block = { buf, (MPI_Count)size, obj_type(MPI_BYTE) };
    int distance = 1, rank, rc = 0;

    if (tag == COLL_NEXT_TAG)
        tag = coll_begin(comm, COLL_INTERNAL, "MPI_Bcast");
    if (group->rank == MPI_UNDEFINED)
        return 0;
    while (distance < group->size && !(group->rank & distance))
        distance += distance;
    if (group->rank) {
        rc = rank_at(comm, group, group->rank - distance, &rank);
        if (!rc)
            rc = coll_recv(comm, tag, &block, rank);
    }
    return rc ? rc : send_below(comm, group, tag, &block, distance / 2);
}
