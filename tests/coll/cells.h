/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model test moves and combines: cells, each of one to three basic values, in layouts whose bytes are listed
 * here by hand. Contents follow from a key, so every process knows what every other one has. Knows nothing of calls. */
#ifndef TESTS_COLL_CELLS_H
#define TESTS_COLL_CELLS_H

#include "mpitest.h"

#include <stdbool.h>

enum { CELL_BYTES = 16, CELL_PARTS = 3, ITEM_CELLS = 2, CHAIN_PRIME = 65521 };
enum kind { BYTES, INTS, DOUBLES, PAIRS, RECORDS, PLACES, KINDS };

/* A cell of its kind in natural order, `span` bytes: its basic values and where they stand. */
struct cell_kind {
    const char *name;
    int span, parts, at[CELL_PARTS], size[CELL_PARTS];
};

static const struct cell_kind cell_kinds[KINDS] = {
    { "bytes", 1, 1, { 0 }, { 1 } },
    { "ints", 4, 1, { 0 }, { 4 } },
    { "doubles", 8, 1, { 0 }, { 8 } },
    { "pairs of ints", 8, 2, { 0, 4 }, { 4, 4 } },
    { "records", 16, 3, { 0, 8, 12 }, { 8, 4, 1 } },
    { "places", 16, 2, { 0, 8 }, { 8, 4 } }, /* MPI_DOUBLE_INT */
};

static inline MPI_Datatype cell_part_type(enum kind kind, int part)
{
    switch (kind) {
    case BYTES: return MPI_BYTE;
    case INTS:
    case PAIRS: return MPI_INT;
    case DOUBLES: return MPI_DOUBLE;
    default: return part == 0 ? MPI_DOUBLE : part == 1 ? MPI_INT : MPI_CHAR;
    }
}

/* The cell of a key. Numbers are whole and small enough that sums of 64 are exact; places meet often. */
static inline void cell_make(enum kind kind, uint64_t key, unsigned char *cell)
{
    const uint64_t random = test_mix(key);
    const int small = (int)(random >> 39) - (1 << 24), other = (int)(random & 0xFFFFFF);
    const double number = kind == PLACES ? (double)(random >> 62) : small;
    const int pair[2] = { 1 + small % 1000 + 1000, other % CHAIN_PRIME };

    memset(cell, 0, CELL_BYTES);
    switch (kind) {
    case BYTES: cell[0] = (unsigned char)random; break;
    case INTS: memcpy(cell, &small, 4); break;
    case DOUBLES: memcpy(cell, &number, 8); break;
    case PAIRS: memcpy(cell, pair, 8); break;
    default:
        memcpy(cell, &number, 8);
        memcpy(cell + 8, &other, 4);
        cell[12] = kind == RECORDS ? (unsigned char)random : 0;
        break;
    }
}

/* ---- combining ------------------------------------------------------------------------------------------- */

enum fold { ADD, LEAST, MOST_OF, FLIP, FIRST_LEAST, FIRST_MOST, ADD_DOUBLES, USER_ADD, CHAIN, CHAIN_LARGE, FOLDS };

struct fold_row {
    const char *name;
    enum kind kind;
    bool is_users; /* takes every layout; the predefined ones only basic types and MPI_DOUBLE_INT */
};

static const struct fold_row folds[FOLDS] = {
    { "MPI_SUM", INTS, false },        { "MPI_MIN", INTS, false },
    { "MPI_MAX", INTS, false },        { "MPI_BXOR", INTS, false },
    { "MPI_MINLOC", PLACES, false },   { "MPI_MAXLOC", PLACES, false },
    { "MPI_SUM", DOUBLES, false },     { "user's sum", INTS, true },
    { "user's chain", PAIRS, true }, /* does not commute */
    { "user's chain with large counts", PAIRS, true },
};

static MPI_Op fold_ops[FOLDS];

static inline int cell_int(const unsigned char *cell, int at)
{
    int value;

    memcpy(&value, cell + at, 4);
    return value;
}

static inline void fold_ints(enum fold fold, const unsigned char *in, unsigned char *inout)
{
    const int a = cell_int(in, 0), b = cell_int(inout, 0);
    const int value = fold == LEAST     ? (a < b ? a : b)
                      : fold == MOST_OF ? (a > b ? a : b)
                      : fold == FLIP    ? a ^ b
                                        : (int)((unsigned)a + (unsigned)b);

    memcpy(inout, &value, 4);
}

/* Affine maps x -> p x + q, one after the other. */
static inline void fold_chain(const unsigned char *in, unsigned char *inout)
{
    const long long p = cell_int(in, 0), q = cell_int(in, 4), r = cell_int(inout, 0), s = cell_int(inout, 4);
    const int value[2] = { (int)(p * r % CHAIN_PRIME), (int)((r * q + s) % CHAIN_PRIME) };

    memcpy(inout, value, 8);
}

