/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: time of MPI_Barrier with the job's number of ranks; meant for more ranks than cores (4, 8, 16 on
 * 2). */
#include <mpi.h>
#include <stdio.h>

#include "bench.h"

static void barriers(void *arg, long reps)
{
    (void)arg;
    for (long i = 0; i < reps; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 5e-3, .budget = 0.5 };
    double time[BENCH_MAX_BATCHES];
    char parameter[24];
    int batches;

    bench_start(&b, &argc, &argv, 0);
    batches = bench_measure(&b, barriers, NULL, time);
    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(parameter, sizeof parameter, "%d", b.size);
    if (b.rank == 0)
        stats_print("barrier", parameter, time, batches, "us", BETTER_LOW);
    MPI_Finalize();
    return 0;
}
