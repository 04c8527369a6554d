/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1: with MPI_THREAD_SERIALIZED any thread may call, one at a time: threads take turns under a
 * lock of the program, and what one starts another completes. */
#include "mpithread.h"

enum { ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, in;
static MPI_Request req;

static void step(int n)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;

    if (n % 2 == 0) {
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Send(&n, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        CHECK_INT(in, n - 1);
    }
}

static void body(int thread)
{
    int n;

    for (n = thread; n < ROUNDS * THREADS; n += THREADS) {
        pthread_mutex_lock(&lock);
        while (turn != n)
            pthread_cond_wait(&changed, &lock);
        step(n);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_SERIALIZED);
    run_threads(THREADS, body);
    return test_end();
}