/* Equal values: the lower index (MPI 5.0 §6.9.4). */
static inline void fold_place(enum fold fold, const unsigned char *in, unsigned char *inout)
{
    const int i = cell_int(in, 8), j = cell_int(inout, 8);
    double a, b;

    memcpy(&a, in, 8);
    memcpy(&b, inout, 8);
    if (fold == FIRST_LEAST ? a < b : a > b)
        memcpy(inout, in, CELL_BYTES);
    else if (a <= b && a >= b && i < j)
        memcpy(inout + 8, &i, 4);
}

/* inout = in fold inout */
static inline void cell_fold(enum fold fold, const unsigned char *in, unsigned char *inout)
{
    double a, b;

    switch (fold) {
    case FIRST_LEAST:
    case FIRST_MOST: fold_place(fold, in, inout); break;
    case CHAIN:
    case CHAIN_LARGE: fold_chain(in, inout); break;
    case ADD_DOUBLES:
        memcpy(&a, in, 8);
        memcpy(&b, inout, 8);
        b += a;
        memcpy(inout, &b, 8);
        break;
    default: fold_ints(fold, in, inout); break;
    }
}

/* ---- layouts --------------------------------------------------------------------------------------------- */

enum { PLAIN, TWO, GAPS, BACKWARD, BELOW, CORNER, LAYOUTS };

/* An item: where the parts of its cells lie, in bytes from its address; all within lo .. hi. */
struct layout {
    const char *name;
    enum kind kind;
    int cells;
    MPI_Datatype type;
    bool is_own; /* to be freed */
    MPI_Aint extent, lo, hi;
    MPI_Aint at[ITEM_CELLS][CELL_PARTS];
};

static struct layout layouts[KINDS][LAYOUTS];

/* Cells at these places, each in natural order. */
static inline void layout_place(struct layout *l, int cells, MPI_Aint first, MPI_Aint second)
{
    const struct cell_kind *k = &cell_kinds[l->kind];
    int part;

    l->cells = cells;
    for (part = 0; part < k->parts; part++) {
        l->at[0][part] = first * k->span + k->at[part];
        l->at[1][part] = second * k->span + k->at[part];
    }
}

static inline void layout_finish(struct layout *l, const char *name, MPI_Aint extent)
{
    const struct cell_kind *k = &cell_kinds[l->kind];
    MPI_Aint lb, came;
    int cell, part;

    l->name = name;
    l->extent = extent;
    l->lo = l->hi = 0;
    for (cell = 0; cell < l->cells; cell++)
        for (part = 0; part < k->parts; part++) {
            const MPI_Aint at = l->at[cell][part], end = at + k->size[part];

            l->lo = at < l->lo ? at : l->lo;
            l->hi = end > l->hi ? end : l->hi;
        }
    CHECK_OK(MPI_Type_commit(&l->type));
    CHECK_OK(MPI_Type_get_extent(l->type, &lb, &came));
    CHECK(came == extent, "%s of %s: extent %ld, expected %ld", name, k->name, (long)came, (long)extent);
}

static inline void layout_resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *new)
{
    CHECK_OK(MPI_Type_create_resized(old, lb, extent, new));
    CHECK_OK(MPI_Type_free(&old));
}

/* A struct of the parts of one cell at these places. */
static inline MPI_Datatype layout_struct(enum kind kind, const MPI_Aint *at)
{
    const int ones[CELL_PARTS] = { 1, 1, 1 };
    MPI_Datatype types[CELL_PARTS], made;
    int part;

    for (part = 0; part < cell_kinds[kind].parts; part++)
        types[part] = cell_part_type(kind, part);
    CHECK_OK(MPI_Type_create_struct(cell_kinds[kind].parts, ones, at, types, &made));
    return made;
}

static inline void layout_plain(struct layout *l)
{
    const struct cell_kind *k = &cell_kinds[l->kind];

    layout_place(l, 1, 0, 0);
    if (l->kind == PLACES)
        l->type = MPI_DOUBLE_INT;
    else if (k->parts == 1)
        l->type = cell_part_type(l->kind, 0);
    else
        layout_resized(layout_struct(l->kind, l->at[0]), 0, k->span, &l->type);
    l->is_own = l->kind != PLACES && k->parts > 1;
    layout_finish(l, "plain", k->span);
}

/* Parts of one cell at falling addresses. */
static inline void layout_backward(struct layout *l)
{
    int part;

    l->cells = 1;
    for (part = 0; part < cell_kinds[l->kind].parts; part++)
        l->at[0][part] = 40 - 16 * part;
    layout_resized(layout_struct(l->kind, l->at[0]), 0, 48, &l->type);
    layout_finish(l, "backward struct", 48);
}

/* Two cells around the address, the second below the first. */
static inline void layout_below(struct layout *l, MPI_Datatype cell)
{
    const MPI_Aint span = cell_kinds[l->kind].span, at[2] = { span, -2 * span };
    MPI_Datatype pair;

    layout_place(l, 2, 1, -2);
    CHECK_OK(MPI_Type_create_hindexed_block(2, 1, at, cell, &pair));
    layout_resized(pair, -3 * span, 6 * span, &l->type);
    layout_finish(l, "resized below its address", 6 * span);
}

