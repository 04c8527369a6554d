/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.1, §12.3.2, §12.3.5: data longer than any library moves in one piece, with and without gaps on either
 * side, put and got by all ranks at once; several operations of one epoch; the origin's type may be freed at once. */
#include "flavors.h"

enum { INTS = 300000, GAPS = 3, SPAN = INTS * GAPS };

static MPI_Datatype vector(int stride)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_vector(INTS / 10, 10, 10 * stride, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* Where element i lies with such a stride. */
static int place(int i, int stride)
{
    return i / 10 * 10 * stride + i % 10;
}

static int value(int rank, int round, int i)
{
    return (rank * 10 + round) * INTS + i;
}

/* A long get whose answers come while more is asked for, and many short ones with requests. */
static void get_all(const struct window *w, int from, int round, int target_stride)
{
    int *const all = test_alloc(INTS * sizeof *all), some[50], bad = 0;
    MPI_Datatype type = vector(target_stride);
    MPI_Request requests[51];

    CHECK_OK(MPI_Rget(all, INTS, MPI_INT, from, window_disp(w, from, 0), 1, type, w->win, &requests[50]));
    CHECK_OK(MPI_Type_free(&type));
    for (int i = 0; i < 50; i++) {
        const MPI_Aint disp = window_disp(w, from, sizeof(int) * (size_t)place(i * 5000, target_stride));
        CHECK_OK(MPI_Rget(&some[i], 1, MPI_INT, from, disp, 1, MPI_INT, w->win, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(51, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 50; i++)
        bad += some[i] != value((from + w->ranks - 1) % w->ranks, round, i * 5000);
    for (int i = 0; i < INTS; i++)
        bad += all[i] != value((from + w->ranks - 1) % w->ranks, round, i);
    CHECK(bad == 0, "%s, round %d: %d wrong values from rank %d", flavor_names[w->flavor], round, bad, from);
    free(all);
}

static void run_round(const struct window *w, int round)
{
    const int origin_stride = round % 2 ? GAPS : 1, target_stride = round / 2 ? 2 : 1;
    const int to = (w->rank + 1) % w->ranks, from = (w->rank + w->ranks - 1) % w->ranks;
    int *const data = test_alloc(SPAN * sizeof *data);
    MPI_Datatype origin_type = vector(origin_stride), target_type = vector(target_stride);

    for (int i = 0; i < INTS; i++)
        data[place(i, origin_stride)] = value(w->rank, round, i);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Put(data, 1, origin_type, to, window_disp(w, to, 0), 1, target_type, w->win));
    CHECK_OK(MPI_Type_free(&origin_type));
    CHECK_OK(MPI_Type_free(&target_type));
    CHECK_OK(MPI_Win_flush(to, w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    get_all(w, to, round, target_stride);
    get_all(w, from, round, target_stride);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    free(data);
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        window_open(&w, (enum flavor)flavor, SPAN * sizeof(int), MPI_COMM_WORLD);
        for (int round = 0; round < 4; round++)
            run_round(&w, round);
        window_close(&w);
    }
    return test_end();
}
