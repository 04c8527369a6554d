/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6.2: threads may call collectives at the same time on different communicators. */
#include "mpithread.h"

enum { ROUNDS = 100, N = 500, LONG = 30000 };

static MPI_Comm comms[THREADS];

/* Many bytes take another way. */
static void long_ones(int thread, int round)
{
    double *in = malloc(2 * LONG * sizeof *in), *out = in + LONG;
    int i;

    for (i = 0; i < LONG; i++)
        in[i] = test_rank + thread + i;
    CHECK_OK(MPI_Allreduce(in, out, LONG, MPI_DOUBLE, MPI_SUM, comms[thread]));
    for (i = 0; i < LONG; i++)
        CHECK(out[i] == (double)test_size * (test_size - 1) / 2 + (double)test_size * (thread + i), "item %d: %g", i,
              out[i]);
    CHECK_OK(MPI_Bcast(out, LONG, MPI_DOUBLE, round % test_size, comms[thread]));
    CHECK_OK(MPI_Alltoall(in, LONG / test_size, MPI_DOUBLE, out, LONG / test_size, MPI_DOUBLE, comms[thread]));
    CHECK(out[0] == thread + test_rank * (LONG / test_size), "%g", out[0]);
    free(in);
}

static void body(int thread)
{
    int in[N], out[N], round, i, root;

    for (round = 0; round < ROUNDS; round++) {
        root = (round + thread) % test_size;
        for (i = 0; i < N; i++)
            in[i] = test_rank == root ? round * 1000 + thread + i : -1;
        CHECK_OK(MPI_Bcast(in, N, MPI_INT, root, comms[thread]));
        CHECK_INT(in[N - 1], round * 1000 + thread + N - 1);
        CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, comms[thread]));
        CHECK_INT(out[7], test_size * (round * 1000 + thread + 7));
        if (round % 20 == thread)
            long_ones(thread, round);
        if (round % 10 == 0)
            CHECK_OK(MPI_Barrier(comms[thread]));
    }
}

int main(int argc, char **argv)
{
    int i;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, body);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
