/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.7: MPI_Abort ends all processes of the job, also those that wait for a message that never comes,
 * and the code given to it is what the launcher exits with. Arguments: code, and the rank that aborts
 * (default the last). */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int code, who, value;

    test_begin(&argc, &argv);
    CHECK(argc >= 2, "usage: abort CODE [RANK]");
    code = atoi(argv[1]);
    who = argc > 2 ? atoi(argv[2]) : test_size - 1;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == who)
        MPI_Abort(MPI_COMM_WORLD, code);
    MPI_Recv(&value, 1, MPI_INT, test_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("came back from a receive that nobody serves\n");
    return 0;
}
