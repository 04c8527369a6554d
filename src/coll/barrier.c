/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Barrier (MPI 5.0 §6.3). Blocking, the first three:
 *
 *   on a shelf     words in shared memory (node_move.c)
 *   dissemination  ceil(log2(size)) rounds of one empty message each way, when every rank has a processor
 *   central        all report to rank 0, which answers all, when ranks outnumber processors: then time is the number of
 *                  times that a rank must get a processor, which is two here and one in each round there
 *   tree:radix     all report to rank 0 and are told, along a tree with up to radix - 1 children a floor: 2 (n - 1)
 *                  messages, 2 ceil(log_radix n) rounds
 *
 * All ranks choose alike: what the launcher has said decides. */
#include "coll/algorithms.h"
#include "coll/node.h"
#include "progress/progress.h"

static int disseminate(struct comm *comm, int tag, const struct coll_block *nothing)
{
    const int size = comm->size;
    int rc = 0;

    for (int distance = 1; distance < size && !rc; distance += distance) {
        const int dest = (comm->rank + distance) % size;
        const int source = (comm->rank - distance + size) % size;

        rc = coll_exchange(comm, tag, nothing, dest, nothing, source);
    }
    return rc;
}

static int report(struct comm *comm, int tag, const struct coll_block *nothing)
{
    const int rc = coll_send(comm, tag, nothing, 0);

    return rc ? rc : coll_recv(comm, tag, nothing, 0);
}

static int answer(struct comm *comm, int tag, const struct coll_block *nothing)
{
    int rc = 0;

    for (int rank = 1; rank < comm->size && !rc; rank++)
        rc = coll_recv(comm, tag, nothing, rank);
    for (int rank = 1; rank < comm->size && !rc; rank++)
        rc = coll_send(comm, tag, nothing, rank);
    return rc;
}

int coll_barrier(struct comm *comm)
{
    const struct coll_block nothing = { NULL, 0, obj_type(MPI_BYTE) };
    int tag;

    if (unlikely(comm->is_inter || coll_by_messages & 1U << COLL_BARRIER))
        return coll_run(comm, COLL_ARGS(COLL_BARRIER, COLL_NOTHING, COLL_NOTHING, NULL, 0));
    if (node_has(comm))
        return node_barrier(comm);
    tag = coll_begin(comm, COLL_BARRIER, "MPI_Barrier");
    if (comm->size == 1)
        return 0;
    if (progress_is_oversubscribed())
        return comm->rank ? report(comm, tag, &nothing) : answer(comm, tag, &nothing);
    return disseminate(comm, tag, &nothing);
}

int coll_part_disseminate(struct sched *s, const struct coll_team *team, int sub, int after)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    const int size = team->size, place = team->place;
    int last = after;

    for (int distance = 1; distance < size; distance += distance) {
        coll_team_send(s, team, nothing, (place + distance) % size, sub, AFTER(last));
        last = coll_team_recv(s, team, nothing, (place - distance + size) % size, sub, AFTER(last));
    }
    return last;
}

void coll_barrier_dissemination(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);

    (void)args;
    coll_part_disseminate(s, &team, 0, SCHED_NONE);
}

void coll_barrier_tree(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, 0);
    const int radix = (int)s->parameter, met = coll_part_meet(s, &team, radix, 0, SCHED_NONE);

    (void)args;
    coll_part_bcast(s, &team, coll_byte_block(NULL, 0), radix, 1, met);
}
