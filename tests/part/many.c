/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4: thousands of partitions, many rounds. */
#include "mpipart.h"

static void rounds(int send_parts, int recv_parts, size_t len, int n)
{
    struct ring ring;
    uint64_t state = test_key((uint64_t)test_rank, 7, 7);
    int *order = test_alloc((size_t)send_parts * sizeof *order);

    ring_open(&ring, send_parts, recv_parts, len, 0, MPI_COMM_WORLD);
    for (int round = 0; round < n; round++) {
        ring_shuffle(order, send_parts, &state);
        ring_start(&ring, round);
        for (int i = 0; i < send_parts; i++)
            CHECK_OK(MPI_Pready(round % 2 ? i : order[i], ring.reqs[1]));
        ring_finish(&ring, round);
    }
    ring_close(&ring);
    free(order);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    rounds(1, 1, 8, 2000);
    rounds(10, 4, 40, 500);
    rounds(20000, 20000, 20000, 4);
    rounds(20000, 5, 160000, 4);
    rounds(3, 30000, 90000, 4);
    return test_end();
}
