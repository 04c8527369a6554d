/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: bytes per second from rank 0 to rank 1, by size from 1 B to 4 MiB, two ways:
 *   bandwidth           windows of up to 64 nonblocking sends and receives, an answer after each window
 *   bandwidth_blocking  the same messages by MPI_Send and MPI_Recv
 * Every message of a window has its own place in the buffers. Unit MB/s = 10^6 bytes per second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { WINDOW = 64, WINDOW_BYTES = 32 << 20 };

struct stream {
    char *buffer;
    int rank, size, window;
    MPI_Request requests[WINDOW];
};

static int window_of(long size)
{
    const long fit = size ? WINDOW_BYTES / size : WINDOW;

    return fit > WINDOW ? WINDOW : fit < 2 ? 2 : (int)fit;
}

static void answer(const struct stream *s)
{
    char byte = 0;

    if (s->rank == 0)
        MPI_Recv(&byte, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
}

static void windowed(void *arg, long reps)
{
    struct stream *s = arg;

    for (long i = 0; i < reps; i++) {
        for (int w = 0; w < s->window; w++) {
            char *place = s->buffer + (long)w * s->size;

            if (s->rank == 0)
                MPI_Isend(place, s->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &s->requests[w]);
            else
                MPI_Irecv(place, s->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &s->requests[w]);
        }
        MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
        answer(s);
    }
}

static void blocking(void *arg, long reps)
{
    const struct stream *s = arg;

    for (long i = 0; i < reps; i++) {
        for (int w = 0; w < s->window; w++) {
            char *place = s->buffer + (long)w * s->size;

            if (s->rank == 0)
                MPI_Send(place, s->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            else
                MPI_Recv(place, s->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        answer(s);
    }
}

static void measure(const struct bench *b, struct stream *s, const char *name, bench_op *op)
{
    const long bytes = (long)s->window * s->size;
    double value[BENCH_MAX_BATCHES];
    char parameter[24];
    int batches;

    memset(s->buffer, s->rank == 0 ? 'x' : 0, (size_t)bytes);
    batches = bench_measure(b, op, s, value);
    for (long i = 0; i < bytes; i++)
        if (s->buffer[i] != 'x')
            bench_fail("%s: wrong byte %d at offset %ld, messages of %d bytes", name, s->buffer[i], i,
                       s->size);
    for (int i = 0; i < batches; i++)
        value[i] = 1e-6 * (double)bytes / value[i];
    snprintf(parameter, sizeof parameter, "%d", s->size);
    if (s->rank == 0)
        stats_print(name, parameter, value, batches, "MB/s", BETTER_HIGH);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 21, .batch_time = 2e-3, .budget = 0.1, .min_size = 1, .max_size = 4 << 20 };
    struct stream stream = { 0 };

    bench_start(&b, &argc, &argv, 2);
    stream.rank = b.rank;
    stream.buffer = bench_buffer(2 * b.max_size > WINDOW_BYTES ? 2 * b.max_size : WINDOW_BYTES);
    for (long size = b.min_size ? b.min_size : 1; size <= b.max_size; size = bench_next_size(&b, size, 4)) {
        stream.size = (int)size;
        stream.window = window_of(size);
        measure(&b, &stream, "bandwidth", windowed);
        measure(&b, &stream, "bandwidth_blocking", blocking);
    }
    free(stream.buffer);
    MPI_Finalize();
    return 0;
}
