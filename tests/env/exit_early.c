/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.2: a process that ends without MPI_Finalize, although with exit code 0, is an error: the job
 * ends, also where others wait for it, and the launcher does not report success. Argument: exit or the name
 * of a signal. */
#include "mpitest.h"

#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int value;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: exit_early exit|segv|kill");
    if (!test_is_parley() && strcmp(argv[1], "exit") == 0)
        test_skip("other launchers let it pass");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == test_size - 1) {
        if (strcmp(argv[1], "exit") == 0)
            _exit(0);
        signal(SIGSEGV, SIG_DFL);
        raise(strcmp(argv[1], "segv") == 0 ? SIGSEGV : SIGKILL);
    }
    MPI_Recv(&value, 1, MPI_INT, test_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("came back from a receive from a dead rank\n");
    return 0;
}
