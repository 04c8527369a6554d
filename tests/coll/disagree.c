/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.14: the processes of a communicator must make the same collective calls in the same order. This library
 * says who does not, and what the two call, instead of waiting for ever. Argument: what rank 0 does otherwise than all
 * others: operation|root|count|order|left-out; or that all are roots of one call. The error is fatal, as by default. */
#include "mpitest.h"

static int in[64], out[64];

static void operation(void)
{
    if (test_rank == 0)
        MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Everybody waits for another one. */
static void root(void)
{
    MPI_Bcast(in, 2, MPI_INT, test_rank == 0, MPI_COMM_WORLD);
}

static void count(void)
{
    MPI_Allreduce(in, out, test_rank == 0 ? 4 : 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void order(void)
{
    if (test_rank == 0)
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    if (test_rank != 0)
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
}

static void left_out(void)
{
    if (test_rank != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Nobody waits, and messages are left. But who sends to another machine for the first time waits until the two are
 * connected, and may see during the call what has come. */
static void roots(void)
{
    MPI_Bcast(in, 2, MPI_INT, test_rank, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        { "operation", operation }, { "root", root }, { "count", count }, { "order", order }, { "left-out", left_out },
        { "roots", roots },
    };
    size_t i;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("other libraries need not notice");
    CHECK(argc == 2, "usage: disagree operation|root|count|order|left-out|roots");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    return test_end();
}
