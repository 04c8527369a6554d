/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1: partitioned operations match only each other. Ordinary messages on the same communicator with the
 * same tag, wildcard receives and probes do not see them, collective operations go on beside them. */
#include "mpipart.h"

enum { TAG = 3, LEN = 50000, ROUNDS = 4 };

static unsigned char *out, *in;

/* An ordinary message to the right, received with wildcards, while the partitioned one is under way. */
static void ordinary(int round, int len)
{
    MPI_Request send;
    MPI_Status st;

    test_fill(out, (size_t)len, test_key((uint64_t)test_rank, (uint64_t)round, 77));
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, ring_right(), TAG, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, ring_left(), TAG, (size_t)len);
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, ring_left(), TAG, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key((uint64_t)ring_left(), (uint64_t)round, 77));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static void nothing_there(void)
{
    int flag = -1;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void beside(int parts, size_t part_len)
{
    const int short_len = 12;
    struct ring ring;
    int sum = 0;

    ring_open(&ring, parts, 2 * parts, (size_t)parts * part_len, TAG, MPI_COMM_WORLD);
    nothing_there();
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request open;
        int late = -1;
        CHECK_OK(MPI_Irecv(&late, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &open));
        ring_start(&ring, round);
        nothing_there();
        for (int i = 0; i < parts; i++) {
            CHECK_OK(MPI_Pready(i, ring.reqs[1]));
            if (i % 4 == 0)
                ordinary(round, i % 8 ? LEN : short_len);
        }
        nothing_there();
        CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, test_size * (test_size - 1) / 2);
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, ring_right(), TAG + 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&open, MPI_STATUS_IGNORE));
        CHECK_INT(late, round);
        ring_finish(&ring, round);
    }
    ring_close(&ring);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    out = test_alloc(LEN);
    in = test_alloc(LEN);
    beside(12, 8);
    beside(12, 3000);
    beside(6, 120000);
    free(out);
    free(in);
    return test_end();
}
