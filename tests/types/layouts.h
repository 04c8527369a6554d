/* SPDX-License-Identifier: BSD-3-Clause */
/* A catalogue of derived types, each with its type map written down by hand: pieces of one basic type at
 * displacements. For programs that move data and compare with a walk over the map. */
#ifndef TESTS_TYPES_LAYOUTS_H
#define TESTS_TYPES_LAYOUTS_H

#include "mpitest.h"

enum { PIECES = 64 };

struct piece {
    MPI_Aint disp;
    MPI_Datatype basic;
    int size; /* bytes */
};

struct layout {
    const char *name;
    MPI_Datatype type;
    int count;
    struct piece pieces[PIECES];
    MPI_Aint low, high; /* of the data */
    MPI_Aint extent;
    int size;
};

static inline void layout_add(struct layout *l, MPI_Aint disp, MPI_Datatype basic, int size)
{
    l->pieces[l->count++] = (struct piece){ disp, basic, size };
    l->low = l->count == 1 || disp < l->low ? disp : l->low;
    l->high = l->count == 1 || disp + size > l->high ? disp + size : l->high;
    l->size += size;
}

static inline void layout_ints(struct layout *l, MPI_Aint disp, int n)
{
    int i;

    for (i = 0; i < n; i++)
        layout_add(l, disp + 4 * i, MPI_INT, 4);
}

static inline void make_contiguous(struct layout *l)
{
    l->name = "contiguous";
    CHECK_OK(MPI_Type_contiguous(5, MPI_INT, &l->type));
    layout_ints(l, 0, 5);
    l->extent = 20;
}

static inline void make_vector(struct layout *l)
{
    int i;

    l->name = "vector";
    CHECK_OK(MPI_Type_vector(4, 2, 3, MPI_INT, &l->type));
    for (i = 0; i < 4; i++)
        layout_ints(l, 12 * i, 2);
    l->extent = 44;
}

static inline void make_backwards(struct layout *l)
{
    int i;

    l->name = "hvector backwards";
    CHECK_OK(MPI_Type_create_hvector(3, 2, -16, MPI_INT, &l->type));
    for (i = 0; i < 3; i++)
        layout_ints(l, -16 * i, 2);
    l->extent = 40;
}

static inline void make_indexed(struct layout *l)
{
    static const int lengths[] = { 3, 0, 1, 2, 5 }, disps[] = { 4, 9, 0, 12, 20 };
    int i;

    l->name = "indexed";
    CHECK_OK(MPI_Type_indexed(5, lengths, disps, MPI_INT, &l->type));
    for (i = 0; i < 5; i++)
        layout_ints(l, 4 * disps[i], lengths[i]);
    l->extent = 100;
}

static inline void make_hindexed_block(struct layout *l)
{
    static const MPI_Aint disps[] = { 24, -8, 64, 8 };
    int i;

    l->name = "hindexed_block";
    CHECK_OK(MPI_Type_create_hindexed_block(4, 2, disps, MPI_INT, &l->type));
    for (i = 0; i < 4; i++)
        layout_ints(l, disps[i], 2);
    l->extent = 80;
}

static inline void make_struct(struct layout *l)
{
    static const int lengths[] = { 1, 2, 3 };
    static const MPI_Aint disps[] = { 0, 8, 24 };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_SHORT };

    l->name = "struct";
    CHECK_OK(MPI_Type_create_struct(3, lengths, disps, types, &l->type));
    layout_ints(l, 0, 1);
    layout_add(l, 8, MPI_DOUBLE, 8);
    layout_add(l, 16, MPI_DOUBLE, 8);
    layout_add(l, 24, MPI_SHORT, 2);
    layout_add(l, 26, MPI_SHORT, 2);
    layout_add(l, 28, MPI_SHORT, 2);
    l->extent = 32;
}

static inline void make_subarray(struct layout *l)
{
    static const int sizes[] = { 4, 5, 6 }, subsizes[] = { 2, 3, 2 }, starts[] = { 1, 2, 3 };
    int i, j, k;

    l->name = "subarray";
    CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &l->type));
    for (i = 1; i < 3; i++)
        for (j = 2; j < 5; j++)
            for (k = 3; k < 5; k++)
                layout_add(l, 8 * ((i * 5 + j) * 6 + k), MPI_DOUBLE, 8);
    l->extent = 8 * 4 * 5 * 6;
}

/* A column of a 4 by 3 matrix whose items lie between each other. */
static inline void make_column(struct layout *l)
{
    MPI_Datatype column;
    int i;

    l->name = "resized column";
    CHECK_OK(MPI_Type_vector(4, 1, 300, MPI_INT, &column));
    CHECK_OK(MPI_Type_create_resized(column, 0, 4, &l->type));
    CHECK_OK(MPI_Type_free(&column));
    for (i = 0; i < 4; i++)
        layout_ints(l, 1200 * i, 1);
    l->extent = 4;
}

