/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.7.3: a target that computes serves others all the same. All but rank 0 put, add and read under locks,
 * while rank 0 looks at its memory and calls nothing until all have said that they are through. */
#include <sched.h>
#include <stddef.h>

#include "flavors.h"

enum { TURNS = 20, LONG = 50000 };

struct memory {
    long turns;                   /* changed under exclusive locks */
    long added;
    long done;                    /* ranks that are through */
    long longs[LONG];
};

static void add(struct window *w, size_t at, long value)
{
    static long before;

    CHECK_OK(MPI_Fetch_and_op(&value, &before, MPI_LONG, 0, window_disp(w, 0, at), MPI_SUM, w->win));
}

static void take_turn(struct window *w)
{
    long turns;

    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    CHECK_OK(MPI_Get(&turns, 1, MPI_LONG, 0, window_disp(w, 0, offsetof(struct memory, turns)), 1, MPI_LONG, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    turns++;
    CHECK_OK(MPI_Put(&turns, 1, MPI_LONG, 0, window_disp(w, 0, offsetof(struct memory, turns)), 1, MPI_LONG, w->win));
    add(w, offsetof(struct memory, added), 2);
    CHECK_OK(MPI_Win_unlock(0, w->win));
}

static void move_long(struct window *w)
{
    static long out[LONG], in[LONG];

    for (long i = 0; i < LONG; i++)
        out[i] = i * w->rank;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    CHECK_OK(MPI_Put(out, LONG, MPI_LONG, 0, window_disp(w, 0, offsetof(struct memory, longs)), LONG, MPI_LONG,
                     w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    CHECK_OK(MPI_Get(in, LONG, MPI_LONG, 0, window_disp(w, 0, offsetof(struct memory, longs)), LONG, MPI_LONG, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK_INT(memcmp(in, out, sizeof in), 0);
}

static void compute(const struct memory *mine, int others)
{
    while (__atomic_load_n(&mine->done, __ATOMIC_ACQUIRE) < others)
        sched_yield();
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    window_open(&w, ALLOCATE, sizeof(struct memory), MPI_COMM_WORLD);
    memset(w.mem, 0, w.size);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (w.rank == 0) {
        struct memory *mine = (struct memory *)(void *)w.mem;
        compute(mine, w.ranks - 1);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        CHECK_INT(mine->turns, TURNS * (w.ranks - 1));
        CHECK_INT(mine->added, 2 * TURNS * (w.ranks - 1));
        CHECK_OK(MPI_Win_unlock(0, w.win));
    } else {
        for (int i = 0; i < TURNS; i++)
            take_turn(&w);
        move_long(&w);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        add(&w, offsetof(struct memory, done), 1);
        CHECK_OK(MPI_Win_unlock(0, w.win));
    }
    window_close(&w);
    return test_end();
}
