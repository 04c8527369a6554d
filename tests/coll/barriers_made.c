/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.13: persistent barriers. Many at once, started by each process in another order, over only when all have
 * started the same one; beside nonblocking ones; of a communicator that has been freed. */
#include "mpitest.h"

enum { MADE = 20, ROUNDS = 30, LOOKS = 200, GO = 7 };

static MPI_Request made[MADE];

static void make_all(MPI_Comm comm)
{
    for (int i = 0; i < MADE; i++)
        CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &made[i]));
}

static void free_all(void)
{
    for (int i = 0; i < MADE; i++)
        CHECK_OK(MPI_Request_free(&made[i]));
}

/* In an order of the process's own; 7 and MADE have no factor in common. */
static void check_orders(void)
{
    MPI_Request other;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MADE; i++)
            CHECK_OK(MPI_Start(&made[(7 * i + 3 * test_rank + round) % MADE]));
        CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &other));
        for (int i = 0; i < MADE; i += 2)
            CHECK_OK(MPI_Wait(&made[(i + 2 * test_rank) % MADE], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Waitall(MADE, made, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* The last process starts another one first, and `which` only when it is told to. */
static void check_not_over(int which)
{
    const int last = test_size - 1, next = (which + 1) % MADE;
    int flag = 0;

    if (test_rank == last) {
        CHECK_OK(MPI_Start(&made[next]));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Start(&made[which]));
    } else {
        CHECK_OK(MPI_Start(&made[which]));
        for (int i = 0; i < LOOKS; i++) {
            if (test_rank == 0) {
                CHECK_OK(MPI_Test(&made[which], &flag, MPI_STATUS_IGNORE));
                CHECK_INT(flag, 0);
            }
        }
        if (test_rank == 0)
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, last, GO, MPI_COMM_WORLD));
        CHECK_OK(MPI_Start(&made[next]));
    }
    CHECK_OK(MPI_Wait(&made[which], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&made[next], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Made, started and ended on communicators that are gone, some of which take the place of others. */
static void check_freed(int is_used)
{
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (is_used)
        CHECK_OK(MPI_Barrier(comm));
    make_all(comm);
    CHECK_OK(MPI_Startall(MADE / 2, made));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Startall(MADE - MADE / 2, made + MADE / 2));
    CHECK_OK(MPI_Waitall(MADE, made, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Startall(MADE, made));
    CHECK_OK(MPI_Waitall(MADE, made, MPI_STATUSES_IGNORE));
    free_all();
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    make_all(MPI_COMM_WORLD);
    check_orders();
    for (int which = 0; which < MADE && test_size > 1; which++)
        check_not_over(which);
    free_all();
    for (int i = 0; i < 8; i++)
        check_freed(i % 3 > 0);
    return test_end();
}
