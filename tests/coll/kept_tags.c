/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.13: two persistent calls of one operation, begun in another order by each process, do not meet, however
 * many have been made and freed between them. */
#include "mpitest.h"

enum { BETWEEN = 1 << 18 };

int main(int argc, char **argv)
{
    MPI_Request old, new, other;
    int in = 0, first = 0, second = 0, i;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Allreduce_init(&in, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &old));
    for (i = 1; i < BETWEEN; i++) {
        CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &other));
        CHECK_OK(MPI_Request_free(&other));
    }
    CHECK_OK(MPI_Allreduce_init(&(int){ 1 }, &second, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &new));
    in = 100;
    CHECK_OK(MPI_Start(test_rank % 2 ? &new : &old));
    CHECK_OK(MPI_Start(test_rank % 2 ? &old : &new));
    CHECK_OK(MPI_Wait(&old, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&new, MPI_STATUS_IGNORE));
    CHECK_INT(first, 100 * test_size);
    CHECK_INT(second, test_size);
    CHECK_OK(MPI_Request_free(&old));
    CHECK_OK(MPI_Request_free(&new));
    return test_end();
}
