/* SPDX-License-Identifier: BSD-3-Clause */
/* When the connection to a target on another machine breaks, calls that wait for it end with an error: nobody waits for
 * what cannot come. Rank 1 breaks it by the system's means. */
#include "cut.h"

enum { TAG_GO = 1, LONGS = 100000 };

static MPI_Win win;
static long *mine;

/* What was begun before, of each kind; then the connection breaks. */
static void begin(MPI_Request requests[2], long *before)
{
    const long one = 1;

    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win)); /* which it has itself, so nothing is done */
    CHECK_OK(MPI_Put(mine, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, win));
    CHECK_OK(MPI_Fetch_and_op(&one, before, MPI_LONG, 1, 0, MPI_SUM, win));
    CHECK_OK(MPI_Rget(mine, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, win, &requests[0]));
    CHECK_OK(MPI_Rput(mine, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, win, &requests[1]));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_GO, MPI_COMM_WORLD));
}

static void origin(void)
{
    MPI_Request requests[2];
    MPI_Group world, other;
    long before;

    begin(requests, &before);
    check_lost(MPI_Win_flush(1, win), "MPI_Win_flush");
    check_lost(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait of MPI_Rget");
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* its data may have gone */
    check_lost(MPI_Put(mine, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win), "MPI_Put");
    check_lost(MPI_Get(mine, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, win), "MPI_Get");
    MPI_Win_unlock(1, win);
    check_lost(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), "MPI_Win_lock");
    check_lost(MPI_Win_lock_all(0, win), "MPI_Win_lock_all");
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, (int[]){ 1 }, &other));
    check_lost(MPI_Win_start(other, 0, win), "MPI_Win_start");
    CHECK_OK(MPI_Win_post(other, 0, win));
    check_lost(MPI_Win_wait(win), "MPI_Win_wait");
    check_lost(MPI_Win_fence(0, win), "MPI_Win_fence");
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&other));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (!test_is_parley())
        test_skip("other libraries end the job");
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (test_rank == 1)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == 0) {
        origin();
    } else {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(shut_connections() > 0, "there are no connections");
    }
    return test_end();
}
