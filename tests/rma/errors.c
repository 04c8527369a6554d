/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.6: wrong calls on windows give the classes of the standard, and the window works as before. */
#include "flavors.h"

static int x;

/* What every call says before there is an epoch. */
static void no_epoch(struct window *w)
{
    int flag;

    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, 0, window_disp(w, 0, 0), 1, MPI_INT, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Get(&x, 1, MPI_INT, 0, window_disp(w, 0, 0), 1, MPI_INT, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
}

static void in_fence(struct window *w)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int last = window_last(w);

    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, w->ranks, 0, 1, MPI_INT, w->win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Get(&x, 1, MPI_INT, -7, 0, 1, MPI_INT, w->win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Rput(&x, 1, MPI_INT, last, window_disp(w, last, 0), 1, MPI_INT, w->win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK(request == MPI_REQUEST_NULL, "no request comes from a call that fails");
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, last, window_disp(w, last, w->size - 3), 1, MPI_INT, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(&x, 1, MPI_INT, last, window_disp(w, last, w->size), 1, MPI_INT, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(NULL, 0, MPI_INT, last, window_disp(w, last, 0), 1, MPI_INT, w->win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, last, window_disp(w, last, 0), 2, MPI_INT, w->win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Put_c(&x, 1, MPI_INT, last, window_disp(w, last, 0), (MPI_Count)1 << 62, MPI_INT, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, last, -4, 1, MPI_INT, w->win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(&x, -1, MPI_INT, last, 0, 1, MPI_INT, w->win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_DATATYPE_NULL, last, 0, 1, MPI_INT, w->win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Win_flush(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Put(&x, 1, MPI_INT, last, window_disp(w, last, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* A type that reaches before its address, and one with a gap. */
static void with_types(struct window *w)
{
    const int last = window_last(w);
    MPI_Datatype back, apart;
    int two[2] = { 1, 2 };

    CHECK_OK(MPI_Type_create_hindexed(1, (int[]){ 1 }, (MPI_Aint[]){ -4 }, MPI_INT, &back));
    CHECK_OK(MPI_Type_commit(&back));
    CHECK_OK(MPI_Type_vector(2, 1, 4, MPI_INT, &apart));
    CHECK_OK(MPI_Type_commit(&apart));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_CLASS(MPI_Put(two, 1, MPI_INT, last, window_disp(w, last, 0), 1, back, w->win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(two, 1, MPI_INT, last, window_disp(w, last, w->size), 1, back, w->win));
    CHECK_CLASS(MPI_Put(two, 2, MPI_INT, last, window_disp(w, last, w->size - 19), 1, apart, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(two, 2, MPI_INT, last, window_disp(w, last, w->size - 20), 1, apart, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_OK(MPI_Type_free(&back));
    CHECK_OK(MPI_Type_free(&apart));
}

static void in_lock(struct window *w)
{
    MPI_Group self;

    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, w->ranks, 0, w->win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_lock(3, 0, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, w->win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock_all(1 << 30, w->win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, w->win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&w->win), MPI_ERR_RMA_SYNC);
    if (w->ranks > 1) {
        const int other = (w->rank + 1) % w->ranks;

        CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, other, window_disp(w, other, 0), 1, MPI_INT, w->win),
                    MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_unlock(other, w->win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_flush(other, w->win), MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_CLASS(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Group_free(&self));
}

static void in_start(struct window *w)
{
    MPI_Group self, world;

    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    CHECK_OK(MPI_Win_post(self, 0, w->win));
    CHECK_CLASS(MPI_Win_post(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(self, 0, w->win));
    CHECK_CLASS(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
    if (w->ranks > 1) {
        const int other = (w->rank + 1) % w->ranks;

        CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, other, window_disp(w, other, 0), 1, MPI_INT, w->win),
                    MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Put(&x, 1, MPI_INT, w->rank, window_disp(w, w->rank, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOPRECEDE, w->win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, w->win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_free(&world));
}

/* A window of this rank alone, and a group with others. */
static void wrong_group(void)
{
    MPI_Group world;
    MPI_Win win;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (test_size > 1) {
        CHECK_CLASS(MPI_Win_post(world, 0, win), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Win_start(world, 0, win), MPI_ERR_GROUP);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Group_free(&world));
}

static void no_locks(void)
{
    MPI_Info info;
    MPI_Win win;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
    CHECK_OK(MPI_Win_create(&x, sizeof x, 1, info, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Info_free(&info));
}

static void making(void)
{
    MPI_Info info;
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    CHECK_CLASS(MPI_Win_create(&x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(&x, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create(&x, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    if (!test_is_parley())
        return;
    if (test_size > 1 && can_share(MPI_COMM_WORLD)) /* more than there can be */
        CHECK_CLASS(MPI_Win_allocate_shared((MPI_Aint)1 << 55, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                    MPI_ERR_NO_MEM);
    if (test_size > 1 && can_share(MPI_COMM_WORLD)) /* all of it would be 2^64, or next to nothing */
        CHECK_CLASS(MPI_Win_allocate_shared(INT64_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                    MPI_ERR_NO_MEM);
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) /* those end a program that asks for so much */
    CHECK_CLASS(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
#endif
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", test_rank ? "64" : "63"));
    CHECK_CLASS(MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win),
                test_rank ? MPI_ERR_OTHER : MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    making();
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;

        window_open(&w, flavor, 64, MPI_COMM_WORLD);
        no_epoch(&w);
        in_fence(&w);
        with_types(&w);
        no_epoch(&w);
        in_lock(&w);
        in_start(&w);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    wrong_group();
    no_locks();
    return test_end();
}
