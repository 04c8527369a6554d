/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. A few bytes to the processes of a group that need not be a communicator's, for making communicators: a
 * binomial tree of blocking messages. Knows: p2p. Does not know: schedules. */
#include "base/err.h"
#include "coll/int_coll.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

static int rank_at(struct comm *comm, const struct group *group, int place, int *rank)
{
    *rank = group_rank_of(comm->group, group_proc(group, place));
    if (*rank == MPI_UNDEFINED)
        return err(MPI_ERR_GROUP, "rank %d of the group is not in the communicator", place);
    return 0;
}

/* To those of `distances`, a bit each, from `farthest` on, who has most below it. Returns those that could not be sent
 * to; *rc is the error. */
static int send_below(struct comm *comm, const struct group *group, int tag, const struct coll_block *block,
                      int farthest, int distances, int *rc)
{
    int missed = 0, rank, failed;

    for (int distance = farthest; distance > 0; distance /= 2) {
        if (!(distances & distance) || group->rank + distance >= group->size)
            continue;
        failed = rank_at(comm, group, group->rank + distance, &rank);
        if (likely(!failed))
            failed = coll_send(comm, tag, block, rank);
        if (unlikely(failed)) {
            missed |= distance;
            *rc = failed;
        }
    }
    return missed;
}

/* They get the error instead, when there is memory for that. */
static COLD void fail_below(struct comm *comm, const struct group *group, int tag, int farthest, int distances,
                            int failed)
{
    int rank;

    for (int distance = farthest; distance > 0; distance /= 2) {
        if (distances & distance && group->rank + distance < group->size &&
            !rank_at(comm, group, group->rank + distance, &rank))
            p2p_tell_cause(comm, failed, rank, tag, P2P_COLL);
    }
}

/* There may be memory for the connection in the meantime. */
static COLD int send_again(struct comm *comm, const struct group *group, int tag, const struct coll_block *block,
                           int farthest, int missed, int rc)
{
    enum { TRIES = 4 };

    for (int i = 0; i < TRIES && missed; i++) {
        progress_poll();
        missed = send_below(comm, group, tag, block, farthest, missed, &rc);
    }
    if (!missed)
        return 0;
    fail_below(comm, group, tag, farthest, missed, coll_failed_at(comm, rc));
    return rc;
}

int coll_failed_at(const struct comm *comm, int rc)
{
    char text[ERR_TEXT_SIZE];

    err_text(rc, text, sizeof text);
    return err(err_class(rc), "E0339: the call has failed at rank %d: %s", comm->rank, text);
}

/* Whoever has failed waits for what comes all the same: it may be told that others need not be told of it. */
int coll_group_bcast(struct comm *comm, const struct group *group, void *buf, size_t size, int tag, int failed)
{
    const struct coll_block block = { buf, (MPI_Count)size, obj_type(MPI_BYTE) };
    int distance = 1, missed, rank, rc = 0;

    if (tag == COLL_NEXT_TAG)
        tag = coll_begin(comm, COLL_INTERNAL, "MPI_Bcast");
    if (group->rank == MPI_UNDEFINED)
        return failed;
    while (distance < group->size && !(group->rank & distance))
        distance += distance;
    if (group->rank) {
        rc = rank_at(comm, group, group->rank - distance, &rank);
        if (!rc)
            rc = coll_recv(comm, tag, &block, rank);
    }
    if (unlikely(failed || rc)) {
        fail_below(comm, group, tag, distance / 2, -1, failed ? coll_failed_at(comm, failed) : rc);
        return failed ? failed : rc;
    }
    missed = send_below(comm, group, tag, &block, distance / 2, -1, &rc);
    return likely(!missed) ? 0 : send_again(comm, group, tag, &block, distance / 2, missed, rc);
}
