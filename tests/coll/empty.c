/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.1, §6.5: collectives of no elements with null buffers are legal and still collective. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int root;

    test_begin(&argc, &argv);
    for (root = 0; root < test_size; root++) {
        CHECK_OK(MPI_Bcast(NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_OK(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_OK(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return test_end();
}
