/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of delivery: every rank prints LINES lines; then rank 2 receives what is too long for it, and ends the
 * job, while the others wait for it.
 *   quits LINES */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char text[100] = "";
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); i++)
        printf("rank %d line %d\n", rank, i);
    if (rank == 1)
        MPI_Send(text, 100, MPI_CHAR, 2, 7, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(text, 50, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
