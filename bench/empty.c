/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: nothing but MPI_Init and MPI_Finalize; the driver measures its wall time from start to end
 * ("startup"). With --version rank 0 prints the first line of the library's version. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, length;

    MPI_Init(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Get_library_version(version, &length);
        version[strcspn(version, "\n")] = '\0';
        if (rank == 0)
            printf("version %s\n", version);
    }
    MPI_Finalize();
    return 0;
}
