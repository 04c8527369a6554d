/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that are still posted when MPI_Finalize is called, against §11.2.2, do no harm: from one rank or from any,
 * with a persistent and a partitioned one beside them. */
#include "mpitest.h"

enum { N = 12 };

int main(int argc, char **argv)
{
    static int in[4 * N]; /* stays valid to the end */
    MPI_Request req, partitioned;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < N; i++) {
        const int tag = i % 3 ? i : MPI_ANY_TAG;
        CHECK_OK(MPI_Irecv(&in[4 * i], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Irecv(&in[4 * i + 1], 1, MPI_INT, test_rank, tag, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Irecv(&in[4 * i + 2], 1, MPI_INT, test_rank, tag, comm, &req));
        CHECK_OK(MPI_Irecv(&in[4 * i + 3], 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &req));
    }
    CHECK_OK(MPI_Recv_init(in, 1, MPI_INT, MPI_ANY_SOURCE, N, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Start(&req));
    CHECK_OK(MPI_Precv_init(in, 1, 1, MPI_INT, test_rank, N, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned));
    return test_end();
}
