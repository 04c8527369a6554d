/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6.2: one thread may start an operation and another complete it: requests are handed over from
 * the posting threads to the completing ones. */
#include "mpithread.h"

enum { MESSAGES = 300 };

static MPI_Request recvs[THREADS][MESSAGES], sends[THREADS][MESSAGES];
static int in[THREADS][MESSAGES], out[THREADS][MESSAGES];

static void start(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        out[thread][i] = test_rank * 10000 + thread * 1000 + i;
        CHECK_OK(MPI_Irecv(&in[thread][i], 1, MPI_INT, left, thread, MPI_COMM_WORLD, &recvs[thread][i]));
        CHECK_OK(MPI_Isend(&out[thread][i], 1, MPI_INT, right, thread, MPI_COMM_WORLD, &sends[thread][i]));
    }
}

/* Of what the next thread has started. */
static void finish(int thread)
{
    const int other = (thread + 1) % THREADS, left = (test_rank + test_size - 1) % test_size;
    int i;

    for (i = MESSAGES - 1; i >= 0; i--) {
        CHECK_OK(MPI_Wait(&recvs[other][i], MPI_STATUS_IGNORE));
        CHECK_INT(in[other][i], left * 10000 + other * 1000 + i);
    }
    CHECK_OK(MPI_Waitall(MESSAGES, sends[other], MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, start);
    run_threads(THREADS, finish);
    return test_end();
}
