/* SPDX-License-Identifier: BSD-3-Clause */
/* Example hello: the smallest MPI program that does something. Every rank says who and where it is.
 *
 *     mpicc hello.c -o hello && mpiexec -n 4 hello */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, ranks, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(host, &length);
    printf("hello from rank %d of %d on %s\n", rank, ranks, host);
    MPI_Finalize();
    return 0;
}
