/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of signals: rank 0 computes until the signal has come, the others wait for it in MPI meanwhile, which
 * neither ends their wait nor loses the signal. Then each prints how often it came.
 *   handles SIGNAL */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t count;

static void handle(int number)
{
    (void)number;
    count++;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = handle };
    int rank, flag;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sigaction(atoi(argv[1]), &action, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    puts("ready");
    fflush(stdout);
    while (rank == 0 && !count)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!count) /* comes to every rank, to one after the other */
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", (int)count);
    MPI_Finalize();
    return 0;
}
