/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Alltoall(v, w) (MPI 5.0 §6.8), and a way for MPI_Allgather(v).
 *
 *   pairs:window  a message to each process ahead and from each behind, in the order of their distance, `window` at a
 *              time, 2 where lengths vary and are more than 32 KB on average; n - 1 messages of m bytes out and in.
 *              With window 1: rounds of one exchange each. With a wide one no message waits for another, and where
 *              ranks share processors, time is the number of times that one must get a processor: so for
 *              allgather(v), too
 *   bruck      blocks travel by the binary digits of their distance, all those with the same digit together; ceil(log2
 *              n) rounds of up to (n + 1) / 2 blocks, about 4 n copies, temporary memory for 2 n blocks. Equal blocks
 *              only
 *   in_place   partners of one round swap their blocks: what goes out is packed into a temporary buffer first. n
 *              rounds, a temporary block */
#include "coll/algorithms.h"

enum { LONG_BLOCK = 32768 };

/* Where only this process knows the lengths of its blocks. */
static bool has_long_blocks(const struct sched *s, const struct coll_args *args)
{
    size_t len = 0;

    if (args->operation != COLL_ALLTOALLV && args->operation != COLL_ALLTOALLW)
        return false;
    for (int i = 0; i < s->comm->size; i++) {
        const struct coll_block in = coll_data_block(&args->recv, i), out = coll_data_block(&args->send, i);

        len += size_max(coll_bytes(&in), coll_bytes(&out));
    }
    return len / LONG_BLOCK > (size_t)s->comm->size;
}

void coll_alltoall_pairs(struct sched *s, const struct coll_args *args)
{
    const bool is_same = args->operation == COLL_ALLGATHER || args->operation == COLL_ALLGATHERV;
    const bool is_in_place = coll_is_in_place(args->send.buf);
    const int size = s->comm->size, rank = s->comm->rank;
    const int window = has_long_blocks(s, args) && s->parameter > 2 ? 2 : (int)s->parameter;
    int few[16], *over = window <= (int)ARRAY_LEN(few) ? few : sched_bytes(s, (size_t)window * sizeof *over);

    for (int i = 0; over && i < window; i++)
        over[i] = SCHED_NONE;
    for (int distance = 1; over && distance < size; distance++) {
        const int dest = (rank + distance) % size, source = (rank - distance + size) % size;
        int *turn = &over[distance % window];
        const struct coll_block block = is_in_place ? coll_data_block(&args->recv, rank)
                                                    : coll_data_block(&args->send, is_same ? 0 : dest);
        const int in = sched_recv(s, coll_data_block(&args->recv, source), source, 0, AFTER(*turn));
        const int out = sched_send(s, block, dest, 0, AFTER(*turn));

        *turn = distance + window < size ? sched_join(s, AFTER(in, out)) : SCHED_NONE;
    }
    if (!is_in_place)
        sched_copy(s, coll_data_block(&args->send, is_same ? 0 : rank), coll_data_block(&args->recv, rank), AT_ONCE);
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

/* --- bruck: block i of `all` travels i ranks ahead, and comes from i ranks behind in the end --- */

struct bruck {
    char *all, *out, *in; /* n blocks; what goes and comes in a round */
    size_t len;           /* of a block */
    int size;
};

/* What lies in blocks with the digit `bit` to `packed`, or back; after `last`. Returns their bytes. */
static size_t move_digit(struct sched *s, const struct bruck *b, int bit, char *packed, bool is_back, int *last)
{
    size_t filled = 0;
    const int after = *last;

    for (int first = bit; first < b->size; first += 2 * bit) {
        const size_t len = b->len * (size_t)(bit < b->size - first ? bit : b->size - first);
        const struct coll_block loose = coll_byte_block(coll_address(b->all, (MPI_Count)b->len * first), len);
        const struct coll_block dense = coll_byte_block(coll_address(packed, (MPI_Count)filled), len);

        *last = sched_join(s, AFTER(*last, is_back ? sched_copy(s, dense, loose, AFTER(after))
                                                   : sched_copy(s, loose, dense, AFTER(after))));
        filled += len;
    }
    return filled;
}

void coll_alltoall_bruck(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const struct coll_data *from = coll_is_in_place(args->send.buf) ? &args->recv : &args->send;
    const struct coll_range mine = coll_range_around(from, rank, size, size);
    const struct coll_block block = coll_data_block(&args->recv, 0);
    struct bruck b = { .len = coll_bytes(&block), .size = size };
    const size_t half = b.len * (size_t)(size / 2 + 1), before_end = coll_bytes(&mine.part[0]);
    int last = SCHED_NONE;

    b.all = sched_bytes(s, b.len * (size_t)size);
    b.out = sched_bytes(s, half);
    b.in = sched_bytes(s, half);
    for (int i = 0; i < mine.parts; i++) {
        void *to = coll_address(b.all, i ? (MPI_Count)before_end : 0);
        last = sched_copy(s, mine.part[i], coll_byte_block(to, coll_bytes(&mine.part[i])), AFTER(last));
    }
    for (int bit = 1; bit < size; bit += bit) {
        const size_t len = move_digit(s, &b, bit, b.out, false, &last);

        last = sched_join(s, AFTER(sched_send(s, coll_byte_block(b.out, len), (rank + bit) % size, 0, AFTER(last)),
                                   sched_recv(s, coll_byte_block(b.in, len), (rank - bit + size) % size, 0,
                                              AFTER(last))));
        move_digit(s, &b, bit, b.in, true, &last);
    }
    for (int i = 0; i < size; i++)
        sched_copy(s, coll_byte_block(coll_address(b.all, (MPI_Count)b.len * i), b.len),
                   coll_data_block(&args->recv, (rank - i + size) % size), AFTER(last));
}
