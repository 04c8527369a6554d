/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.2, §12.3: displacements count in the target's unit, which may differ between ranks; with large counts,
 * too. */
#include "machines.h"

enum { PLACES = 16 };

/* Each rank has PLACES longs, of which displacements point to the first bytes in its unit. */
static int unit_of(int rank)
{
    static const int units[] = { 8, 4, 1, 2 };

    return units[rank % 4];
}

static MPI_Aint disp_of(int rank, int place)
{
    return place * (MPI_Aint)sizeof(long) / unit_of(rank);
}

static void play(MPI_Win win, long *mem)
{
    const int peer = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    long value = 100 + test_rank, got = -1, before[2] = { -1, -1 }, add[2] = { 1000, 2000 };
    MPI_Request request;

    for (int i = 0; i < PLACES; i++)
        mem[i] = i;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put_c(&value, 1, MPI_LONG, peer, disp_of(peer, 3), 1, MPI_LONG, win));
    CHECK_OK(MPI_Accumulate_c(add, 2, MPI_LONG, peer, disp_of(peer, 5), 2, MPI_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_INT(mem[3], 100 + left);
    CHECK_INT(mem[5], 1005);
    CHECK_INT(mem[6], 2006);
    CHECK_INT(mem[4], 4);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    CHECK_OK(MPI_Rget_c(&got, 1, MPI_LONG, peer, disp_of(peer, 3), 1, MPI_LONG, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(got, 100 + test_rank);
    CHECK_OK(MPI_Get_accumulate_c(add, 2, MPI_LONG, before, 2, MPI_LONG, peer, disp_of(peer, 5), 2, MPI_LONG,
                                  MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(peer, win));
    CHECK_INT(before[0], 1005);
    CHECK_INT(before[1], 2006);
    CHECK_OK(
        MPI_Raccumulate_c(add, 2, MPI_LONG, peer, disp_of(peer, 5), 2, MPI_LONG, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Get_c(before, 2, MPI_LONG, peer, disp_of(peer, 5), 2, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(peer, win));
    CHECK_INT(before[0], 3005);
    CHECK_INT(before[1], 6006);
    CHECK_OK(MPI_Win_fence(0, win));
    if (test_is_parley())
        CHECK_CLASS(MPI_Put(&value, 1, MPI_LONG, peer, disp_of(peer, PLACES), 1, MPI_LONG, win),
                    MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

int main(int argc, char **argv)
{
    static long own[PLACES];
    const MPI_Aint size = sizeof own;
    long *base = NULL;
    MPI_Win win;

    test_begin(&argc, &argv);
    for (int way = 0; way < 3; way++) {
        const MPI_Aint unit = unit_of(test_rank);

        if (way == 0)
            CHECK_OK(MPI_Win_create_c(base = own, size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        if (way == 1)
            CHECK_OK(MPI_Win_allocate_c(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        if (way == 2 && !can_share(MPI_COMM_WORLD))
            break;
        if (way == 2)
            CHECK_OK(MPI_Win_allocate_shared_c(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        play(win, base);
        CHECK_OK(MPI_Win_free(&win));
    }
    return test_end();
}
