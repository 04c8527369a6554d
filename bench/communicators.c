/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: making a communicator of all ranks and freeing it again, by the call that makes it: dup, idup with a wait,
 * split in two halves, create of the same group, create_group. */
#include <mpi.h>
#include <stdio.h>

#include "bench.h"

struct maker {
    const char *name;
    void (*make)(MPI_Comm *comm);
};

static int rank;
static MPI_Group all;

static void dup(MPI_Comm *comm)
{
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
}

static void idup(MPI_Comm *comm)
{
    MPI_Request request;

    MPI_Comm_idup(MPI_COMM_WORLD, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void split(MPI_Comm *comm)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, comm);
}

static void create(MPI_Comm *comm)
{
    MPI_Comm_create(MPI_COMM_WORLD, all, comm);
}

static void create_group(MPI_Comm *comm)
{
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 7, comm);
}

static void make_and_free(void *arg, long reps)
{
    const struct maker *maker = arg;
    MPI_Comm comm;

    for (long i = 0; i < reps; i++) {
        maker->make(&comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    static const struct maker makers[] = {
        { "dup", dup }, { "idup", idup }, { "split", split }, { "create", create }, { "create_group", create_group },
    };
    struct bench b = { .batches = 51, .batch_time = 5e-3, .budget = 0.3 };
    double time[BENCH_MAX_BATCHES];
    char parameter[40];

    bench_start(&b, &argc, &argv, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
        const int batches = bench_measure(&b, make_and_free, (void *)&makers[m], time);
        for (int i = 0; i < batches; i++)
            time[i] *= 1e6;
        snprintf(parameter, sizeof parameter, "%s:%d", makers[m].name, b.size);
        if (b.rank == 0)
            stats_print("comm", parameter, time, batches, "us", BETTER_LOW);
    }
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
