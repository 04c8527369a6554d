/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: half a round trip of blocking MPI_Send and MPI_Recv between two ranks, by size from 0 B to 4 MiB.
 * Options: --pin (rank r on core r), --max-size B, --batches N, see bench.h; with --per-decade N many sizes, and the
 * name of the values is `curve`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct pair {
    char *out, *in;
    int rank, size;
};

static void ping_pong(void *arg, long reps)
{
    const struct pair *p = arg;
    const int other = 1 - p->rank;

    for (long i = 0; i < reps; i++) {
        if (p->rank == 0)
            MPI_Send(p->out, p->size, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(p->in, p->size, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (p->rank == 1)
            MPI_Send(p->out, p->size, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
}

/* The buffers hold a value of the sender and the size, so that a message that never came is seen. */
static void measure(const struct bench *b, struct pair *p)
{
    double time[BENCH_MAX_BATCHES];
    char parameter[24];
    int batches;

    memset(p->out, p->size % 100 + p->rank, (size_t)p->size);
    memset(p->in, 127, (size_t)p->size);
    batches = bench_measure(b, ping_pong, p, time);
    for (int i = 0; i < p->size; i++)
        if (p->in[i] != p->size % 100 + 1 - p->rank)
            bench_fail("latency: wrong byte %d at offset %d of a message of %d bytes", p->in[i], i, p->size);
    for (int i = 0; i < batches; i++)
        time[i] *= 0.5e6;
    snprintf(parameter, sizeof parameter, "%d", p->size);
    if (p->rank == 0)
        stats_print(b->per_decade ? "curve" : "latency", parameter, time, batches, "us", BETTER_LOW);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 101, .batch_time = 1e-3, .budget = 0.2, .max_size = 4 << 20 };
    struct pair pair;

    bench_start(&b, &argc, &argv, 2);
    pair = (struct pair){ bench_buffer(b.max_size), bench_buffer(b.max_size), b.rank, 0 };
    for (long size = b.min_size; size <= b.max_size; size = bench_next_size(&b, size, 2)) {
        pair.size = (int)size;
        measure(&b, &pair);
    }
    free(pair.in);
    free(pair.out);
    MPI_Finalize();
    return 0;
}
