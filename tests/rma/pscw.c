/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.2: start and complete at the origin, post and wait (or test) at the target, for groups that need not
 * be all; they pair up by groups, and empty groups are legal. */
#include "flavors.h"

enum { ROUNDS = 30 };

static MPI_Group group_of(int count, const int *ranks)
{
    MPI_Group world, group;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, count, ranks, &group));
    CHECK_OK(MPI_Group_free(&world));
    return group;
}

static void finish(MPI_Win win, int with_test)
{
    int flag = 0;

    if (!with_test)
        CHECK_OK(MPI_Win_wait(win));
    while (with_test && !flag)
        CHECK_OK(MPI_Win_test(win, &flag));
}

/* Each exposes its memory to its left neighbour and accesses that of the right one. */
static void ring(struct window *w)
{
    const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
    MPI_Group to = group_of(1, &right), from = group_of(1, &left);

    for (int i = 0; i < ROUNDS; i++) {
        int value = w->rank * 1000 + i, got = -1, came;

        CHECK_OK(MPI_Win_post(from, i % 3 ? 0 : MPI_MODE_NOSTORE, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, window_disp(w, right, 0), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Get(&got, 1, MPI_INT, right, window_disp(w, right, 8), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        finish(w->win, i % 2);
        memcpy(&came, w->mem, sizeof came);
        CHECK_INT(came, left * 1000 + i);
        if (i)
            CHECK_INT(got, right * 7 + i - 1);
        came = w->rank * 7 + i;
        memcpy(w->mem + 8, &came, sizeof came);
    }
    CHECK_OK(MPI_Group_free(&to));
    CHECK_OK(MPI_Group_free(&from));
}

/* Rank 0 is the target of all others, then the origin. */
static void star(struct window *w)
{
    int others[64], zero = 0, value = w->rank + 1;
    MPI_Group rest, hub = group_of(1, &zero);

    for (int i = 1; i < w->ranks; i++)
        others[i - 1] = i;
    rest = group_of(w->ranks - 1, others); /* empty with one rank */
    for (int round = 0; round < ROUNDS; round++) {
        if (w->rank) {
            CHECK_OK(MPI_Win_start(hub, 0, w->win));
            CHECK_OK(
                MPI_Put(&value, 1, MPI_INT, 0, window_disp(w, 0, 4 * (size_t)w->rank), 1, MPI_INT, w->win));
            CHECK_OK(MPI_Win_complete(w->win));
            CHECK_OK(MPI_Win_post(hub, 0, w->win));
            finish(w->win, round % 2);
            continue;
        }
        CHECK_OK(MPI_Win_post(rest, MPI_MODE_NOPUT * (w->ranks == 1), w->win));
        finish(w->win, round % 2);
        for (int i = 1; i < w->ranks; i++) {
            int came;

            memcpy(&came, w->mem + 4 * i, sizeof came);
            CHECK_INT(came, i + 1);
        }
        memset(w->mem, 0, 4 * (size_t)w->ranks);
        CHECK_OK(MPI_Win_start(rest, 0, w->win));
        for (int i = 1; i < w->ranks; i++)
            CHECK_OK(MPI_Put(&round, 1, MPI_INT, i, window_disp(w, i, 0), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
    }
    CHECK_OK(MPI_Group_free(&rest));
    CHECK_OK(MPI_Group_free(&hub));
}

/* An epoch of each sort for nobody. */
static void nobody(struct window *w)
{
    int flag = 0;

    CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win));
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOCHECK, w->win));
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_test(w->win, &flag));
    CHECK_INT(flag, 1);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;

        window_open(&w, flavor, 1024, MPI_COMM_WORLD);
        ring(&w);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        star(&w);
        nobody(&w);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    return test_end();
}
