/* SPDX-License-Identifier: BSD-3-Clause */
/* As many calls as the first argument says, and nothing else, for profile_test.py. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Finalize();
    return 0;
}
