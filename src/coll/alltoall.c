/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Alltoall(v, w) (MPI 5.0 §6.8).
 *
 *   pairs      a message to each process ahead and from each behind, in the order of their distance, WINDOW at a time;
 *              n - 1 messages of m bytes out and in
 *   in_place   partners of one round swap their blocks: what goes out is packed into a temporary buffer first. n
 *              rounds, a temporary block */
#include "coll/algorithms.h"

enum { WINDOW = 16 };

void coll_alltoall_pairs(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int over[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        over[i] = SCHED_NONE;
    for (int distance = 1; distance < size; distance++) {
        const int dest = (rank + distance) % size, source = (rank - distance + size) % size;
        int *turn = &over[distance % WINDOW];
        const int in = sched_recv(s, coll_data_block(&args->recv, source), source, 0, AFTER(*turn));
        const int out = sched_send(s, coll_data_block(&args->send, dest), dest, 0, AFTER(*turn));

        *turn = distance + WINDOW < size ? sched_join(s, AFTER(in, out)) : SCHED_NONE;
    }
    sched_copy(s, coll_data_block(&args->send, rank), coll_data_block(&args->recv, rank), AT_ONCE);
}

/* In round k the ranks whose sum is k (modulo size) are partners: each pair meets once. */
void coll_alltoall_in_place(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    struct coll_block packed = { NULL, 0, obj_type(MPI_BYTE) };
    int last = SCHED_NONE;
    size_t len = 0;

    for (int peer = 0; peer < size; peer++) {
        const struct coll_block block = coll_data_block(&args->recv, peer);
        len = size_max(len, coll_bytes(&block));
    }
    packed.buf = sched_bytes(s, len);
    for (int round = 0; round < size; round++) {
        const int peer = (round - rank + size) % size;
        const struct coll_block block = coll_data_block(&args->recv, peer);

        if (peer == rank)
            continue;
        packed.count = (MPI_Count)coll_bytes(&block);
        last = sched_copy(s, block, packed, AFTER(last));
        last = sched_join(s, AFTER(sched_send(s, packed, peer, 0, AFTER(last)),
                                   sched_recv(s, block, peer, 0, AFTER(last))));
    }
}
