/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3: the initial handler of the predefined communicators is MPI_ERRORS_ARE_FATAL: an error ends
 * the job with a message that says which call, and a code that is not 0. MPI_ERRORS_ABORT does the same to
 * the communicator's processes. The others wait for the faulty one for ever. Argument:
 * initial|fatal|abort|self|dup. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int value = 1;

    CHECK(argc == 2, "usage: errors_fatal initial|fatal|abort|self|dup");
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (strcmp(argv[1], "fatal") == 0)
        CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
#if MPI_VERSION >= 4
    if (strcmp(argv[1], "abort") == 0)
        CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
#endif
    if (strcmp(argv[1], "self") == 0)
        comm = MPI_COMM_SELF;
    if (strcmp(argv[1], "dup") == 0)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == test_size - 1) {
        MPI_Send(&value, 1, MPI_INT, 4711, 0, comm);
        printf("the faulty call came back\n");
        return 0;
    }
    MPI_Recv(&value, 1, MPI_INT, test_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("came back from a receive that nobody serves\n");
    return 0;
}
