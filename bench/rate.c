/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: messages per second from rank 0 to rank 1 in windows of 64 nonblocking sends and receives, an
 * answer after each window, for messages of 0 and 8 bytes. Unit M/s = 10^6 messages per second. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "bench.h"

enum { WINDOW = 64 };

struct stream {
    int rank, size;
    uint64_t values[WINDOW];
};

static void window(void *arg, long reps)
{
    struct stream *s = arg;
    MPI_Request requests[WINDOW];

    for (long i = 0; i < reps; i++) {
        if (s->rank == 0) {
            for (int w = 0; w < WINDOW; w++)
                MPI_Isend(&s->values[w], s->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[w]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int w = 0; w < WINDOW; w++)
                MPI_Irecv(&s->values[w], s->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[w]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

static void measure(const struct bench *b, int size)
{
    struct stream s = { .rank = b->rank, .size = size };
    double value[BENCH_MAX_BATCHES];
    int batches;

    for (int w = 0; w < WINDOW; w++)
        s.values[w] = b->rank == 0 || size == 0 ? 1000u + (unsigned)w : 0;
    batches = bench_measure(b, window, &s, value);
    for (int w = 0; w < WINDOW; w++)
        if (s.values[w] != 1000u + (unsigned)w)
            bench_fail("rate: message %d of a window brought %llu", w, (unsigned long long)s.values[w]);
    for (int i = 0; i < batches; i++)
        value[i] = 1e-6 * WINDOW / value[i];
    if (b->rank == 0)
        stats_print("rate", size ? "8" : "0", value, batches, "M/s", BETTER_HIGH);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 101, .batch_time = 1e-3, .budget = 0.5 };

    bench_start(&b, &argc, &argv, 2);
    measure(&b, 0);
    measure(&b, 8);
    MPI_Finalize();
    return 0;
}
