/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Bcast (MPI 5.0 §6.4).
 *
 *   binomial   ceil(log2 n) rounds; each process receives once, the root sends ceil(log2 n) times m bytes */
#include "coll/algorithms.h"

int coll_part_bcast(struct sched *s, struct coll_block block, int root, int after)
{
    const int size = s->comm->size, place = (s->comm->rank - root + size) % size;
    int distance = 1, last = after;

    while (distance < size && !(place & distance))
        distance += distance;
    if (place)
        last = sched_recv_local(s, block, (place - distance + root) % size, 0, AFTER(after));
    for (distance /= 2; distance > 0; distance /= 2) {
        if (place + distance < size)
            sched_send_local(s, block, (place + distance + root) % size, 0, AFTER(last));
    }
    return last;
}

void coll_bcast_binomial(struct sched *s, const struct coll_args *args)
{
    coll_part_bcast(s, coll_data_block(&args->send, 0), args->root, SCHED_NONE);
}
