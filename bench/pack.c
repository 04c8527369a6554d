/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: how fast MPI_Pack and MPI_Unpack move derived types, in GB/s of packed data, beside loops written by hand
 * for the same layout. One rank. Names: pack, unpack, pack_hand, unpack_hand; parameter layout:bytes. What is packed is
 * checked against the loop. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NAME = 64 };

/* n: doubles in the message; data lie in `data`, packed in `packed`. */
typedef void loop_fn(double *data, double *packed, long n, const int *index);

struct record {
    int key;
    double value;
};

#define STRIDED(name, block, stride) \
    static void name##_out(double *data, double *packed, long n, const int *index) \
    { \
        (void)index; \
        for (long i = 0; i < n / (block); i++) \
            for (int k = 0; k < (block); k++) \
                packed[i * (block) + k] = data[i * (stride) + k]; \
    } \
    static void name##_in(double *data, double *packed, long n, const int *index) \
    { \
        (void)index; \
        for (long i = 0; i < n / (block); i++) \
            for (int k = 0; k < (block); k++) \
                data[i * (stride) + k] = packed[i * (block) + k]; \
    }
STRIDED(vector1, 1, 2)
STRIDED(vector2, 2, 4)
STRIDED(vector8, 8, 16)
STRIDED(apart, 1, 64)

static void indexed_out(double *data, double *packed, long n, const int *index)
{
    for (long i = 0; i < n; i++)
        packed[i] = data[index[i]];
}

static void indexed_in(double *data, double *packed, long n, const int *index)
{
    for (long i = 0; i < n; i++)
        data[index[i]] = packed[i];
}

static void records_out(double *data, double *packed, long n, const int *index)
{
    const struct record *const record = (const void *)data;
    char *out = (char *)packed;

    (void)index;
    for (long i = 0; i < n * 8 / 12; i++, out += 12) {
        memcpy(out, &record[i].key, 4);
        memcpy(out + 4, &record[i].value, 8);
    }
}

static void records_in(double *data, double *packed, long n, const int *index)
{
    struct record *const record = (void *)data;
    const char *in = (const char *)packed;

    (void)index;
    for (long i = 0; i < n * 8 / 12; i++, in += 12) {
        memcpy(&record[i].key, in, 4);
        memcpy(&record[i].value, in + 4, 8);
    }
}

/* The face of a cube of side^3 doubles with side^2 of them; side as large as n allows. */
static long side_of(long n)
{
    long side = 1;

    while ((side + 1) * (side + 1) <= n)
        side++;
    return side;
}

/* Faces of [side][side][8]: last index fixed, middle index fixed in runs of 8. */
static void face_z_out(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[(i * side + j) * 8 + 3];
}

static void face_z_in(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[(i * side + j) * 8 + 3] = packed[i * side + j];
}

/* [side][4][side]: the middle index fixed. */
static void face_y_out(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[(i * 4 + 1) * side + j];
}

static void face_y_in(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[(i * 4 + 1) * side + j] = packed[i * side + j];
}

static void transpose_out(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[j * side + i];
}

static void transpose_in(double *data, double *packed, long n, const int *index)
{
    const long side = side_of(n);

    (void)index;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[j * side + i] = packed[i * side + j];
}

