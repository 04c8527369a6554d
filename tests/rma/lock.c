/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.3: an exclusive lock lets nobody else in, shared ones exclude it; MPI_Win_lock_all is a shared lock on
 * all. Locks on several targets at once, on oneself, on MPI_PROC_NULL, after fences. */
#include "flavors.h"

enum { ROUNDS = 60 };

static int get_int(struct window *w, int rank, size_t offset)
{
    int value = -1;

    CHECK_OK(MPI_Get(&value, 1, MPI_INT, rank, window_disp(w, rank, offset), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    return value;
}

static void put_int(struct window *w, int rank, size_t offset, int value)
{
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, window_disp(w, rank, offset), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush_local(rank, w->win));
}

static void clear(struct window *w)
{
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memset(w->mem, 0, w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_OK(MPI_Barrier(w->comm));
}

/* Two words that are always equal outside of an exclusive lock; counting is safe inside. */
static void counting(struct window *w)
{
    int sum = 0, own;

    clear(w);
    for (int i = 0; i < ROUNDS; i++) {
        const int target = (w->rank + i) % w->ranks;

        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        const int value = get_int(w, target, 0);
        put_int(w, target, 0, value + 1);
        put_int(w, target, 64, value + 1);
        CHECK_OK(MPI_Win_unlock(target, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
        CHECK_INT(get_int(w, target, 64), get_int(w, target, 0));
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    memcpy(&own, w->mem, sizeof own);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, w->comm));
    CHECK_INT(sum, ROUNDS * w->ranks);
}

/* Rank 0 writes both words under an exclusive lock, the others read them under lock_all. */
static void against_all(struct window *w)
{
    clear(w);
    for (int i = 1; i <= ROUNDS; i++) {
        if (w->rank == 0) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->ranks - 1, 0, w->win));
            put_int(w, w->ranks - 1, 0, i);
            put_int(w, w->ranks - 1, 64, i);
            CHECK_OK(MPI_Win_unlock(w->ranks - 1, w->win));
        } else {
            CHECK_OK(MPI_Win_lock_all(0, w->win));
            const int first = get_int(w, w->ranks - 1, 0), second = get_int(w, w->ranks - 1, 64);
            CHECK_OK(MPI_Win_flush_all(w->win));
            CHECK_OK(MPI_Win_flush_local_all(w->win));
            CHECK_OK(MPI_Win_unlock_all(w->win));
            CHECK_INT(second, first);
        }
    }
    CHECK_OK(MPI_Barrier(w->comm));
}

/* One waits for a word that another will put: nobody calls MPI at the target of both. */
static void signalling(struct window *w)
{
    const int next = (w->rank + 1) % w->ranks;

    clear(w);
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
    if (w->rank == 0)
        put_int(w, next, 0, 1);
    CHECK_OK(MPI_Win_flush_all(w->win));
    while (get_int(w, w->rank, 0) == 0)
        CHECK_OK(MPI_Win_sync(w->win));
    if (w->rank)
        put_int(w, next, 0, get_int(w, w->rank, 0) + 1);
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    if (w->rank == 0)
        CHECK_INT(*(int *)(void *)w->mem, w->ranks);
}

static void odd_ones(struct window *w)
{
    int value = 5;

    clear(w);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, w->win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
    for (int rank = 0; rank < w->ranks; rank++) /* shared, in the same order everywhere */
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    for (int rank = w->ranks - 1; rank >= 0; rank--)
        put_int(w, rank, 4 * (size_t)w->rank, w->rank + 10);
    for (int rank = 0; rank < w->ranks; rank++)
        CHECK_OK(MPI_Win_unlock(rank, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < w->ranks; i++)
        CHECK_INT(((int *)(void *)w->mem)[i], i + 10);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->ranks - 1, MPI_MODE_NOCHECK, w->win));
        put_int(w, w->ranks - 1, 0, 77);
        CHECK_OK(MPI_Win_unlock(w->ranks - 1, w->win));
    }
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_INT(*(int *)(void *)w->mem, w->rank == w->ranks - 1 ? 77 : 10);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;

        window_open(&w, flavor, 1024, MPI_COMM_WORLD);
        counting(&w);
        against_all(&w);
        signalling(&w);
        odd_ones(&w);
        window_close(&w);
    }
    return test_end();
}
