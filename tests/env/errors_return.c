/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3: the handler is a property of each communicator: with MPI_ERRORS_RETURN the code comes back; a
 * new communicator inherits its parent's handler (§9.3.1); MPI_Comm_get_errhandler says which one it is.
 * Errors without an object go to MPI_COMM_SELF's handler (since 4.0). */
#include "mpitest.h"

static void check_handler(MPI_Comm comm, MPI_Errhandler want)
{
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;

    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == want, "the communicator has another error handler than was set");
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL, "MPI_Errhandler_free did not null the handle");
}

int main(int argc, char **argv)
{
    MPI_Comm dup, half;
    int value = 1;

    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    check_handler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check_handler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check_handler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_handler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD), MPI_ERR_RANK);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_split(dup, test_rank % 2, 0, &half));
    check_handler(dup, MPI_ERRORS_RETURN);
    check_handler(half, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 4711, 0, dup), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 4711, 0, half), MPI_ERR_RANK);
    CHECK_OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_ARE_FATAL));
    check_handler(half, MPI_ERRORS_RETURN);

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
#if MPI_VERSION >= 5
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
#endif
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&dup));
    return test_end();
}