static inline void make_nested(struct layout *l)
{
    MPI_Datatype inner;
    int i, j;

    l->name = "hvector of struct";
    {
        static const int lengths[] = { 1, 1 };
        static const MPI_Aint disps[] = { 0, 8 };
        const MPI_Datatype types[] = { MPI_SHORT, MPI_DOUBLE };
        CHECK_OK(MPI_Type_create_struct(2, lengths, disps, types, &inner));
    }
    CHECK_OK(MPI_Type_create_hvector(3, 2, 56, inner, &l->type));
    CHECK_OK(MPI_Type_free(&inner));
    for (i = 0; i < 3; i++)
        for (j = 0; j < 2; j++) {
            layout_add(l, 56 * i + 16 * j, MPI_SHORT, 2);
            layout_add(l, 56 * i + 16 * j + 8, MPI_DOUBLE, 8);
        }
    l->extent = 144;
}

/* One run of bytes that neither begins at the item nor fills it. */
static inline void make_run(struct layout *l)
{
    MPI_Datatype run;
    const int length = 6, disp = 2;

    l->name = "one run";
    CHECK_OK(MPI_Type_indexed(1, &length, &disp, MPI_INT, &run));
    CHECK_OK(MPI_Type_create_resized(run, 0, 48, &l->type));
    CHECK_OK(MPI_Type_free(&run));
    layout_ints(l, 8, 6);
    l->extent = 48;
}

static inline void make_pair(struct layout *l)
{
    l->name = "pairs of double and int";
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE_INT, &l->type));
    layout_add(l, 0, MPI_DOUBLE, 8);
    layout_add(l, 8, MPI_INT, 4);
    layout_add(l, 32, MPI_DOUBLE, 8);
    layout_add(l, 40, MPI_INT, 4);
    l->extent = 48;
}

static inline void make_nothing(struct layout *l)
{
    l->name = "nothing";
    CHECK_OK(MPI_Type_vector(3, 0, 4, MPI_INT, &l->type));
    l->extent = 0;
}

typedef void make_layout_fn(struct layout *l);

static make_layout_fn *const layouts[] = { make_contiguous, make_vector, make_backwards, make_indexed,
                                           make_hindexed_block, make_struct, make_subarray, make_column,
                                           make_nested, make_run, make_pair, make_nothing };

enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static inline struct layout layout_make(int i)
{
    struct layout l;

    memset(&l, 0, sizeof l);
    layouts[i](&l);
    CHECK_OK(MPI_Type_commit(&l.type));
    return l;
}

/* The same elements in the same order elsewhere: the last one first in memory, 16 bytes apart. */
static inline MPI_Datatype layout_other(const struct layout *l)
{
    MPI_Datatype types[PIECES], flat, type;
    MPI_Aint disps[PIECES];
    int lengths[PIECES], i;

    for (i = 0; i < l->count; i++) {
        types[i] = l->pieces[i].basic;
        lengths[i] = 1;
        disps[i] = 16 * (l->count - 1 - i);
    }
    CHECK_OK(MPI_Type_create_struct(l->count, lengths, disps, types, &flat));
    CHECK_OK(MPI_Type_create_resized(flat, 0, 16 * l->count, &type));
    CHECK_OK(MPI_Type_free(&flat));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* A buffer for `count` items; `memory` is where it begins, `buf` the address to pass to MPI. */
struct buffer {
    unsigned char *memory, *buf;
    size_t len;
};

static inline struct buffer buffer_make(MPI_Aint low, MPI_Aint high, MPI_Aint extent, int count)
{
    const MPI_Aint reach = count > 0 ? (count - 1) * extent : 0;
    struct buffer b;

    b.len = (size_t)(high - low + (reach < 0 ? -reach : reach)) + 64;
    b.memory = test_alloc(b.len);
    b.buf = b.memory + 32 - low - (reach < 0 ? reach : 0);
    return b;
}

/* The packed stream: piece after piece. */
static inline void layout_stream(const struct layout *l, const unsigned char *buf, int count, unsigned char *out)
{
    int item, i;

    for (item = 0; item < count; item++)
        for (i = 0; i < l->count; i++) {
            memcpy(out, buf + item * l->extent + l->pieces[i].disp, (size_t)l->pieces[i].size);
            out += l->pieces[i].size;
        }
}

/* The pieces of the stream's first `len` bytes to their places. */
static inline void layout_place(const struct layout *l, unsigned char *buf, size_t len, const unsigned char *in)
{
    size_t done = 0, n;
    int item, i;

    for (item = 0; done < len; item++)
        for (i = 0; i < l->count && done < len; i++, done += n) {
            n = len - done < (size_t)l->pieces[i].size ? len - done : (size_t)l->pieces[i].size;
            memcpy(buf + item * l->extent + l->pieces[i].disp, in + done, n);
        }
}

/* Memory must be what is expected, byte for byte, gaps too. */
#define CHECK_SAME(got, want, len, l) \
    do { \
        size_t same_; \
        for (same_ = 0; same_ < (len); same_++) \
            CHECK((got)[same_] == (want)[same_], "%s: byte %zu: expected 0x%02x, got 0x%02x", (l)->name, same_, \
                  (want)[same_], (got)[same_]); \
    } while (0)

#endif
