/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allgather(v) (MPI 5.0 §6.7). All of these bring (n - 1) m bytes into and out of each process.
 *
 *   dissemination   after k rounds a process holds the 2^k blocks from its own rank on (around the end), and gets as
 *                   many from the process at that distance, straight to their places; a range that passes the end of
 *                   the buffer travels in two messages. ceil(log2 n) rounds. Equal blocks only
 *   packed          the same for blocks of any size, through a temporary buffer for all of them: n copies more
 *   doubling        partners at growing distance swap what they have; log2 n rounds of one message. n a power of two;
 *                   equal blocks only
 *   ring            n - 1 rounds of one block from the left to the right
 *   neighbors       n / 2 rounds: with the neighbors on both sides in turn, two blocks each after the first round. n
 *                   even
 *   pairs           alltoall.c */
#include "coll/algorithms.h"

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
        const struct coll_range out = coll_range_around(&args->recv, rank, n, size);
        const struct coll_range in = coll_range_around(&args->recv, source, n, size);
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

void coll_allgather_doubling(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    int last = put_own(s, args);

    for (int bit = 1; bit < size; bit += bit) {
        const int partner = rank ^ bit;

        sched_send(s, coll_data_range(&args->recv, rank & -bit, bit), partner, 0, AFTER(last));
        last = sched_recv(s, coll_data_range(&args->recv, partner & -bit, bit), partner, 0, AFTER(last));
    }
}

/* The blocks of a pair of ranks; as one message where they are neighbours in memory, too. */
static struct coll_range pair_at(const struct coll_data *data, int first)
{
    struct coll_range range = { .parts = 1 };

    if (!data->counts.p) {
        range.part[0] = coll_data_range(data, first, 2);
        return range;
    }
    range.parts = 2;
    range.part[0] = coll_data_block(data, first);
    range.part[1] = coll_data_block(data, first + 1);
    return range;
}

/* Pairs of an even rank and the odd one after it swap their blocks; then pairs travel: those of even ranks come from
 * the right and the left in turn, beginning on the left, those of odd ranks the other way. */
void coll_allgather_neighbors(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, sign = rank % 2 ? -1 : 1;
    const int neighbor[2] = { (rank + sign + size) % size, (rank - sign + size) % size };
    const struct coll_block theirs = coll_data_block(&args->recv, neighbor[0]);
    int held = rank & -2, from[2] = { held, held };
    int last = put_own(s, args), got;

    if (size == 1)
        return;
    sched_send(s, coll_data_block(&args->recv, rank), neighbor[0], 0, AFTER(last));
    last = sched_join(s, AFTER(last, sched_recv(s, theirs, neighbor[0], 0, AT_ONCE)));
    for (int round = 1; round < size / 2; round++) {
        const int side = round % 2, peer = neighbor[side];
        const struct coll_range out = pair_at(&args->recv, held);

        held = from[side] = (from[side] + (side ? -2 : 2) * sign + size) % size;
        got = last;
        for (int i = 0; i < out.parts; i++)
            sched_send(s, out.part[i], peer, i, AFTER(last));
        for (int i = 0; i < out.parts; i++)
            got = sched_join(s, AFTER(got, sched_recv(s, pair_at(&args->recv, held).part[i], peer, i, AFTER(last))));
        last = got;
    }
}

/* --- packed --- */

static size_t bytes_at(const struct coll_data *data, int rank)
{
    const struct coll_block block = coll_data_block(data, rank);

    return coll_bytes(&block);
}

/* Bytes of the `n` blocks from that of `rank` on. */
static size_t bytes_around(const struct coll_data *data, int rank, int n, int size)
{
    size_t len = 0;

    if (!data->counts.p)
        return bytes_at(data, 0) * (size_t)n;
    for (int i = 0; i < n; i++)
        len += bytes_at(data, (rank + i) % size);
    return len;
}

void coll_allgather_packed(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct coll_block own = coll_is_in_place(args->send.buf) ? coll_data_block(&args->recv, rank)
                                                                    : coll_data_block(&args->send, 0);
    char *const all = sched_bytes(s, bytes_around(&args->recv, 0, size, size));
    size_t filled = bytes_at(&args->recv, rank);
    int last = sched_copy(s, own, coll_byte_block(all, filled), AT_ONCE);

    for (int held = 1; held < size; held += held) {
        const int n = held < size - held ? held : size - held, source = (rank + held) % size;
        const size_t in = bytes_around(&args->recv, source, n, size), out = bytes_around(&args->recv, rank, n, size);

        sched_send(s, coll_byte_block(all, out), (rank - held + size) % size, 0, AFTER(last));
        last = sched_recv(s, coll_byte_block(coll_address(all, (MPI_Count)filled), in), source, 0, AFTER(last));
        filled += in;
    }
    filled = 0;
    for (int i = 0; i < size; i++) {
        const struct coll_block to = coll_data_block(&args->recv, (rank + i) % size);

        if (i || !coll_is_in_place(args->send.buf))
            sched_copy(s, coll_byte_block(coll_address(all, (MPI_Count)filled), coll_bytes(&to)), to, AFTER(last));
        filled += coll_bytes(&to);
    }
}
