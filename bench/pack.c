/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: how fast MPI_Pack and MPI_Unpack move derived types, in GB/s of packed data, beside loops written by hand
 * for the same layout. One rank. Names: pack, unpack, pack_hand, unpack_hand; parameter layout:bytes. What is packed is
 * checked against the loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "layouts.h"

enum { NAME = 64 };

struct work {
    struct laid laid;
    double *data, *packed;
};

static void pack(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        int at = 0;
        MPI_Pack(w->data, 1, w->laid.type, w->packed, w->laid.size, &at, MPI_COMM_WORLD);
    }
}

static void unpack(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        int at = 0;
        MPI_Unpack(w->packed, w->laid.size, &at, w->data, 1, w->laid.type, MPI_COMM_WORLD);
    }
}

static void by_hand_out(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->laid.layout->out(w->data, w->packed, w->laid.n, &w->laid.places);
}

static void by_hand_in(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->laid.layout->in(w->data, w->packed, w->laid.n, &w->laid.places);
}

static void print(const struct work *w, const char *name, double *value, int batches)
{
    char parameter[NAME];

    for (int i = 0; i < batches; i++)
        value[i] = 1e-9 * w->laid.size / value[i];
    snprintf(parameter, sizeof parameter, "%s:%d", w->laid.layout->name, w->laid.size);
    stats_print(name, parameter, value, batches, "GB/s", BETTER_HIGH);
}

static void measure(const struct bench *b, struct work *w, const char *name, bench_op *op)
{
    double value[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, op, w, value);

    print(w, name, value, batches);
}

/* The type must give what the loop gives. */
static void check(struct work *w)
{
    double *const want = bench_buffer(w->laid.size);

    pack(w, 1);
    w->laid.layout->out(w->data, want, w->laid.n, &w->laid.places);
    if (memcmp(want, w->packed, (size_t)w->laid.size) != 0)
        bench_fail("pack: %s of %d bytes differs from the loop", w->laid.layout->name, w->laid.size);
    free(want);
}

static void one_layout(const struct bench *b, const struct layout *layout, long bytes)
{
    struct work w;

    laid_start(&w.laid, layout, bytes);
    w.data = bench_buffer(w.laid.memory);
    w.packed = bench_buffer(bytes);
    for (long i = 0; i < w.laid.memory / 8; i++)
        w.data[i] = (double)i;
    check(&w);
    measure(b, &w, "pack", pack);
    measure(b, &w, "pack_hand", by_hand_out);
    measure(b, &w, "unpack", unpack);
    measure(b, &w, "unpack_hand", by_hand_in);
    free(w.data);
    free(w.packed);
    laid_end(&w.laid);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 1e-3, .budget = 0.1, .min_size = 512, .max_size = 4 << 20 };

    bench_start(&b, &argc, &argv, 1);
    for (int i = 0; i < layouts_count; i++)
        if (bench_wants(&b, layouts_all[i].name))
            for (long bytes = b.min_size; bytes <= b.max_size; bytes = layouts_next_size(bytes, b.max_size))
                one_layout(&b, &layouts_all[i], bytes);
    MPI_Finalize();
    return 0;
}
