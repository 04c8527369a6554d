/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: half a round trip of derived types between two ranks, as bytes of data per second. Parameter: layout:bytes.
 *   both_B     blocks of B bytes with gaps as long, on both sides
 *   out_B      the same sent, received without gaps
 *   others     the layouts of layouts.h on both sides, and as typed_hand a program that packs and unpacks with a loop
 *              of its own and sends bytes
 * Unit MB/s = 10^6 bytes per second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "layouts.h"

enum { SPREAD = 2, NAME = 48 };

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

/* Buffers hold other values on the receiving side at first. */
static void start(const struct bench *b, struct pair *p, long memory)
{
    p->rank = b->rank;
    p->out = bench_buffer(memory);
    p->in = bench_buffer(memory);
    for (long i = 0; i < memory; i++)
        p->out[i] = (char)(i * 7 % 251);
    memset(p->in, -1, (size_t)memory);
}

static void end(struct pair *p)
{
    free(p->out);
    free(p->in);
}

/* `bytes` are those of the data. */
static void measure(const struct bench *b, const char *name, const char *layout, long bytes, bench_op *op, void *arg)
{
    double value[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, op, arg, value);
    char parameter[NAME];

    for (int i = 0; i < batches; i++)
        value[i] = 2e-6 * (double)bytes / value[i];
    snprintf(parameter, sizeof parameter, "%s:%ld", layout, bytes);
    if (b->rank == 0)
        stats_print(name, parameter, value, batches, "MB/s", BETTER_HIGH);
}

static void blocks(const struct bench *b, long bytes, int block, int is_both)
{
    struct pair p = { .out_count = 1, .in_count = is_both ? 1 : bytes };
    char name[NAME];

    snprintf(name, sizeof name, "%s_%d", is_both ? "both" : "out", block);
    if (!bench_wants(b, name))
        return;
    MPI_Type_vector((int)(bytes / block), block, 2 * block, MPI_BYTE, &p.out_type);
    MPI_Type_commit(&p.out_type);
    p.in_type = is_both ? p.out_type : MPI_BYTE;
    start(b, &p, SPREAD * bytes);
    measure(b, "typed", name, bytes, ping_pong, &p);
    check(&p, name, bytes);
    end(&p);
    MPI_Type_free(&p.out_type);
}

/* --- the layouts --- */

/* The packed data lie in `pair`, contiguous, when the loop by hand packs them. */
struct by_hand {
    const struct laid *laid;
    struct pair pair;
    double *out, *in;
};

static void hand_pong(void *arg, long reps)
{
    const struct by_hand *h = arg;
    const struct pair *p = &h->pair;
    const struct layout *const layout = h->laid->layout;
    const int other = 1 - p->rank;

    for (long i = 0; i < reps; i++) {
        if (p->rank == 0) {
            layout->out(h->out, (double *)(void *)p->out, h->laid->n, &h->laid->places);
            MPI_Send(p->out, (int)p->out_count, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(p->in, (int)p->in_count, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        layout->in(h->in, (double *)(void *)p->in, h->laid->n, &h->laid->places);
        if (p->rank == 1) {
            layout->out(h->out, (double *)(void *)p->out, h->laid->n, &h->laid->places);
            MPI_Send(p->out, (int)p->out_count, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        }
    }
}

static void one_layout(const struct bench *b, const struct layout *layout, long bytes)
{
    struct by_hand hand = { .laid = NULL };
    struct laid laid;
    struct pair p;

    laid_start(&laid, layout, bytes);
    p = (struct pair){ .out_type = laid.type, .in_type = laid.type, .out_count = 1, .in_count = 1 };
    start(b, &p, laid.memory);
    measure(b, "typed", layout->name, laid.size, ping_pong, &p);
    check(&p, layout->name, laid.size);

    hand.laid = &laid;
    hand.out = (double *)(void *)p.out;
    hand.in = (double *)(void *)p.in;
    hand.pair = (struct pair){ .out_count = laid.size, .in_count = laid.size };
    start(b, &hand.pair, laid.size);
    measure(b, "typed_hand", layout->name, laid.size, hand_pong, &hand);
    end(&hand.pair);
    end(&p);
    laid_end(&laid);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 8, 64, 512, 1024, 2048, 4096, 16384 };
    struct bench b = { .batches = 21, .batch_time = 1e-3, .budget = 0.05, .min_size = 512, .max_size = 4 << 20 };

    bench_start(&b, &argc, &argv, 2);
    for (long bytes = b.min_size; bytes <= b.max_size; bytes = layouts_next_size(bytes, b.max_size)) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            if (bytes >= 2 * lengths[i]) {
                blocks(&b, bytes, lengths[i], 1);
                blocks(&b, bytes, lengths[i], 0);
            }
        for (int i = 0; i < layouts_count; i++)
            if (bench_wants(&b, layouts_all[i].name))
                one_layout(&b, &layouts_all[i], bytes);
    }
    MPI_Finalize();
    return 0;
}
