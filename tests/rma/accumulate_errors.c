/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.4: which operators and datatypes the accumulate functions take, that both sides are made of the same
 * predefined datatype, ranges, epochs, MPI_PROC_NULL, no data. With an argument: one fault, on a window with errors
 * that are fatal. */
#include "flavors.h"

static int x[4];
static long long wide;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void operators(const struct window *w)
{
    const MPI_Aint disp = window_disp(w, 0, 0);
    MPI_Op own;

    CHECK_OK(MPI_Op_create(add, 1, &own));
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, own, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Get_accumulate(x, 1, MPI_INT, x + 1, 1, MPI_INT, 0, disp, 1, MPI_INT, own, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 1, MPI_INT, 0, disp, own, w->win), MPI_ERR_OP);
    CHECK_OK(MPI_Op_free(&own));
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_NO_OP, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_MAXLOC, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 1, MPI_FLOAT, 0, disp, MPI_BOR, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_OP_NULL, w->win), MPI_ERR_OP);
    CHECK_OK(MPI_Fetch_and_op(x, x + 1, MPI_CHAR, 0, disp, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, x + 1, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_NO_OP, w->win));
}

static void types(const struct window *w)
{
    const MPI_Aint disp = window_disp(w, 0, 0);
    MPI_Datatype mixed, ints, open;

    CHECK_OK(MPI_Type_create_struct(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 0, 4 }, (MPI_Datatype[]){ MPI_INT, MPI_FLOAT },
                                    &mixed));
    CHECK_OK(MPI_Type_commit(&mixed));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &ints));
    CHECK_OK(MPI_Type_dup(ints, &open));
    CHECK_CLASS(MPI_Accumulate(x, 1, open, 0, disp, 1, MPI_INT, MPI_SUM, w->win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_commit(&ints));
    CHECK_CLASS(MPI_Accumulate(x, 1, mixed, 0, disp, 1, mixed, MPI_REPLACE, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(x, 1, mixed, 0, disp, 2, MPI_INT, MPI_SUM, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_FLOAT, 0, disp, 1, MPI_INT, MPI_SUM, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(x, 4, MPI_BYTE, 0, disp, 1, MPI_INT, MPI_REPLACE, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_accumulate(x, 1, MPI_INT, x + 1, 1, MPI_FLOAT, 0, disp, 1, MPI_INT, MPI_SUM, w->win),
                MPI_ERR_TYPE);
    CHECK_OK(MPI_Accumulate(x, 2, MPI_INT32_T, 0, disp, 1, ints, MPI_SUM, w->win));
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, ints, MPI_SUM, w->win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_accumulate(x, 2, MPI_INT, x, 1, MPI_INT, 0, disp, 1, ints, MPI_SUM, w->win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 2, ints, 0, disp, MPI_SUM, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(x, x + 2, x + 1, ints, 0, disp, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_FLOAT, 0, disp, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_WCHAR, 0, disp, w->win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_C_BOOL, 0, disp, w->win));
    CHECK_OK(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_BYTE, 0, disp, w->win));
    CHECK_OK(MPI_Type_free(&mixed));
    CHECK_OK(MPI_Type_free(&ints));
    CHECK_OK(MPI_Type_free(&open));
}

static void places(const struct window *w)
{
    const int last = window_last(w);
    const MPI_Aint disp = window_disp(w, last, 0);

    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, w->ranks, disp, 1, MPI_INT, MPI_SUM, w->win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 1, MPI_INT, w->ranks, disp, MPI_SUM, w->win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 1, MPI_INT, last, disp + (MPI_Aint)w->size - 3, MPI_SUM, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Compare_and_swap(x, x + 1, x + 2, MPI_INT, last, disp + (MPI_Aint)w->size, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, last, disp + (MPI_Aint)w->size - 2, 1, MPI_INT, MPI_SUM, w->win),
                MPI_ERR_RMA_RANGE);
    x[1] = 17;
    CHECK_OK(MPI_Fetch_and_op(x, x + 1, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
    CHECK_OK(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_INT, MPI_PROC_NULL, 0, w->win));
    CHECK_OK(MPI_Get_accumulate(x, 1, MPI_INT, x + 1, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Accumulate(x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    CHECK_INT(x[1], 17);
    CHECK_OK(MPI_Accumulate(x, 0, MPI_INT, last, disp, 0, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Get_accumulate(x, 0, MPI_INT, x, 0, MPI_INT, last, disp, 0, MPI_INT, MPI_REPLACE, w->win));
    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, last, disp, 0, MPI_INT, MPI_SUM, w->win), MPI_ERR_ARG);
}

static void epochs(struct window *w)
{
    const MPI_Aint disp = window_disp(w, 0, 0);
    MPI_Request request = MPI_REQUEST_NULL;

    CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Fetch_and_op(x, x + 1, MPI_INT, 0, disp, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Compare_and_swap(x, x + 2, x + 1, MPI_INT, 0, disp, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_CLASS(MPI_Raccumulate(x, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_SUM, w->win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rget_accumulate(x, 1, MPI_INT, x + 1, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_SUM, w->win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Raccumulate(x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static int fail(const char *how)
{
    MPI_Datatype mixed;
    MPI_Win win;
    int *base;

    CHECK_OK(MPI_Win_allocate(40, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Type_create_struct(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 0, 4 }, (MPI_Datatype[]){ MPI_INT, MPI_FLOAT },
                                    &mixed));
    CHECK_OK(MPI_Type_commit(&mixed));
    if (!strcmp(how, "op"))
        MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win);
    if (!strcmp(how, "mixed"))
        MPI_Accumulate(x, 1, mixed, 0, 0, 1, mixed, MPI_REPLACE, win);
    if (!strcmp(how, "sides"))
        MPI_Accumulate(x, 2, MPI_FLOAT, 0, 0, 2, MPI_INT, MPI_REPLACE, win);
    if (!strcmp(how, "swap"))
        MPI_Compare_and_swap(&wide, &wide, &wide, MPI_DOUBLE, 0, 0, win);
    return test_end();
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    if (argc > 1)
        return fail(argv[1]);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        window_open(&w, (enum flavor)flavor, 64, MPI_COMM_WORLD);
        epochs(&w);
        CHECK_OK(MPI_Win_fence(0, w.win));
        operators(&w);
        types(&w);
        places(&w);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        window_close(&w);
    }
    return test_end();
}
