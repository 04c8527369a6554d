/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4: communicators are made and freed as often as one likes (argument: how often), by several threads at
 * once with the argument "threads": each has a communicator of its own to make them from. */
#include "mpitest.h"

#include <pthread.h>

enum { THREADS = 3 };

static long cycles = 2000;

static void *loop(void *arg)
{
    const MPI_Comm from = *(const MPI_Comm *)arg;
    MPI_Comm comm;
    MPI_Request request;
    long i;

    for (i = 0; i < cycles; i++) {
        if (i % 3 == 2) {
            CHECK_OK(MPI_Comm_idup(from, &comm, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (i % 3) {
            CHECK_OK(MPI_Comm_dup(from, &comm));
        } else {
            CHECK_OK(MPI_Comm_split(from, 0, 0, &comm));
        }
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

static void with_threads(void)
{
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    int i;

    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, loop, &comms[i]), "no thread");
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_OK(MPI_Comm_free(&comms[i]));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;

    if (argc > 2 && !strcmp(argv[2], "threads"))
        test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    else
        test_begin(&argc, &argv);
    if (argc > 1)
        cycles = atol(argv[1]);
    if (argc > 2)
        with_threads();
    else
        loop(&world);
    return test_end();
}
