/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3.1: a user's error handler gets the communicator and the error code, and after it the call
 * returns the code; it is inherited by new communicators and stays in use after MPI_Errhandler_free. */
#include "mpitest.h"

static int n_calls, last_code;
static MPI_Comm last_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    n_calls++;
    last_comm = *comm;
    last_code = *code;
}

static void provoke(MPI_Comm comm, int nth)
{
    int value = 1, rc;

    rc = MPI_Send(&value, 1, MPI_INT, 4711, 0, comm);
    CHECK_INT(test_class(rc), MPI_ERR_RANK);
    CHECK_INT(n_calls, nth);
    CHECK_INT(test_class(last_code), MPI_ERR_RANK);
    CHECK(last_comm == comm, "the handler got another communicator");
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm dup;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL, "MPI_Errhandler_free did not null the handle");
    provoke(MPI_COMM_WORLD, 1);
    provoke(MPI_COMM_WORLD, 2);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    provoke(dup, 3);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    provoke(dup, 4);
    CHECK_OK(MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER));
    CHECK_INT(n_calls, 5);
    CHECK_INT(last_code, MPI_ERR_OTHER);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_INT(n_calls, 5);
    return test_end();
}
