/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: how fast MPI_Reduce_local combines, in GB/s of one operand, beside loops written by hand. One rank. Names: op,
 * op_hand; parameter operator_type:bytes. What comes out is checked against the loop. */
#include <mpi.h>
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NAME = 64 };

typedef void loop_fn(const void *in, void *inout, long n);
typedef void fill_fn(void *buf, long n, uint32_t seed);

#define LOOP(name, T, expression) \
    static void name(const void *restrict in, void *restrict inout, long n) \
    { \
        const T *a = in; \
        T *b = inout; \
\
        for (long i = 0; i < n; i++) \
            b[i] = (T)(expression); \
    }

LOOP(sum_int, int, a[i] + b[i])
LOOP(max_int, int, a[i] > b[i] ? a[i] : b[i])
LOOP(band_int, int, a[i] & b[i])
LOOP(land_int, int, a[i] && b[i])
LOOP(sum_byte, unsigned char, a[i] + b[i])
LOOP(prod_long, long, a[i] * b[i])
LOOP(sum_float, float, a[i] + b[i])
LOOP(max_float, float, a[i] > b[i] ? a[i] : b[i])
LOOP(sum_double, double, a[i] + b[i])
LOOP(max_double, double, a[i] > b[i] ? a[i] : b[i])
LOOP(sum_complex, double _Complex, a[i] + b[i])
LOOP(prod_complex, double _Complex, a[i] * b[i])

struct double_int {
    double value;
    int index;
};

static void maxloc(const void *restrict in, void *restrict inout, long n)
{
    const struct double_int *a = in;
    struct double_int *b = inout;

    for (long i = 0; i < n; i++)
        if (a[i].value > b[i].value || (a[i].value == b[i].value && a[i].index < b[i].index)) {
            b[i].value = a[i].value;
            b[i].index = a[i].index;
        }
}

static uint32_t next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Numbers that can be combined a million times and stay small, so that no step is slower than another: sums add
 * nothing, products multiply with 1. `seed` 0: those of the operand that stays. */
#define FILL(name, T, number) \
    static void name(void *buf, long n, uint32_t seed) \
    { \
        T *const p = buf; \
        uint32_t state = seed + 1; \
\
        for (long i = 0; i < n; i++) { \
            const uint32_t r = next_number(&state); \
            p[i] = (T)(number); \
        } \
    }

FILL(any_int, int, r)
/* Open MPI 4.1 saturates. */
FILL(small_byte, unsigned char, seed ? r % 100 : 0)
FILL(any_long, long, r)
FILL(any_float, float, r % 1000)
FILL(small_float, float, seed ? r % 1000 : 0)
FILL(any_double, double, r % 1000)
FILL(small_double, double, seed ? r % 1000 : 0)
FILL(small_complex, double _Complex, seed ? r % 1000 : 0)
FILL(unit_complex, double _Complex, seed ? r % 1000 + 1.0 * I : 1)

static void any_pair(void *buf, long n, uint32_t seed)
{
    struct double_int *const p = buf;
    uint32_t state = seed + 1;

    for (long i = 0; i < n; i++) {
        p[i].value = next_number(&state) % 1000;
        p[i].index = (int)next_number(&state);
    }
}

struct operation {
    const char *name;
    MPI_Op op;
    MPI_Datatype type;
    int extent;
    loop_fn *loop;
    fill_fn *fill;
};

struct work {
    const struct operation *operation;
    void *in, *inout;
    long n;
};

static void reduce(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        MPI_Reduce_local(w->in, w->inout, (int)w->n, w->operation->type, w->operation->op);
}

static void by_hand(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->operation->loop(w->in, w->inout, w->n);
}

static void measure(const struct bench *b, struct work *w, const char *name, bench_op *op)
{
    const long bytes = w->n * w->operation->extent;
    double value[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, op, w, value);
    char parameter[NAME];

    for (int i = 0; i < batches; i++)
        value[i] = 1e-9 * (double)bytes / value[i];
    snprintf(parameter, sizeof parameter, "%s:%ld", w->operation->name, bytes);
    stats_print(name, parameter, value, batches, "GB/s", BETTER_HIGH);
}

static void check(struct work *w)
{
    const size_t bytes = (size_t)(w->n * w->operation->extent);
    void *const want = bench_buffer((long)bytes);

    memcpy(want, w->inout, bytes);
    reduce(w, 1);
    by_hand(&(struct work){ .operation = w->operation, .in = w->in, .inout = want, .n = w->n }, 1);
    if (memcmp(want, w->inout, bytes) != 0)
        bench_fail("op: %s of %zu bytes differs from the loop", w->operation->name, bytes);
    free(want);
}

static void one_operation(const struct bench *b, const struct operation *operation, long bytes)
{
    struct work w = { .operation = operation, .n = bytes / operation->extent };

    w.in = memset(bench_buffer(bytes), 0, (size_t)bytes);
    w.inout = memset(bench_buffer(bytes), 0, (size_t)bytes);
    operation->fill(w.in, w.n, 0);
    operation->fill(w.inout, w.n, 7);
    check(&w);
    measure(b, &w, "op", reduce);
    measure(b, &w, "op_hand", by_hand);
    free(w.in);
    free(w.inout);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 1e-3, .budget = 0.1, .min_size = 64, .max_size = 16 << 20 };

    bench_start(&b, &argc, &argv, 1);
    const struct operation operations[] = {
        { "sum_int", MPI_SUM, MPI_INT, 4, sum_int, any_int },
        { "max_int", MPI_MAX, MPI_INT, 4, max_int, any_int },
        { "band_int", MPI_BAND, MPI_INT, 4, band_int, any_int },
        { "land_int", MPI_LAND, MPI_INT, 4, land_int, any_int },
        { "sum_byte", MPI_SUM, MPI_UNSIGNED_CHAR, 1, sum_byte, small_byte },
        { "prod_long", MPI_PROD, MPI_LONG, 8, prod_long, any_long },
        { "sum_float", MPI_SUM, MPI_FLOAT, 4, sum_float, small_float },
        { "max_float", MPI_MAX, MPI_FLOAT, 4, max_float, any_float },
        { "sum_double", MPI_SUM, MPI_DOUBLE, 8, sum_double, small_double },
        { "max_double", MPI_MAX, MPI_DOUBLE, 8, max_double, any_double },
        { "sum_complex", MPI_SUM, MPI_C_DOUBLE_COMPLEX, 16, sum_complex, small_complex },
        { "prod_complex", MPI_PROD, MPI_C_DOUBLE_COMPLEX, 16, prod_complex, unit_complex },
        { "maxloc_double_int", MPI_MAXLOC, MPI_DOUBLE_INT, 16, maxloc, any_pair },
    };

    for (long bytes = b.min_size; bytes <= b.max_size; bytes = bench_next_size(&b, bytes, 16))
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
            if (bench_wants(&b, operations[i].name))
                one_operation(&b, &operations[i], bytes);
    MPI_Finalize();
    return 0;
}
