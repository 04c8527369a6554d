/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4: partitions of more than a megabyte, and many that make several megabytes together; marked before or
 * after the receiver has started. */
#include "mpipart.h"

enum { ROUNDS = 3 };

static void one(int send_parts, int recv_parts, size_t len)
{
    struct ring ring;

    ring_open(&ring, send_parts, recv_parts, len, 3, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        ring_start(&ring, round);
        for (int i = send_parts - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready(i, ring.reqs[1]));
        ring_finish(&ring, round);
        test_fill(ring.out, len, test_key((uint64_t)test_rank, ROUNDS, 3));
        CHECK_OK(MPI_Start(&ring.reqs[1]));
        CHECK_OK(MPI_Pready_range(0, send_parts - 1, ring.reqs[1]));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_BYTES(ring.in, len, test_key((uint64_t)ring_left(), (uint64_t)round, 3)); /* not started: not touched */
        CHECK_OK(MPI_Start(&ring.reqs[0]));
        ring_finish(&ring, ROUNDS);
    }
    ring_close(&ring);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    one(1, 1, 1200000);
    one(3, 2, 6 * 700000);
    one(2, 3, 6 * 700000);
    one(128, 1, 128 * 20000);
    one(1, 128, 128 * 20000);
    one(20, 20, 20 * 100000);
    return test_end();
}
