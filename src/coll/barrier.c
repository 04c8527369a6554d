/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Barrier (MPI 5.0 §6.3).
 *
 *   on a shelf     words in shared memory (node_move.c); blocking
 *   dissemination  ceil(log2(size)) rounds of one empty message each way
 *   tree:radix     all report to rank 0 and are told, along a tree with up to radix - 1 children a floor: 2 (n - 1)
 *                  messages, 2 ceil(log_radix n) rounds. Where ranks share processors, time is the number of times that
 *                  one must get a processor: two with a flat tree, one in each round of the other */
#include "coll/algorithms.h"
#include "coll/node.h"

int coll_barrier(struct comm *comm)
{
    if (likely(!comm->is_inter && !(coll_by_messages & 1U << COLL_BARRIER))) {
        if (unlikely(!comm->shelf.number)) /* as in node_try */
            comm->coll_call = coll_name(COLL_BARRIER, COLL_BLOCKING);
        if (likely(node_has(comm)))
            return node_barrier(comm);
    }
    return coll_run(comm, COLL_ARGS(COLL_BARRIER, COLL_NOTHING, COLL_NOTHING, NULL, 0));
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
