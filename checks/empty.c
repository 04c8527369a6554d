/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest MPI program: what start and end cost by themselves. */

#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
