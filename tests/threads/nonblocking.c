/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6.2: threads start and complete nonblocking operations at the same time on one communicator;
 * each waits in another way for its own requests. */
#include "mpithread.h"

enum { ROUNDS = 25, BATCH = 20, LEN = 3000 };

static void complete(int thread, MPI_Request *reqs, int n)
{
    int is_done = 0, i, index, count, indices[2 * BATCH], left = n;

    switch (thread % 4) {
    case 0: CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE)); break;
    case 1:
        while (!is_done)
            CHECK_OK(MPI_Testall(n, reqs, &is_done, MPI_STATUSES_IGNORE));
        break;
    case 2:
        for (i = 0; i < n; i++)
            CHECK_OK(MPI_Waitany(n, reqs, &index, MPI_STATUS_IGNORE));
        break;
    default:
        while (left > 0) {
            CHECK_OK(MPI_Waitsome(n, reqs, &count, indices, MPI_STATUSES_IGNORE));
            left -= count;
        }
    }
}

static void body(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    unsigned char *out = test_alloc(BATCH * LEN), *in = test_alloc(BATCH * LEN);
    MPI_Request reqs[2 * BATCH];
    int round, i, len;

    for (round = 0; round < ROUNDS; round++) {
        len = round % 2 ? LEN : 8;
        for (i = 0; i < BATCH; i++) {
            test_fill(out + i * LEN, (size_t)len,
                      test_key((uint64_t)(test_rank * 100 + thread), (uint64_t)round, (uint64_t)i));
            CHECK_OK(
                MPI_Irecv(in + i * LEN, LEN, MPI_BYTE, left, thread * BATCH + i, MPI_COMM_WORLD, &reqs[i]));
        }
        for (i = BATCH - 1; i >= 0; i--)
            CHECK_OK(MPI_Isend(out + i * LEN, len, MPI_BYTE, right, thread * BATCH + i, MPI_COMM_WORLD,
                               &reqs[BATCH + i]));
        complete(thread + round, reqs, 2 * BATCH);
        for (i = 0; i < BATCH; i++)
            CHECK_BYTES(in + i * LEN, (size_t)len,
                        test_key((uint64_t)(left * 100 + thread), (uint64_t)round, (uint64_t)i));
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, body);
    return test_end();
}
