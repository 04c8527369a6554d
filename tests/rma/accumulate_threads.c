/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.4 with MPI_THREAD_MULTIPLE: threads of all ranks combine with the same elements at once, by the calls
 * that wait and those that do not; nothing is lost, and each gets its own results. */
#include <pthread.h>

#include "flavors.h"

enum { THREADS = 3, STEPS = 60, INT_AT = 0, REAL_AT = 8, MANY_AT = 64, MANY = 700 };
enum { SHORTS_AT = 6002, SHORTS = 1500, SIZE = 16384 };

static struct window w;
static int taken[THREADS * STEPS];
static double ones[MANY];
static short short_ones[SHORTS];

/* Many at once, and one of them alone. */
static void shorts(int i)
{
    short before;

    if (i % 10 == 0)
        CHECK_OK(MPI_Accumulate(short_ones, SHORTS, MPI_SHORT, 0, window_disp(&w, 0, SHORTS_AT), SHORTS, MPI_SHORT,
                                MPI_SUM, w.win));
    CHECK_OK(MPI_Fetch_and_op(short_ones, &before, MPI_SHORT, 0,
                              window_disp(&w, 0, SHORTS_AT + sizeof(short) * (size_t)i), MPI_SUM, w.win));
    CHECK_OK(MPI_Win_flush_local(0, w.win));
}

static void *work(void *arg)
{
    const int number = *(int *)arg, one = 1;
    const double real = 1;
    double before;

    for (int i = 0; i < STEPS; i++) {
        const int rank = (w.rank + i) % w.ranks;
        MPI_Request request;

        CHECK_OK(MPI_Fetch_and_op(&one, &taken[number * STEPS + i], MPI_INT, 0, window_disp(&w, 0, INT_AT), MPI_SUM,
                                  w.win));
        CHECK_OK(MPI_Accumulate(&real, 1, MPI_DOUBLE, rank, window_disp(&w, rank, REAL_AT), 1, MPI_DOUBLE, MPI_SUM,
                                w.win));
        CHECK_OK(MPI_Rget_accumulate(&real, 1, MPI_DOUBLE, &before, 1, MPI_DOUBLE, 0, window_disp(&w, 0, REAL_AT + 8),
                                     1, MPI_DOUBLE, MPI_SUM, w.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(before >= 0 && before < STEPS * THREADS * w.ranks, "got %g", before);
        if (i % 10 == 0)
            CHECK_OK(MPI_Accumulate(ones, MANY, MPI_DOUBLE, 0, window_disp(&w, 0, MANY_AT), MANY, MPI_DOUBLE, MPI_SUM,
                                    w.win));
        shorts(i);
        if (i % 3 == 0)
            CHECK_OK(MPI_Win_flush(0, w.win));
    }
    CHECK_OK(MPI_Win_flush_all(w.win));
    return NULL;
}

static void check_all(void)
{
    int *const all = test_alloc(sizeof *all * (size_t)(THREADS * STEPS * w.ranks));
    char *const seen = calloc((size_t)(THREADS * STEPS * w.ranks), 1);
    short got_shorts[SHORTS];
    double got[MANY];

    CHECK_OK(MPI_Allgather(taken, THREADS * STEPS, MPI_INT, all, THREADS * STEPS, MPI_INT, w.comm));
    for (int i = 0; i < THREADS * STEPS * w.ranks; i++)
        CHECK(all[i] >= 0 && all[i] < THREADS * STEPS * w.ranks && !seen[all[i]]++, "%d twice or too far", all[i]);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, got, MANY, MPI_DOUBLE, 0, window_disp(&w, 0, MANY_AT), MANY,
                                MPI_DOUBLE, MPI_NO_OP, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int i = 0; i < MANY; i++)
        CHECK_INT(got[i], THREADS * (STEPS / 10) * w.ranks);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_SHORT, got_shorts, SHORTS, MPI_SHORT, 0, window_disp(&w, 0, SHORTS_AT),
                                SHORTS, MPI_SHORT, MPI_NO_OP, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int i = 0; i < SHORTS; i++)
        CHECK_INT(got_shorts[i], THREADS * w.ranks * (STEPS / 10 + (i < STEPS)));
    CHECK_OK(MPI_Fetch_and_op(NULL, got, MPI_DOUBLE, 0, window_disp(&w, 0, REAL_AT + 8), MPI_NO_OP, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    CHECK_INT(got[0], THREADS * STEPS * w.ranks);
    free(all);
    free(seen);
}

int main(int argc, char **argv)
{
    static const enum flavor flavors[] = { CREATE, ALLOCATE, DYNAMIC };

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    for (int i = 0; i < SHORTS; i++)
        short_ones[i] = 1;
    for (int f = 0; f < 3; f++) {
        pthread_t threads[THREADS];
        int numbers[THREADS];

        window_open(&w, flavors[f], SIZE, MPI_COMM_WORLD);
        memset(w.mem, 0, SIZE);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        CHECK_OK(MPI_Win_sync(w.win));
        CHECK_OK(MPI_Barrier(w.comm));
        for (int i = 0; i < THREADS; i++) {
            numbers[i] = i;
            pthread_create(&threads[i], NULL, work, &numbers[i]);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK_OK(MPI_Barrier(w.comm));
        check_all();
        CHECK_OK(MPI_Win_unlock_all(w.win));
        CHECK_OK(MPI_Barrier(w.comm));
        window_close(&w);
    }
    return test_end();
}
