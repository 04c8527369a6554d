/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1: the two sides may divide the message differently, as long as it is as long. Partitions are marked in
 * random order; what has arrived by MPI_Parrived is right before the rest is there. */
#include "mpipart.h"

enum { ROUNDS = 3 };

static void check_partition(const struct ring *ring, int partition, int round)
{
    const size_t len = ring->len / (size_t)ring->recv_parts;
    unsigned char *whole = test_alloc(ring->len);

    test_fill(whole, ring->len, test_key((uint64_t)ring_left(), (uint64_t)round, (uint64_t)ring->tag));
    CHECK(!memcmp(whole + (size_t)partition * len, ring->in + (size_t)partition * len, len),
          "partition %d of %d has arrived and is wrong", partition, ring->recv_parts);
    free(whole);
}

static void one_round(struct ring *ring, int round, uint64_t *state)
{
    int *order = test_alloc((size_t)ring->send_parts * sizeof *order);
    int flag, looks = 0;

    ring_shuffle(order, ring->send_parts, state);
    ring_start(ring, round);
    for (int i = 0; i < ring->send_parts; i++) {
        const int partition = (int)test_below(state, (size_t)ring->recv_parts);
        CHECK_OK(MPI_Pready(order[i], ring->reqs[1]));
        if (test_below(state, 8) || looks == 20)
            continue;
        CHECK_OK(MPI_Parrived(ring->reqs[0], partition, &flag));
        if (flag) {
            check_partition(ring, partition, round);
            looks++;
        }
    }
    ring_finish(ring, round);
    free(order);
}

int main(int argc, char **argv)
{
    static const int shapes[][2] = { { 3, 4 }, { 4, 3 }, { 1, 64 }, { 64, 1 }, { 1000, 7 }, { 7, 1000 }, { 5, 5 } };
    static const size_t lens[] = { 1, 30, 700 };
    uint64_t state;
    struct ring ring;

    test_begin(&argc, &argv);
    state = test_key((uint64_t)test_rank, 0, 2);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int s = shapes[i][0], r = shapes[i][1];
        for (size_t j = 0; j < 3; j++) {
            ring_open(&ring, s, r, (size_t)(s == r ? s : s * r) * lens[j], 9, MPI_COMM_WORLD);
            for (int round = 0; round < ROUNDS; round++)
                one_round(&ring, round, &state);
            ring_close(&ring);
        }
    }
    return test_end();
}