static inline void layouts_of(enum kind kind)
{
    const int whole[2] = { 3, 4 }, part[2] = { 2, 1 }, start[2] = { 1, 2 };
    struct layout *l = layouts[kind];
    const MPI_Aint span = cell_kinds[kind].span;
    int i;

    for (i = 0; i < LAYOUTS; i++) {
        l[i].kind = kind;
        l[i].is_own = true;
    }
    layout_plain(&l[PLAIN]);
    layout_place(&l[TWO], 2, 0, 1);
    CHECK_OK(MPI_Type_contiguous(2, l[PLAIN].type, &l[TWO].type));
    layout_finish(&l[TWO], "contiguous", 2 * span);
    layout_place(&l[GAPS], 2, 0, 3);
    CHECK_OK(MPI_Type_vector(2, 1, 3, l[PLAIN].type, &l[GAPS].type));
    layout_finish(&l[GAPS], "vector", 4 * span);
    layout_backward(&l[BACKWARD]);
    layout_below(&l[BELOW], l[PLAIN].type);
    layout_place(&l[CORNER], 2, 6, 10);
    CHECK_OK(MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, l[PLAIN].type, &l[CORNER].type));
    layout_finish(&l[CORNER], "subarray", 12 * span);
}

/* Move one cell of a buffer of items. */
static inline void layout_get(const struct layout *l, const unsigned char *buf, MPI_Count cell, unsigned char *out)
{
    const struct cell_kind *k = &cell_kinds[l->kind];
    const unsigned char *item = buf + cell / l->cells * l->extent;
    int part;

    memset(out, 0, CELL_BYTES);
    for (part = 0; part < k->parts; part++)
        memcpy(out + k->at[part], item + l->at[cell % l->cells][part], (size_t)k->size[part]);
}

static inline void layout_put(const struct layout *l, unsigned char *buf, MPI_Count cell, const unsigned char *in)
{
    const struct cell_kind *k = &cell_kinds[l->kind];
    unsigned char *item = buf + cell / l->cells * l->extent;
    int part;

    for (part = 0; part < k->parts; part++)
        memcpy(item + l->at[cell % l->cells][part], in + k->at[part], (size_t)k->size[part]);
}

/* ---- the user's operators -------------------------------------------------------------------------------- */

static inline const struct layout *layout_of(MPI_Datatype type, enum kind kind)
{
    int i;

    for (i = 0; i < LAYOUTS; i++)
        if (layouts[kind][i].type == type)
            return &layouts[kind][i];
    test_fail(__FILE__, __LINE__, "a user's operator", "got a datatype that the call did not name");
}

static inline void user_fold(enum fold fold, void *in, void *inout, MPI_Count items, MPI_Datatype type)
{
    const struct layout *l = layout_of(type, folds[fold].kind);
    unsigned char a[CELL_BYTES], b[CELL_BYTES];
    MPI_Count i;

    for (i = 0; i < items * l->cells; i++) {
        layout_get(l, in, i, a);
        layout_get(l, inout, i, b);
        cell_fold(fold, a, b);
        layout_put(l, inout, i, b);
    }
}

static void user_add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    user_fold(USER_ADD, in, inout, *len, *type);
}

static void user_chain(void *in, void *inout, int *len, MPI_Datatype *type)
{
    user_fold(CHAIN, in, inout, *len, *type);
}

#if MPI_VERSION >= 4
static void user_chain_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    user_fold(CHAIN_LARGE, in, inout, *len, *type);
}
#endif

/* ---- all of it ------------------------------------------------------------------------------------------- */

static inline void cells_begin(void)
{
    const MPI_Op predefined[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_SUM };
    int kind;

    for (kind = 0; kind < KINDS; kind++)
        layouts_of((enum kind)kind);
    memcpy(fold_ops, predefined, sizeof predefined);
    CHECK_OK(MPI_Op_create(user_add, 1, &fold_ops[USER_ADD]));
    CHECK_OK(MPI_Op_create(user_chain, 0, &fold_ops[CHAIN]));
#if MPI_VERSION >= 4
    CHECK_OK(MPI_Op_create_c(user_chain_large, 0, &fold_ops[CHAIN_LARGE]));
#else
    CHECK_OK(MPI_Op_create(user_chain, 0, &fold_ops[CHAIN_LARGE]));
#endif
}

static inline void cells_end(void)
{
    int kind, i;

    for (i = USER_ADD; i <= CHAIN_LARGE; i++)
        CHECK_OK(MPI_Op_free(&fold_ops[i]));
    for (kind = 0; kind < KINDS; kind++)
        for (i = 0; i < LAYOUTS; i++)
            if (layouts[kind][i].is_own)
                CHECK_OK(MPI_Type_free(&layouts[kind][i].type));
}

#endif
