/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6, §12: threads of a process use one window at once: each locks another target, or all put and get under
 * one lock on all; and windows of their own. */
#include "mpithread.h"

enum { ROUNDS = 200 };

static MPI_Win win;
static MPI_Comm own_comm[THREADS];
static long *base;

/* Targets go round: no two threads of a process have the same one. */
static void lock_others(int me)
{
    for (int i = 0; i < ROUNDS; i++) {
        long value = -1;

        if (me >= test_size)
            break;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, me, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(me, win));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, me, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_unlock(me, win));
    }
}

static void under_one_lock(int me)
{
    const int peer = (test_rank + 1) % test_size;

    for (long i = 0; i < ROUNDS; i++) {
        long value = 100 * i + me, got = -1;

        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, peer, 1 + me, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(peer, win));
        CHECK_OK(MPI_Get(&got, 1, MPI_LONG, peer, 1 + me, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush_all(win));
        CHECK_INT(got, value);
    }
}

static void own_window(int me)
{
    MPI_Win own;
    long *mem;

    for (int i = 0; i < 10; i++) {
        CHECK_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, own_comm[me], &mem, &own));
        CHECK_OK(MPI_Win_fence(0, own));
        mem[0] = i;
        CHECK_OK(MPI_Win_free(&own));
    }
}

static void run(void (*body)(int))
{
    run_threads(THREADS, body);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Win_allocate((1 + THREADS) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                              MPI_COMM_WORLD, &base, &win));
    memset(base, 0, (1 + THREADS) * sizeof(long));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    run(lock_others);
    if (test_rank < THREADS)
        CHECK_INT(base[0], (long)ROUNDS * test_size);
    CHECK_OK(MPI_Win_lock_all(0, win));
    run(under_one_lock);
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own_comm[i]));
    run(own_window);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&own_comm[i]));
    CHECK_OK(MPI_Win_free(&win));
    return test_end();
}
