/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of a user: passes a sum once around all processes and says what came of it. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Recv(&sum, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += rank;
    if (rank < size - 1)
        MPI_Send(&sum, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    else
        printf("the sum of %d ranks is %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