/* [n / 8][2][8]: of each pair of rows the first half of the first. */
static void nested_out(double *data, double *packed, long n, const int *index)
{
    (void)index;
    for (long i = 0; i < n / 8; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                packed[i * 8 + j * 4 + k] = data[i * 32 + j * 8 + k];
}

static void nested_in(double *data, double *packed, long n, const int *index)
{
    (void)index;
    for (long i = 0; i < n / 8; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                data[i * 32 + j * 8 + k] = packed[i * 8 + j * 4 + k];
}

/* --- the same as datatypes: one item is the whole message --- */

typedef MPI_Datatype type_fn(long n, const int *index);

static MPI_Datatype vector1_type(long n, const int *index)
{
    MPI_Datatype type;

    (void)index;
    MPI_Type_vector((int)n, 1, 2, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype vector2_type(long n, const int *index)
{
    MPI_Datatype type;

    (void)index;
    MPI_Type_vector((int)n / 2, 2, 4, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype vector8_type(long n, const int *index)
{
    MPI_Datatype type;

    (void)index;
    MPI_Type_vector((int)n / 8, 8, 16, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype apart_type(long n, const int *index)
{
    MPI_Datatype type;

    (void)index;
    MPI_Type_vector((int)n, 1, 64, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype indexed_type(long n, const int *index)
{
    MPI_Datatype type;

    MPI_Type_create_indexed_block((int)n, 1, index, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype records_type(long n, const int *index)
{
    const int lengths[] = { 1, 1 };
    const MPI_Aint disps[] = { 0, offsetof(struct record, value) };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    MPI_Datatype record, type;

    (void)index;
    MPI_Type_create_struct(2, lengths, disps, types, &record);
    MPI_Type_contiguous((int)(n * 8 / 12), record, &type);
    MPI_Type_free(&record);
    return type;
}

static MPI_Datatype face_z_type(long n, const int *index)
{
    const int side = (int)side_of(n), sizes[] = { side, side, 8 }, subsizes[] = { side, side, 1 };
    const int starts[] = { 0, 0, 3 };
    MPI_Datatype type;

    (void)index;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype face_y_type(long n, const int *index)
{
    const int side = (int)side_of(n), sizes[] = { side, 4, side }, subsizes[] = { side, 1, side };
    const int starts[] = { 0, 1, 0 };
    MPI_Datatype type;

    (void)index;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype transpose_type(long n, const int *index)
{
    const int side = (int)side_of(n);
    MPI_Datatype column, type;

    (void)index;
    MPI_Type_vector(side, 1, side, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(side, 1, 8, column, &type);
    MPI_Type_free(&column);
    return type;
}

static MPI_Datatype nested_type(long n, const int *index)
{
    MPI_Datatype rows, type;

    (void)index;
    MPI_Type_vector(2, 4, 8, MPI_DOUBLE, &rows);
    MPI_Type_create_hvector((int)(n / 8), 1, 32 * 8, rows, &type);
    MPI_Type_free(&rows);
    return type;
}

static const struct layout {
    const char *name;
    type_fn *type;
    loop_fn *out, *in;
    int spread; /* memory that the data lie in, as a multiple of the data */
} layouts[] = {
    { "vector_1_2", vector1_type, vector1_out, vector1_in, 2 },
    { "vector_2_4", vector2_type, vector2_out, vector2_in, 2 },
    { "vector_8_16", vector8_type, vector8_out, vector8_in, 2 },
    { "vector_1_64", apart_type, apart_out, apart_in, 64 },
    { "indexed_block", indexed_type, indexed_out, indexed_in, 4 },
    { "records", records_type, records_out, records_in, 2 },
    { "face_y", face_y_type, face_y_out, face_y_in, 4 },
    { "face_z", face_z_type, face_z_out, face_z_in, 8 },
    { "nested", nested_type, nested_out, nested_in, 4 },
    { "transpose", transpose_type, transpose_out, transpose_in, 1 },
};

struct work {
    const struct layout *layout;
    MPI_Datatype type;
    double *data, *packed;
    long n;
    int size; /* bytes packed */
    int *index;
};

static void pack(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        int at = 0;
        MPI_Pack(w->data, 1, w->type, w->packed, w->size, &at, MPI_COMM_WORLD);
    }
}

static void unpack(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        int at = 0;
        MPI_Unpack(w->packed, w->size, &at, w->data, 1, w->type, MPI_COMM_WORLD);
    }
}

static void by_hand_out(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->layout->out(w->data, w->packed, w->n, w->index);
}

static void by_hand_in(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->layout->in(w->data, w->packed, w->n, w->index);
}

static void measure(const struct bench *b, struct work *w, const char *name, bench_op *op)
{
    double value[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, op, w, value);
    char parameter[NAME];

    for (int i = 0; i < batches; i++)
        value[i] = 1e-9 * w->size / value[i];
    snprintf(parameter, sizeof parameter, "%s:%d", w->layout->name, w->size);
    stats_print(name, parameter, value, batches, "GB/s", BETTER_HIGH);
}

/* The type must give what the loop gives. */
static void check(struct work *w)
{
    double *const want = bench_buffer(w->size);

    pack(w, 1);
    w->layout->out(w->data, want, w->n, w->index);
    if (memcmp(want, w->packed, (size_t)w->size) != 0)
        bench_fail("pack: %s of %d bytes differs from the loop", w->layout->name, w->size);
    free(want);
}

/* Every fourth double on average, in order. */
static void fill_index(int *index, long n)
{
    uint32_t state = 1;

    for (long i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        index[i] = (int)(4 * i + (state >> 30));
    }
}

static void one_layout(const struct bench *b, const struct layout *layout, long bytes)
{
    struct work w = { .layout = layout, .n = bytes / 8 };
    const long memory = (bytes + 64) * layout->spread + 4096;

    w.data = bench_buffer(memory);
    w.packed = bench_buffer(bytes);
    w.index = bench_buffer(w.n * (long)sizeof *w.index);
    fill_index(w.index, w.n);
    for (long i = 0; i < memory / 8; i++)
        w.data[i] = (double)i;
    w.type = layout->type(w.n, w.index);
    MPI_Type_commit(&w.type);
    MPI_Type_size(w.type, &w.size);
    check(&w);
    measure(b, &w, "pack", pack);
    measure(b, &w, "pack_hand", by_hand_out);
    measure(b, &w, "unpack", unpack);
    measure(b, &w, "unpack_hand", by_hand_in);
    MPI_Type_free(&w.type);
    free(w.data);
    free(w.packed);
    free(w.index);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 1e-3, .budget = 0.1, .min_size = 512, .max_size = 4 << 20 };

    bench_start(&b, &argc, &argv, 1);
    for (long bytes = b.min_size; bytes <= b.max_size; bytes = bench_next_size(&b, bytes, 8))
        for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
            one_layout(&b, &layouts[i], bytes);
    MPI_Finalize();
    return 0;
}
