/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.5: the launcher hands on how the program ended. Arguments: the code, and the rank that exits
 * with it after MPI_Finalize (default the last); the others exit with 0. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int code, who;

    test_begin(&argc, &argv);
    CHECK(argc >= 2, "usage: exit_code CODE [RANK]");
    code = atoi(argv[1]);
    who = argc > 2 ? atoi(argv[2]) : test_size - 1;
    CHECK_OK(MPI_Finalize());
    return test_rank == who ? code : 0;
}
