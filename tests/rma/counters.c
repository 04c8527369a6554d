/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.4, §12.7.2: counters of all ranks by different calls at once, no step is lost and none is seen twice;
 * a list that grows by MPI_Compare_and_swap; a lock of that; operations of one rank on one place happen in the order of
 * its calls. */
#include "flavors.h"

enum { STEPS = 100, LOCKED = 20, ORDERED = 50, COUNTERS = 4 };

/* Where there are counters of each width, the head of a list, a lock, what it guards, a rank's own places. */
enum { COUNTER = 0, WIDE = 8, REAL = 16, ODD = 25, HEAD = 32, LOCK = 40, GUARDED = 48, NEXT = 64, PRIVATE = 512 };
enum { SIZE = 1024 };

static void check_sum(const char *what, const struct window *w, long long got)
{
    CHECK(got == (long long)STEPS * w->ranks, "%s, %s: %lld instead of %d", flavor_names[w->flavor], what, got,
          STEPS * w->ranks);
}

/* One step of the counters of `rank`: of an int by three calls, which must not miss each other; of a double; of an int
 * that is not aligned. Returns what the first was before. */
static int step(const struct window *w, int rank, int i, int *seen)
{
    const int one = 1;
    const double real = 1;
    double old;

    *seen = -1;
    if (i % 3 == 0)
        CHECK_OK(MPI_Fetch_and_op(&one, seen, MPI_INT, rank, window_disp(w, rank, COUNTER), MPI_SUM, w->win));
    else if (i % 3 == 1)
        CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_INT, seen, 1, MPI_INT, rank, window_disp(w, rank, COUNTER), 1, MPI_INT,
                                    MPI_SUM, w->win));
    else
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, rank, window_disp(w, rank, COUNTER), 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Fetch_and_op(&real, &old, MPI_DOUBLE, rank, window_disp(w, rank, REAL), MPI_SUM, w->win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, rank, window_disp(w, rank, ODD), 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    return *seen;
}

static void counting(const struct window *w)
{
    char *const taken = calloc((size_t)(STEPS * w->ranks), 1);
    int last[2] = { -1, -1 }, counter, odd, bad = 0;
    double real;

    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 2; k++) { /* the own one and that of rank 0 */
            const int rank = k ? 0 : w->rank;
            int seen;
            if (k && w->rank == 0)
                continue;
            step(w, rank, i, &seen);
            bad += i % 3 < 2 && seen <= last[k];
            last[k] = i % 3 < 2 ? seen : last[k];
        }
    CHECK(bad == 0, "%d steps did not see their own last one", bad);
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Fetch_and_op(NULL, &counter, MPI_INT, 0, window_disp(w, 0, COUNTER), MPI_NO_OP, w->win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &real, MPI_DOUBLE, 0, window_disp(w, 0, REAL), MPI_NO_OP, w->win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &odd, MPI_INT, 0, window_disp(w, 0, ODD), MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    check_sum("three calls", w, counter);
    check_sum("double", w, (long long)real);
    check_sum("not aligned", w, odd);
    free(taken);
}

