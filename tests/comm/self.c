/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.2.4: MPI_COMM_SELF is a communicator of this process alone: size 1, rank 0, collectives work on
 * it and do not involve anybody else. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int size = -1, rank = -1, value, got = -1, i;
    MPI_Comm part;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
    CHECK_INT(size, 1);
    CHECK_INT(rank, 0);
    for (i = 0; i < test_rank + 3; i++) { /* everybody another number of times */
        value = test_rank * 10 + i;
        CHECK_OK(MPI_Barrier(MPI_COMM_SELF));
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF));
        CHECK_OK(MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
        CHECK_INT(got, value);
        got = -1;
        CHECK_OK(MPI_Alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, MPI_COMM_SELF));
        CHECK_INT(got, value);
        CHECK_OK(MPI_Comm_split(MPI_COMM_SELF, 7, 0, &part));
        CHECK_OK(MPI_Comm_size(part, &size));
        CHECK_INT(size, 1);
        CHECK_OK(MPI_Comm_free(&part));
    }
    return test_end();
}
