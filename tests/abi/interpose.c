/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool may define MPI_X of its own and reach the library through PMPI_X; the library never calls the tool's
 * (MPI 5.0 §15.2). */
#include <mpi.h>
#include <stdio.h>

static int barriers, sends;

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&argc, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (barriers == 1 && sends == 1)
        return 0;
    fprintf(stderr, "the program called MPI_Barrier and MPI_Send once each; the tool saw %d and %d\n", barriers, sends);
    return 1;
}
