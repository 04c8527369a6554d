/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.9, §11.6.2: persistent requests with threads: made by one thread, started by another, completed by a
 * third, again and again; and all threads at once. */
#include "mpithread.h"

enum { MESSAGES = 20, ROUNDS = 10 };

static MPI_Request recvs[THREADS][MESSAGES], sends[THREADS][MESSAGES];
static int in[THREADS][MESSAGES], out[THREADS][MESSAGES];
static int now;

static int value(int rank, int thread, int i)
{
    return now * 100000 + rank * 10000 + thread * 1000 + i;
}

static void make(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Recv_init(&in[thread][i], 1, MPI_INT, left, thread, MPI_COMM_WORLD, &recvs[thread][i]));
        CHECK_OK(MPI_Send_init(&out[thread][i], 1, MPI_INT, right, thread, MPI_COMM_WORLD, &sends[thread][i]));
    }
}

static void start(int thread)
{
    const int other = (thread + 1) % THREADS;
    int i;

    for (i = 0; i < MESSAGES; i++)
        out[other][i] = value(test_rank, other, i);
    CHECK_OK(MPI_Startall(MESSAGES, recvs[other]));
    CHECK_OK(MPI_Startall(MESSAGES, sends[other]));
}

static void finish(int thread)
{
    const int other = (thread + 2) % THREADS, left = (test_rank + test_size - 1) % test_size;
    int i;

    for (i = MESSAGES - 1; i >= 0; i--) {
        CHECK_OK(MPI_Wait(&recvs[other][i], MPI_STATUS_IGNORE));
        CHECK_INT(in[other][i], value(left, other, i));
    }
    CHECK_OK(MPI_Waitall(MESSAGES, sends[other], MPI_STATUSES_IGNORE));
}

/* Each thread on its own, all together. */
static void rounds(int thread)
{
    int i, round;

    for (round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Startall(MESSAGES, recvs[thread]));
        CHECK_OK(MPI_Startall(MESSAGES, sends[thread]));
        CHECK_OK(MPI_Waitall(MESSAGES, sends[thread], MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(MESSAGES, recvs[thread], MPI_STATUSES_IGNORE));
    }
    for (i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Request_free(&recvs[thread][i]));
        CHECK_OK(MPI_Request_free(&sends[thread][i]));
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, make);
    for (now = 0; now < 3; now++) {
        run_threads(THREADS, start);
        run_threads(THREADS, finish);
    }
    run_threads(THREADS, rounds);
    return test_end();
}
