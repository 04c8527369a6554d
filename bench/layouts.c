/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: layouts of derived types. See layouts.h. */
#include "layouts.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"


struct record {
    int key;
    double value;
};

#define STRIDED(name, block, stride) \
    static void name##_out(double *data, double *packed, long n, const struct places *places) \
    { \
        (void)places; \
        for (long i = 0; i < n / (block); i++) \
            for (int k = 0; k < (block); k++) \
                packed[i * (block) + k] = data[i * (stride) + k]; \
    } \
    static void name##_in(double *data, double *packed, long n, const struct places *places) \
    { \
        (void)places; \
        for (long i = 0; i < n / (block); i++) \
            for (int k = 0; k < (block); k++) \
                data[i * (stride) + k] = packed[i * (block) + k]; \
    }
STRIDED(vector1, 1, 2)
STRIDED(vector2, 2, 4)
STRIDED(vector8, 8, 16)
STRIDED(apart, 1, 64)

static void indexed_out(double *data, double *packed, long n, const struct places *places)
{
    for (long i = 0; i < n; i++)
        packed[i] = data[places->single[i]];
}

static void indexed_in(double *data, double *packed, long n, const struct places *places)
{
    for (long i = 0; i < n; i++)
        data[places->single[i]] = packed[i];
}

/* Blocks of 1 to 4 doubles. */
static void blocks_out(double *data, double *packed, long n, const struct places *places)
{
    (void)n;
    for (int i = 0; i < places->blocks; i++)
        for (int k = 0; k < places->lengths[i]; k++)
            *packed++ = data[places->begins[i] + k];
}

static void blocks_in(double *data, double *packed, long n, const struct places *places)
{
    (void)n;
    for (int i = 0; i < places->blocks; i++)
        for (int k = 0; k < places->lengths[i]; k++)
            data[places->begins[i] + k] = *packed++;
}

/* An array of keys, one of places, one of speeds, each with room for twice as many as the message has. */
static long elements_of(long n)
{
    return n * 8 / 20;
}

static void arrays_out(double *data, double *packed, long n, const struct places *places)
{
    const long m = elements_of(n);
    const char *const from = (const char *)data;
    char *const to = (char *)packed;

    (void)places;
    memcpy(to, from, (size_t)(4 * m));
    memcpy(to + 4 * m, from + 8 * m, (size_t)(8 * m));
    memcpy(to + 12 * m, from + 24 * m, (size_t)(8 * m));
}

static void arrays_in(double *data, double *packed, long n, const struct places *places)
{
    const long m = elements_of(n);
    const char *const from = (const char *)packed;
    char *const to = (char *)data;

    (void)places;
    memcpy(to, from, (size_t)(4 * m));
    memcpy(to + 8 * m, from + 4 * m, (size_t)(8 * m));
    memcpy(to + 24 * m, from + 12 * m, (size_t)(8 * m));
}

static void records_out(double *data, double *packed, long n, const struct places *places)
{
    const struct record *const record = (const void *)data;
    char *out = (char *)packed;

    (void)places;
    for (long i = 0; i < n * 8 / 12; i++, out += 12) {
        memcpy(out, &record[i].key, 4);
        memcpy(out + 4, &record[i].value, 8);
    }
}

static void records_in(double *data, double *packed, long n, const struct places *places)
{
    struct record *const record = (void *)data;
    const char *in = (const char *)packed;

    (void)places;
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
static void face_z_out(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[(i * side + j) * 8 + 3];
}

static void face_z_in(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[(i * side + j) * 8 + 3] = packed[i * side + j];
}

/* [side][4][side]: the middle index fixed. */
static void face_y_out(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[(i * 4 + 1) * side + j];
}

static void face_y_in(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[(i * 4 + 1) * side + j] = packed[i * side + j];
}

/* [4][side][side]: the first index fixed, one run. */
static void face_x_out(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side * side; i++)
        packed[i] = data[side * side + i];
}

static void face_x_in(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side * side; i++)
        data[side * side + i] = packed[i];
}

static void transpose_out(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            packed[i * side + j] = data[j * side + i];
}

static void transpose_in(double *data, double *packed, long n, const struct places *places)
{
    const long side = side_of(n);

    (void)places;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            data[j * side + i] = packed[i * side + j];
}

