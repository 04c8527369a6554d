/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allgather(v) (MPI 5.0 §6.7).
 *
 *   dissemination   after k rounds a process holds the 2^k blocks from its own rank on (around the end), and gets as
 *                   many from the process at that distance, straight to their places; a range that passes the end of
 *                   the buffer travels in two messages. ceil(log2 n) rounds, (n - 1) m bytes in and out. Equal
 *                   blocks only
 *   ring            n - 1 rounds of one block from the left to the right; (n - 1) m bytes in and out */
#include "coll/algorithms.h"

/* The range of `n` blocks from rank `first` on, around the end, as one or two messages. */
struct range {
    int parts;
    struct coll_block part[2];
};

static struct range range_around(const struct coll_data *data, int first, int n, int size)
{
    const int before_end = n < size - first ? n : size - first;
    struct range range = { .parts = 1, .part = { coll_data_range(data, first, before_end) } };

    range.part[1] = coll_data_range(data, 0, n - before_end);
    if (n > before_end)
        range.parts = 2;
    return range;
}

static int put_own(struct sched *s, const struct coll_args *args)
{
    if (coll_is_in_place(args->send.buf))
        return SCHED_NONE;
    return sched_copy(s, coll_data_block(&args->send, 0), coll_data_block(&args->recv, s->comm->rank), AT_ONCE);
}

/* Sender and receiver cut a range at the same place, so its parts have the same numbers. */
void coll_allgather_dissemination(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int last = put_own(s, args), sub = 0;

    for (int held = 1; held < size; held += held, sub += 2) {
        const int n = held < size - held ? held : size - held;
        const int source = (rank + held) % size, dest = (rank - held + size) % size;
        const struct range out = range_around(&args->recv, rank, n, size);
        const struct range in = range_around(&args->recv, source, n, size);
        int got[2] = { SCHED_NONE, SCHED_NONE };

        for (int i = 0; i < in.parts; i++)
            got[i] = sched_recv(s, in.part[i], source, sub + i, AFTER(last));
        for (int i = 0; i < out.parts; i++)
            sched_send(s, out.part[i], dest, sub + i, AFTER(last));
        last = got[1] < 0 ? got[0] : sched_join(s, AFTER(got[0], got[1]));
    }
}

void coll_allgather_ring(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const int left = (rank - 1 + size) % size, right = (rank + 1) % size;
    int last = put_own(s, args);

    for (int round = 0; round < size - 1; round++) {
        const struct coll_block out = coll_data_block(&args->recv, (rank - round + size) % size);
        const struct coll_block in = coll_data_block(&args->recv, (left - round + size) % size);

        sched_send(s, out, right, round, AFTER(last));
        last = sched_recv(s, in, left, round, AFTER(last));
    }
}
