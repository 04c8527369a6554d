/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce_scatter(_block) (MPI 5.0 §6.10); m is the size of all blocks together.
 *
 *   tree       reduce to rank 0, which hands out the blocks; log2 n rounds of m bytes, then n messages from rank 0,
 *              which keeps all of it for a while */
#include "coll/algorithms.h"

static MPI_Count count_of(const struct coll_args *args, int rank)
{
    return args->recv.counts.p ? coll_number(&args->recv.counts, rank) : args->recv.count;
}

void coll_reduce_scatter_tree(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const MPI_Count count = args->recv.counts.p ? coll_sum(&args->recv, size) : args->recv.count * size;
    const struct coll_block own = { (void *)(uintptr_t)coll_own(args), count, args->recv.type };
    const struct coll_block result = { args->recv.buf, count_of(args, rank), args->recv.type };
    struct coll_block all = own;
    MPI_Count first = 0;
    int last;

    if (!rank)
        all = sched_items(s, own.type, count);
    last = coll_part_reduce(s, own, all, 0);
    if (rank) {
        sched_recv(s, result, 0, 1, AFTER(last));
        return;
    }
    for (int dest = 0; dest < size; dest++) {
        const struct coll_block block = coll_part(all, first, count_of(args, dest));

        first += block.count;
        if (dest)
            sched_send(s, block, dest, 1, AFTER(last));
        else
            sched_copy(s, block, result, AFTER(last));
    }
}
