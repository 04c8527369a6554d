/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.11: MPI_Get_elements counts basic elements: a pair is two, also when the last item is not
 * whole; for basic types it agrees with MPI_Get_count. */
#include "mpitest.h"

static void receive(int n, MPI_Datatype type, MPI_Status *st)
{
    char out[64] = { 0 }, in[64];
    MPI_Request req;

    CHECK_OK(MPI_Isend(out, n, type, 0, 0, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Recv(in, n, type, 0, 0, MPI_COMM_SELF, st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Status st;
    int n = -7;

    test_begin(&argc, &argv);
    receive(3, MPI_INT, &st);
    NEEDS(MPI_Get_elements(&st, MPI_INT, &n));
    CHECK_INT(n, 3);
    receive(3, MPI_DOUBLE_INT, &st);
    CHECK_OK(MPI_Get_elements(&st, MPI_DOUBLE_INT, &n));
    CHECK_INT(n, 6);
    receive(0, MPI_DOUBLE_INT, &st);
    CHECK_OK(MPI_Get_elements(&st, MPI_DOUBLE_INT, &n));
    CHECK_INT(n, 0);
    receive(1, MPI_DOUBLE, &st);
    CHECK_OK(MPI_Get_elements(&st, MPI_DOUBLE_INT, &n));
    CHECK_INT(n, 1);
    return test_end();
}
