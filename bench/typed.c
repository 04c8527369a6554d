/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: half a round trip of derived types between two ranks, as bytes of data per second. Parameter: layout:bytes.
 *   both_B     blocks of B bytes with gaps as long, on both sides
 *   out_B      the same sent, received without gaps
 *   records    structs of an int and a double, on both sides
 *   indexed    doubles at displacements, four places for each on average, on both sides
 * Unit MB/s = 10^6 bytes per second. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SPREAD = 4, NAME = 48 };

struct record {
    int key;
    double value;
};

struct pair {
    char *out, *in;
    MPI_Datatype out_type, in_type;
    long out_count, in_count;
    int rank;
};

static void ping_pong(void *arg, long reps)
{
    const struct pair *p = arg;
    const int other = 1 - p->rank;

    for (long i = 0; i < reps; i++) {
        if (p->rank == 0)
            MPI_Send(p->out, (int)p->out_count, p->out_type, other, 1, MPI_COMM_WORLD);
        MPI_Recv(p->in, (int)p->in_count, p->in_type, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (p->rank == 1)
            MPI_Send(p->out, (int)p->out_count, p->out_type, other, 1, MPI_COMM_WORLD);
    }
}

/* What came must be what the other rank has packed of its own data, which are those of this rank. */
static void check(const struct pair *p, const char *name, long bytes)
{
    char *const sent = bench_buffer(bytes), *const came = bench_buffer(bytes);
    int at = 0;

    MPI_Pack(p->out, (int)p->out_count, p->out_type, sent, (int)bytes, &at, MPI_COMM_WORLD);
    at = 0;
    MPI_Pack(p->in, (int)p->in_count, p->in_type, came, (int)bytes, &at, MPI_COMM_WORLD);
    if (memcmp(sent, came, (size_t)bytes) != 0)
        bench_fail("typed: %s of %ld bytes: what came is not what was sent", name, bytes);
    free(sent);
    free(came);
}

/* `bytes` are those of the data. Buffers hold other values on the receiving side at first. */
static void measure(const struct bench *b, struct pair *p, const char *name, long bytes)
{
    const long memory = SPREAD * bytes + 4096;
    double value[BENCH_MAX_BATCHES];
    char parameter[NAME];
    int batches;

    p->rank = b->rank;
    p->out = bench_buffer(memory);
    p->in = bench_buffer(memory);
    for (long i = 0; i < memory; i++)
        p->out[i] = (char)(i * 7 % 251);
    memset(p->in, -1, (size_t)memory);
    batches = bench_measure(b, ping_pong, p, value);
    check(p, name, bytes);
    for (int i = 0; i < batches; i++)
        value[i] = 2e-6 * (double)bytes / value[i];
    snprintf(parameter, sizeof parameter, "%s:%ld", name, bytes);
    if (p->rank == 0)
        stats_print("typed", parameter, value, batches, "MB/s", BETTER_HIGH);
    free(p->out);
    free(p->in);
}

static void blocks(const struct bench *b, long bytes, int block, int is_both)
{
    struct pair p = { .out_count = 1, .in_count = is_both ? 1 : bytes };
    char name[NAME];

    MPI_Type_vector((int)(bytes / block), block, 2 * block, MPI_BYTE, &p.out_type);
    MPI_Type_commit(&p.out_type);
    p.in_type = is_both ? p.out_type : MPI_BYTE;
    snprintf(name, sizeof name, "%s_%d", is_both ? "both" : "out", block);
    measure(b, &p, name, bytes);
    MPI_Type_free(&p.out_type);
}

static void records(const struct bench *b, long bytes)
{
    const int lengths[] = { 1, 1 };
    const MPI_Aint disps[] = { offsetof(struct record, key), offsetof(struct record, value) };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    struct pair p = { .out_count = bytes / 12, .in_count = bytes / 12 };

    MPI_Type_create_struct(2, lengths, disps, types, &p.out_type);
    MPI_Type_commit(&p.out_type);
    p.in_type = p.out_type;
    measure(b, &p, "records", bytes / 12 * 12);
    MPI_Type_free(&p.out_type);
}

static void indexed(const struct bench *b, long bytes)
{
    int *const index = bench_buffer(bytes / 8 * (long)sizeof *index);
    struct pair p = { .out_count = 1, .in_count = 1 };
    uint32_t state = 1;

    for (long i = 0; i < bytes / 8; i++) {
        state = state * 1664525u + 1013904223u;
        index[i] = (int)(4 * i + (state >> 30));
    }
    MPI_Type_create_indexed_block((int)(bytes / 8), 1, index, MPI_DOUBLE, &p.out_type);
    MPI_Type_commit(&p.out_type);
    p.in_type = p.out_type;
    measure(b, &p, "indexed", bytes);
    MPI_Type_free(&p.out_type);
    free(index);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 8, 64, 512, 1024, 2048, 4096, 16384 };
    struct bench b = { .batches = 21, .batch_time = 1e-3, .budget = 0.05, .min_size = 512, .max_size = 4 << 20 };

    bench_start(&b, &argc, &argv, 2);
    for (long bytes = b.min_size; bytes <= b.max_size; bytes = bench_next_size(&b, bytes, 8)) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            if (bytes >= 2 * lengths[i]) {
                blocks(&b, bytes, lengths[i], 1);
                blocks(&b, bytes, lengths[i], 0);
            }
        records(&b, bytes);
        indexed(&b, bytes);
    }
    MPI_Finalize();
    return 0;
}
