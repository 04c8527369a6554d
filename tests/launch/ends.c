/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: an MPI program that ends in the way its arguments say.
 *   ends HOW [RANK]     RANK does it, the others wait in a barrier and finalize; without RANK all do it
 * HOW: well, early, exit-N, abort-N, segv, kill, sleep, error, children, nothing. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void finish(int code)
{
    MPI_Finalize();
    exit(code);
}

static void act(const char *how, char *self)
{
    if (!strcmp(how, "early"))
        exit(0);
    if (!strncmp(how, "exit-", 5))
        finish(atoi(how + 5));
    if (!strncmp(how, "abort-", 6))
        MPI_Abort(MPI_COMM_WORLD, atoi(how + 6));
    if (!strcmp(how, "segv")) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer may have its own idea */
        raise(SIGSEGV);
    }
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "sleep"))
        for (;;)
            pause();
    if (!strcmp(how, "error"))
        MPI_Send(NULL, 0, MPI_INT, 4711, 0, MPI_COMM_WORLD);
    if (!strcmp(how, "children")) {
        char command[4096];
        snprintf(command, sizeof command, "%s well", self);
        if (system(command) != 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    if (argc > 1 && !strcmp(argv[1], "nothing"))
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d\n", rank, size);
    fflush(stdout);
    if (argc > 1 && (argc == 2 || atoi(argv[2]) == rank))
        act(argv[1], argv[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    finish(0);
}
