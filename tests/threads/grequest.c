/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §13.2, §11.6.2: generalized requests are completed by threads of the program while others wait, asleep by
 * then, for one or for all of them; and one thread frees what another completes: free_fn is called once. */
#include "mpithread.h"

#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 20, EACH = 8 };

static MPI_Request reqs[THREADS][EACH];
static MPI_Request copies[THREADS][EACH];
static atomic_int queries, frees, started;

static int query(void *extra_state, MPI_Status *st)
{
    CHECK_OK(MPI_Status_set_elements(st, MPI_BYTE, *(int *)extra_state));
    CHECK_OK(MPI_Status_set_cancelled(st, 0));
    atomic_fetch_add(&queries, 1);
    return MPI_SUCCESS;
}

static int release(void *extra_state)
{
    (void)extra_state;
    atomic_fetch_add(&frees, 1);
    return MPI_SUCCESS;
}

static int cancel(void *extra_state, int complete)
{
    (void)extra_state;
    (void)complete;
    return MPI_SUCCESS;
}

static void start_all(void)
{
    static int numbers[THREADS][EACH];
    int i, thread;

    for (thread = 0; thread < THREADS; thread++)
        for (i = 0; i < EACH; i++) {
            numbers[thread][i] = 10 * thread + i;
            CHECK_OK(MPI_Grequest_start(query, release, cancel, &numbers[thread][i], &reqs[thread][i]));
            copies[thread][i] = reqs[thread][i];
        }
    atomic_store(&queries, 0);
    atomic_store(&frees, 0);
    atomic_store(&started, 0);
}

/* Even threads wait, the odd one next to each completes: after a pause that makes it likely that the other sleeps. */
static void wait_or_complete(int thread)
{
    MPI_Status sts[EACH];
    int i, index, count;

    if (thread % 2) {
        while (!atomic_load(&started))
            usleep(100);
        usleep(3000);
        for (i = 0; i < EACH; i++)
            CHECK_OK(MPI_Grequest_complete(copies[thread - 1][i]));
        return;
    }
    atomic_store(&started, 1);
    if (thread % 4) {
        for (i = 0; i < EACH; i++) {
            CHECK_OK(MPI_Waitany(EACH, reqs[thread], &index, sts));
            CHECK_OK(MPI_Get_count(sts, MPI_BYTE, &count));
            CHECK_INT(count, 10 * thread + index);
        }
        return;
    }
    CHECK_OK(MPI_Wait(&reqs[thread][0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitall(EACH, reqs[thread], sts));
    CHECK_EMPTY(&sts[0]);
    for (i = 1; i < EACH; i++) {
        CHECK_OK(MPI_Get_count(&sts[i], MPI_BYTE, &count));
        CHECK_INT(count, 10 * thread + i);
    }
}

/* Whichever comes last calls free_fn. */
static void free_or_complete(int thread)
{
    int i;

    for (i = 0; i < EACH; i++) {
        if (thread % 2)
            CHECK_OK(MPI_Grequest_complete(copies[thread - 1][i]));
        else
            CHECK_OK(MPI_Request_free(&reqs[thread][i]));
    }
}

static void drop_odd(void)
{
    int i, thread;

    for (thread = 1; thread < THREADS; thread += 2)
        for (i = 0; i < EACH; i++) {
            CHECK_OK(MPI_Grequest_complete(reqs[thread][i]));
            CHECK_OK(MPI_Request_free(&reqs[thread][i]));
        }
}

int main(int argc, char **argv)
{
    int round;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (round = 0; round < ROUNDS; round++) {
        start_all();
        run_threads(THREADS, wait_or_complete);
        CHECK_INT(atomic_load(&queries), THREADS / 2 * EACH);
        CHECK_INT(atomic_load(&frees), THREADS / 2 * EACH);
        drop_odd();
        start_all();
        run_threads(THREADS, free_or_complete);
        CHECK_INT(atomic_load(&queries), 0);
        CHECK_INT(atomic_load(&frees), THREADS / 2 * EACH);
        drop_odd();
    }
    return test_end();
}
