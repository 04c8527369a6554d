/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.3: processes that lock several targets in one order, exclusively or shared, and such that lock all at
 * once do not wait for each other for ever, and exclude each other as they should. */
#include "flavors.h"

enum { ROUNDS = 100 };

static void put_both(struct window *w, int rank, int value)
{
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, window_disp(w, rank, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, window_disp(w, rank, 64), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
}

/* From `first` on, every `step`th. */
static void one_by_one(struct window *w, int type, int first, int step, int value)
{
    for (int rank = first; rank < w->ranks; rank += step) {
        CHECK_OK(MPI_Win_lock(type, rank, 0, w->win));
        if (type == MPI_LOCK_EXCLUSIVE)
            put_both(w, rank, value);
        else
            window_read_both(w, rank);
    }
    for (int rank = first; rank < w->ranks; rank += step)
        CHECK_OK(MPI_Win_unlock(rank, w->win));
}

static void all_at_once(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int rank = 0; rank < w->ranks; rank++)
        window_read_both(w, rank);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* Each in another way, and each way everywhere. */
static void meet(struct window *w)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memset(w->mem, 0, w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    for (int i = 0; i < ROUNDS; i++) {
        switch ((w->rank + i / 10) % 4) {
        case 0: all_at_once(w); break;
        case 1: one_by_one(w, MPI_LOCK_EXCLUSIVE, 0, 1, i * w->ranks + w->rank); break;
        case 2: one_by_one(w, MPI_LOCK_EXCLUSIVE, i % w->ranks, 2, i * w->ranks + w->rank); break;
        case 3: one_by_one(w, MPI_LOCK_SHARED, 0, 1, 0); break;
        }
    }
    CHECK_OK(MPI_Barrier(w->comm));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = CREATE; flavor <= ALLOCATE; flavor++) {
        struct window w;

        window_open(&w, flavor, 128, MPI_COMM_WORLD);
        meet(&w);
        window_close(&w);
    }
    return test_end();
}
