/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: errors that belong to no object while MPI_COMM_SELF is not there. The handler is that which
 * mpiexec was asked for (MPI 5.0 §9.3, §11.8.4).
 *   outside WHEN        before, session, left (after a session), after, all */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *wanted;

static void fail_when(const char *when)
{
    int size;

    if (strcmp(wanted, when) && strcmp(wanted, "all"))
        return;
    if (MPI_Comm_size(MPI_COMM_NULL, &size) != MPI_SUCCESS)
        printf("%s\n", when);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Session session;

    wanted = argc > 1 ? argv[1] : "all";
    fail_when("before");
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session))
        return 1;
    fail_when("session");
    if (MPI_Session_finalize(&session))
        return 1;
    fail_when("left");
    if (MPI_Init(&argc, &argv) || MPI_Finalize())
        return 1;
    fail_when("after");
    return 0;
}
