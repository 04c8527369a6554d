/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1, §4.2.2: a partitioned message of the same partitions on both sides, marked ready one by one, by a
 * range, by a list; several rounds on the same requests. */
#include "mpipart.h"

enum { ROUNDS = 6 };

static void mark_list(const struct ring *ring, uint64_t *state)
{
    int *order = test_alloc((size_t)ring->send_parts * sizeof *order);

    ring_shuffle(order, ring->send_parts, state);
    CHECK_OK(MPI_Pready_list(ring->send_parts, order, ring->reqs[1]));
    free(order);
}

static void mark(const struct ring *ring, int how, uint64_t *state)
{
    const int last = ring->send_parts - 1, middle = last / 2;

    if (how == 0)
        CHECK_OK(MPI_Pready_range(0, last, ring->reqs[1]));
    if (how == 1)
        mark_list(ring, state);
    for (int i = 0; how == 2 && i <= last; i++)
        CHECK_OK(MPI_Pready(i, ring->reqs[1]));
    for (int i = last; how == 3 && i >= 0; i--)
        CHECK_OK(MPI_Pready(i, ring->reqs[1]));
    if (how < 4)
        return;
    if (middle < last)
        CHECK_OK(MPI_Pready_range(middle + 1, last, ring->reqs[1]));
    CHECK_OK(MPI_Pready_list(0, NULL, ring->reqs[1]));
    CHECK_OK(MPI_Pready_range(0, middle, ring->reqs[1]));
}

int main(int argc, char **argv)
{
    static const size_t lens[] = { 1, 40, 41, 4000, 33000 };
    static const int parts[] = { 1, 2, 7, 64, 65 };
    uint64_t state;
    struct ring ring;

    test_begin(&argc, &argv);
    state = test_key((uint64_t)test_rank, 0, 1);
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            ring_open(&ring, parts[i], parts[i], (size_t)parts[i] * lens[j], (int)(5 * i + j), MPI_COMM_WORLD);
            for (int round = 0; round < ROUNDS; round++) {
                ring_start(&ring, round);
                mark(&ring, round % 5, &state);
                ring_finish(&ring, round);
            }
            ring_close(&ring);
        }
    }
    return test_end();
}