/* Tickets of all ranks: each number once. */
static void tickets(const struct window *w)
{
    long long *const got = test_alloc(sizeof *got * STEPS), *all = NULL, one = 1;
    char *seen = NULL;

    for (int i = 0; i < STEPS; i++) {
        CHECK_OK(MPI_Fetch_and_op(&one, &got[i], MPI_LONG_LONG, 0, window_disp(w, 0, WIDE), MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush_local(0, w->win));
    }
    if (w->rank == 0) {
        all = test_alloc(sizeof *all * (size_t)(STEPS * w->ranks));
        seen = calloc((size_t)(STEPS * w->ranks), 1);
    }
    CHECK_OK(MPI_Gather(got, STEPS, MPI_LONG_LONG, all, STEPS, MPI_LONG_LONG, 0, w->comm));
    for (int i = 0; w->rank == 0 && i < STEPS * w->ranks; i++) {
        CHECK(all[i] >= 0 && all[i] < STEPS * w->ranks && !seen[all[i]]++, "ticket %lld twice or too far", all[i]);
    }
    free(got);
    free(all);
    free(seen);
}

static int swap_at(const struct window *w, int rank, size_t place, int compare, int value)
{
    int old;

    CHECK_OK(MPI_Compare_and_swap(&value, &compare, &old, MPI_INT, rank, window_disp(w, rank, place), w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    return old;
}

/* Every rank pushes itself in front of a list: its head is at rank 0, the rest at the ranks. Numbers are ranks + 1. */
static void list(const struct window *w)
{
    int first = 0, old, length = 0;

    for (old = swap_at(w, 0, HEAD, 0, w->rank + 1); old != first; old = swap_at(w, 0, HEAD, first, w->rank + 1)) {
        first = old;
        CHECK_OK(MPI_Accumulate(&first, 1, MPI_INT, w->rank, window_disp(w, w->rank, NEXT), 1, MPI_INT, MPI_REPLACE,
                                w->win));
        CHECK_OK(MPI_Win_flush(w->rank, w->win));
    }
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Fetch_and_op(NULL, &first, MPI_INT, 0, window_disp(w, 0, HEAD), MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    for (; first && length <= w->ranks; length++) {
        const int rank = first - 1;
        CHECK_OK(MPI_Fetch_and_op(NULL, &first, MPI_INT, rank, window_disp(w, rank, NEXT), MPI_NO_OP, w->win));
        CHECK_OK(MPI_Win_flush(rank, w->win));
    }
    CHECK_INT(length, w->ranks);
}

/* A lock of one's own, around a get and a put. */
static void locking(const struct window *w)
{
    int value;

    for (int i = 0; i < LOCKED; i++) {
        while (swap_at(w, 0, LOCK, 0, 1))
            ;
        CHECK_OK(MPI_Get(&value, 1, MPI_INT, 0, window_disp(w, 0, GUARDED), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, window_disp(w, 0, GUARDED), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK_INT(swap_at(w, 0, LOCK, 1, 0), 1);
    }
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, 0, window_disp(w, 0, GUARDED), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    CHECK_INT(value, LOCKED * w->ranks);
}

/* Without a flush between: each read sees the write before, and not the one after. */
static void ordered(const struct window *w)
{
    const int rank = (w->rank + 1) % w->ranks;
    const MPI_Aint disp = window_disp(w, rank, PRIVATE);
    int values[ORDERED], seen[ORDERED], before[ORDERED];

    for (int i = 0; i < ORDERED; i++) {
        values[i] = 1000 + i;
        CHECK_OK(MPI_Get_accumulate(&values[i], 1, MPI_INT, &before[i], 1, MPI_INT, rank, disp, 1, MPI_INT, MPI_REPLACE,
                                    w->win));
        if (i % 2)
            CHECK_OK(MPI_Fetch_and_op(NULL, &seen[i], MPI_INT, rank, disp, MPI_NO_OP, w->win));
        else
            CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &seen[i], 1, MPI_INT, rank, disp, 1, MPI_INT, MPI_NO_OP,
                                        w->win));
    }
    CHECK_OK(MPI_Win_flush(rank, w->win));
    for (int i = 0; i < ORDERED; i++) {
        CHECK_INT(seen[i], 1000 + i);
        CHECK_INT(before[i], i ? 999 + i : 0);
    }
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        window_open(&w, (enum flavor)flavor, SIZE, MPI_COMM_WORLD);
        memset(w.mem, 0, SIZE);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        CHECK_OK(MPI_Win_sync(w.win));
        CHECK_OK(MPI_Barrier(w.comm));
        counting(&w);
        tickets(&w);
        list(&w);
        locking(&w);
        ordered(&w);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        CHECK_OK(MPI_Barrier(w.comm));
        window_close(&w);
    }
    return test_end();
}
