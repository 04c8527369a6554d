/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: processor time that a rank burns while it is blocked in MPI_Recv: rank 0 sleeps for a second (or
 * --budget S), then sends; the others wait. Prints the median over the waiting ranks in ms of processor
 * time per second of waiting; parameter: number of waiting ranks. */
#define _GNU_SOURCE 1
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

static double cpu_seconds(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void pause_for(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds)) };

    while (nanosleep(&t, &t))
        ;
}

/* ms of processor time per second of waiting, in the rank that calls. */
static double wait_for_rank_0(void)
{
    const double cpu = cpu_seconds(), start = stats_now();
    int token;

    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1e3 * (cpu_seconds() - cpu) / (stats_now() - start);
}

int main(int argc, char **argv)
{
    struct bench b = { .budget = 1.0 };
    double *values, mine = 0;
    char parameter[24];

    bench_start(&b, &argc, &argv, 0);
    if (b.size < 2)
        bench_fail("idle needs at least 2 ranks");
    values = bench_buffer(b.size * (long)sizeof *values);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b.rank == 0) {
        pause_for(b.budget);
        for (int r = 1; r < b.size; r++)
            MPI_Send(&r, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    } else {
        mine = wait_for_rank_0();
    }
    MPI_Gather(&mine, 1, MPI_DOUBLE, values, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    snprintf(parameter, sizeof parameter, "%d", b.size - 1);
    if (b.rank == 0)
        stats_print("idle_cpu", parameter, values + 1, b.size - 1, "ms/s", BETTER_LOW);
    free(values);
    MPI_Finalize();
    return 0;
}
