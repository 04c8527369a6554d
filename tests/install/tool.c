/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool as MPI 5.0 §15.2 means it: takes the place of two functions and calls the real ones by their PMPI names. */

#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Finalize(void)
{
    printf("%d sends\n", sends);
    return PMPI_Finalize();
}