/* [n / 8][2][8]: of each pair of rows the first half of the first. */
static void nested_out(double *data, double *packed, long n, const struct places *places)
{
    (void)places;
    for (long i = 0; i < n / 8; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                packed[i * 8 + j * 4 + k] = data[i * 32 + j * 8 + k];
}

static void nested_in(double *data, double *packed, long n, const struct places *places)
{
    (void)places;
    for (long i = 0; i < n / 8; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                data[i * 32 + j * 8 + k] = packed[i * 8 + j * 4 + k];
}

/* --- the same as datatypes --- */

static MPI_Datatype vector1_type(long n, const struct places *places)
{
    MPI_Datatype type;

    (void)places;
    MPI_Type_vector((int)n, 1, 2, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype vector2_type(long n, const struct places *places)
{
    MPI_Datatype type;

    (void)places;
    MPI_Type_vector((int)n / 2, 2, 4, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype vector8_type(long n, const struct places *places)
{
    MPI_Datatype type;

    (void)places;
    MPI_Type_vector((int)n / 8, 8, 16, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype apart_type(long n, const struct places *places)
{
    MPI_Datatype type;

    (void)places;
    MPI_Type_vector((int)n, 1, 64, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype indexed_type(long n, const struct places *places)
{
    MPI_Datatype type;

    MPI_Type_create_indexed_block((int)n, 1, places->single, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype blocks_type(long n, const struct places *places)
{
    MPI_Datatype type;

    (void)n;
    MPI_Type_indexed(places->blocks, places->lengths, places->begins, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype arrays_type(long n, const struct places *places)
{
    const int m = (int)elements_of(n), lengths[] = { m, m, m };
    const MPI_Aint disps[] = { 0, 8 * m, 24 * m };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_DOUBLE };
    MPI_Datatype type;

    (void)places;
    MPI_Type_create_struct(3, lengths, disps, types, &type);
    return type;
}

static MPI_Datatype records_type(long n, const struct places *places)
{
    const int lengths[] = { 1, 1 };
    const MPI_Aint disps[] = { 0, offsetof(struct record, value) };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    MPI_Datatype record, type;

    (void)places;
    MPI_Type_create_struct(2, lengths, disps, types, &record);
    MPI_Type_contiguous((int)(n * 8 / 12), record, &type);
    MPI_Type_free(&record);
    return type;
}

static MPI_Datatype face_x_type(long n, const struct places *places)
{
    const int side = (int)side_of(n), sizes[] = { 4, side, side }, subsizes[] = { 1, side, side };
    const int starts[] = { 1, 0, 0 };
    MPI_Datatype type;

    (void)places;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype face_z_type(long n, const struct places *places)
{
    const int side = (int)side_of(n), sizes[] = { side, side, 8 }, subsizes[] = { side, side, 1 };
    const int starts[] = { 0, 0, 3 };
    MPI_Datatype type;

    (void)places;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype face_y_type(long n, const struct places *places)
{
    const int side = (int)side_of(n), sizes[] = { side, 4, side }, subsizes[] = { side, 1, side };
    const int starts[] = { 0, 1, 0 };
    MPI_Datatype type;

    (void)places;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype transpose_type(long n, const struct places *places)
{
    const int side = (int)side_of(n);
    MPI_Datatype column, type;

    (void)places;
    MPI_Type_vector(side, 1, side, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(side, 1, 8, column, &type);
    MPI_Type_free(&column);
    return type;
}

static MPI_Datatype nested_type(long n, const struct places *places)
{
    MPI_Datatype rows, type;

    (void)places;
    MPI_Type_vector(2, 4, 8, MPI_DOUBLE, &rows);
    MPI_Type_create_hvector((int)(n / 8), 1, 32 * 8, rows, &type);
    MPI_Type_free(&rows);
    return type;
}

const struct layout layouts_all[] = {
    { "vector_1_2", vector1_type, vector1_out, vector1_in, 2 },
    { "vector_2_4", vector2_type, vector2_out, vector2_in, 2 },
    { "vector_8_16", vector8_type, vector8_out, vector8_in, 2 },
    { "vector_1_64", apart_type, apart_out, apart_in, 64 },
    { "indexed", blocks_type, blocks_out, blocks_in, 4 },
    { "indexed_block", indexed_type, indexed_out, indexed_in, 4 },
    { "records", records_type, records_out, records_in, 2 },
    { "arrays", arrays_type, arrays_out, arrays_in, 2 },
    { "face_x", face_x_type, face_x_out, face_x_in, 4 },
    { "face_y", face_y_type, face_y_out, face_y_in, 4 },
    { "face_z", face_z_type, face_z_out, face_z_in, 8 },
    { "nested", nested_type, nested_out, nested_in, 4 },
    { "transpose", transpose_type, transpose_out, transpose_in, 1 },
};
const int layouts_count = sizeof layouts_all / sizeof layouts_all[0];

/* Every fourth double on average, in order; blocks of 1 to 4 with such gaps that the whole is as wide. */
static void choose_places(struct places *places, long n)
{
    uint32_t state = 1;
    int at = 0;

    for (long i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        places->single[i] = (int)(4 * i + (state >> 30));
    }
    places->blocks = 0;
    for (long left = n; left > 0; left -= places->lengths[places->blocks++]) {
        state = state * 1664525u + 1013904223u;
        const int length = 1 + (int)(state >> 30), gap = 1 + (int)(state >> 28 & 3);
        places->lengths[places->blocks] = length < left ? length : (int)left;
        places->begins[places->blocks] = at;
        at += length + gap;
    }
}

void laid_start(struct laid *laid, const struct layout *layout, long bytes)
{
    const long ints = bytes / 8 * (long)sizeof(int);

    *laid = (struct laid){ .layout = layout, .n = bytes / 8, .memory = (bytes + 64) * layout->spread + 4096 };
    laid->places.single = bench_buffer(ints);
    laid->places.begins = bench_buffer(ints);
    laid->places.lengths = bench_buffer(ints);
    choose_places(&laid->places, laid->n);
    laid->type = layout->type(laid->n, &laid->places);
    MPI_Type_commit(&laid->type);
    MPI_Type_size(laid->type, &laid->size);
}

void laid_end(struct laid *laid)
{
    MPI_Type_free(&laid->type);
    free(laid->places.single);
    free(laid->places.begins);
    free(laid->places.lengths);
}

long layouts_next_size(long bytes, long max_size)
{
    return bytes < max_size && 8 * bytes > max_size ? max_size : 8 * bytes;
}
