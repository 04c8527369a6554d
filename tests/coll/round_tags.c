/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.13: a persistent call on an intercommunicator goes with its own partners only, however many other calls
 * are made there, and whichever each process begins first. */
#include "mpitest.h"

enum { AROUND = 1 << 14, NEAR = 8 };

int main(int argc, char **argv)
{
    MPI_Comm side, both;
    MPI_Request request;
    int in = 0, kept = 0, sum, i, size, remote;

    test_begin(&argc, &argv);
    if (test_size < 3)
        test_skip("needs 3");
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &side));
    CHECK_OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 1, &both));
    MPI_Comm_size(side, &size);
    MPI_Comm_remote_size(both, &remote);
    CHECK_OK(MPI_Allreduce_init(&in, &kept, 1, MPI_INT, MPI_SUM, both, MPI_INFO_NULL, &request));
    for (i = 1; i < AROUND - NEAR; i++)
        CHECK_OK(MPI_Barrier(both));
    for (; i < AROUND + NEAR; i++) {
        int rank;
        MPI_Comm_rank(side, &rank);
        in = 1000;
        if (rank)
            CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, both));
        if (!rank)
            CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(sum, remote);
        CHECK_INT(kept, 1000 * remote);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free(&both));
    CHECK_OK(MPI_Comm_free(&side));
    return test_end();
}
