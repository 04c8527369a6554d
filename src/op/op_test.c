/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined operator on every predefined type, in every instruction set that this processor has, against a
 * model that works on one element at a time, in the widest type and from a table of its own; every refusal; the user's
 * operators. */
#include "op/int_op.h"

#include <math.h>
#include <mpi_older.h>
#include <mpix.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/wide.h"

enum { MAX_COUNT = 1000, MAX_EXTENT = 32, ROOM = MAX_COUNT * MAX_EXTENT + 64, GAP = 0xC3 };

/* Class of MPI 5.0 §6.9.2: C integer, Fortran Integer, Float, Logical, compleX, Byte, Multi-language, Pair;
 * N: none. `form` is how an element is stored: i, u integer; f real; c complex; of a pair: of its value. */
struct row {
    MPI_Datatype handle;
    char group, form;
    int len;     /* bytes of an element, of a pair's value, of a complex number's part; 0: long double; or BFLOAT */
    int extent;
    int index;   /* pair: displacement of the index */
    char index_form;
    int index_len;
};

enum { BFLOAT = -2 };

#define INT(handle, group, form, len) { handle, group, form, len, len, 0, 0, 0 }
#define REAL(handle, len) { handle, 'F', 'f', len, len, 0, 0, 0 }
#define CPLX(handle, len) { handle, 'X', 'c', len, 2 * len, 0, 0, 0 }
#define NONE(handle, len) { handle, 'N', 'u', len, len, 0, 0, 0 }

static const struct row rows[] = {
    INT(MPI_INT, 'C', 'i', 4), INT(MPI_LONG, 'C', 'i', 8), INT(MPI_SHORT, 'C', 'i', 2),
    INT(MPI_UNSIGNED_SHORT, 'C', 'u', 2), INT(MPI_UNSIGNED, 'C', 'u', 4), INT(MPI_UNSIGNED_LONG, 'C', 'u', 8),
    INT(MPI_LONG_LONG_INT, 'C', 'i', 8), INT(MPI_UNSIGNED_LONG_LONG, 'C', 'u', 8),
    INT(MPI_SIGNED_CHAR, 'C', 'i', 1), INT(MPI_CHAR, 'C', 'i', 1),
    INT(MPI_UNSIGNED_CHAR, 'C', 'u', 1), INT(MPI_INT8_T, 'C', 'i', 1), INT(MPI_INT16_T, 'C', 'i', 2),
    INT(MPI_INT32_T, 'C', 'i', 4), INT(MPI_INT64_T, 'C', 'i', 8), INT(MPI_UINT8_T, 'C', 'u', 1),
    INT(MPI_UINT16_T, 'C', 'u', 2), INT(MPI_UINT32_T, 'C', 'u', 4), INT(MPI_UINT64_T, 'C', 'u', 8),
    INT(MPI_INTEGER, 'I', 'i', 4), INT(MPI_INTEGER1, 'I', 'i', 1), INT(MPI_INTEGER2, 'I', 'i', 2),
    INT(MPI_INTEGER4, 'I', 'i', 4), INT(MPI_INTEGER8, 'I', 'i', 8), INT(MPI_INTEGER16, 'I', 'i', 16),
    INT(MPI_AINT, 'M', 'i', 8), INT(MPI_OFFSET, 'M', 'i', 8), INT(MPI_COUNT, 'M', 'i', 8),
    INT(MPI_LOGICAL, 'L', 'u', 4), INT(MPI_LOGICAL1, 'L', 'u', 1), INT(MPI_LOGICAL2, 'L', 'u', 2),
    INT(MPI_LOGICAL4, 'L', 'u', 4), INT(MPI_LOGICAL8, 'L', 'u', 8), INT(MPI_LOGICAL16, 'L', 'u', 16),
    INT(MPI_C_BOOL, 'L', 'u', 1), INT(MPI_CXX_BOOL, 'L', 'u', 1), INT(MPI_BYTE, 'B', 'u', 1),
    REAL(MPI_REAL2, 2), REAL(MPIX_C_FLOAT16, 2), { MPIX_BFLOAT16, 'F', 'f', BFLOAT, 2, 0, 0, 0 },
    REAL(MPI_FLOAT, 4), REAL(MPI_DOUBLE, 8), REAL(MPI_LONG_DOUBLE, 0), REAL(MPI_REAL, 4),
    REAL(MPI_DOUBLE_PRECISION, 8), REAL(MPI_REAL4, 4), REAL(MPI_REAL8, 8), REAL(MPI_REAL16, 16),
    CPLX(MPI_COMPLEX4, 2), CPLX(MPI_C_COMPLEX, 4), CPLX(MPI_C_FLOAT_COMPLEX, 4), CPLX(MPI_C_DOUBLE_COMPLEX, 8),
    CPLX(MPI_C_LONG_DOUBLE_COMPLEX, 0), CPLX(MPI_CXX_FLOAT_COMPLEX, 4), CPLX(MPI_CXX_DOUBLE_COMPLEX, 8),
    CPLX(MPI_CXX_LONG_DOUBLE_COMPLEX, 0), CPLX(MPI_COMPLEX, 4), CPLX(MPI_DOUBLE_COMPLEX, 8),
    CPLX(MPI_COMPLEX8, 4),
    CPLX(MPI_COMPLEX16, 8), CPLX(MPI_COMPLEX32, 16),
    { MPI_FLOAT_INT, 'P', 'f', 4, 8, 4, 'i', 4 }, { MPI_DOUBLE_INT, 'P', 'f', 8, 16, 8, 'i', 4 },
    { MPI_LONG_INT, 'P', 'i', 8, 16, 8, 'i', 4 }, { MPI_2INT, 'P', 'i', 4, 8, 4, 'i', 4 },
    { MPI_SHORT_INT, 'P', 'i', 2, 8, 4, 'i', 4 }, { MPI_LONG_DOUBLE_INT, 'P', 'f', 0, 32, 16, 'i', 4 },
    { MPI_2REAL, 'P', 'f', 4, 8, 4, 'f', 4 }, { MPI_2DOUBLE_PRECISION, 'P', 'f', 8, 16, 8, 'f', 8 },
    { MPI_2INTEGER, 'P', 'i', 4, 8, 4, 'i', 4 },
    NONE(MPI_WCHAR, 4), NONE(MPI_CHARACTER, 1), NONE(MPI_PACKED, 1),
};

struct rule {
    MPI_Op handle;
    const char *name, *groups;
};

static const struct rule rules[] = {
    { MPI_MAX, "MPI_MAX", "CIFM" },   { MPI_MIN, "MPI_MIN", "CIFM" },     { MPI_SUM, "MPI_SUM", "CIFXM" },
    { MPI_PROD, "MPI_PROD", "CIFXM" }, { MPI_LAND, "MPI_LAND", "CL" },     { MPI_LOR, "MPI_LOR", "CL" },
    { MPI_LXOR, "MPI_LXOR", "CL" },   { MPI_BAND, "MPI_BAND", "CIBM" },   { MPI_BOR, "MPI_BOR", "CIBM" },
    { MPI_BXOR, "MPI_BXOR", "CIBM" }, { MPI_MAXLOC, "MPI_MAXLOC", "P" },  { MPI_MINLOC, "MPI_MINLOC", "P" },
    { MPI_REPLACE, "MPI_REPLACE", "" }, { MPI_NO_OP, "MPI_NO_OP", "" },
};

static uint64_t seed = 20260101;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* --- the model: one element in and out of memory --- */

static wide_float get_real(const unsigned char *p, int len)
{
    half_float h;
    float f;
    double d;
    long double l;
    wide_float w;

    if (len == BFLOAT)
        return memcpy(&f, (const unsigned char[]){ 0, 0, p[0], p[1] }, sizeof f), f;
    if (len == 2)
        return memcpy(&h, p, sizeof h), h;
    if (len == 4)
        return memcpy(&f, p, sizeof f), f;
    if (len == 8)
        return memcpy(&d, p, sizeof d), d;
    if (len == 0)
        return memcpy(&l, p, sizeof l), l;
    return memcpy(&w, p, sizeof w), w;
}

/* Of the two neighbours of `value` the nearer one, or the one that ends in a zero bit. No number here is near the
 * greatest. */
static void put_bfloat(unsigned char *p, float value)
{
    uint32_t bits, next;
    float low, high;

    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffff0000;
    next = bits + 0x10000;
    memcpy(&low, &bits, sizeof low);
    memcpy(&high, &next, sizeof high);
    if (isfinite(value) && fabsf(high - value) <= fabsf(value - low))
        bits = fabsf(high - value) == fabsf(value - low) && (next >> 16 & 1) ? bits : next;
    p[0] = (unsigned char)(bits >> 16);
    p[1] = (unsigned char)(bits >> 24);
}

static void put_real(unsigned char *p, int len, wide_float value)
{
    const half_float h = (half_float)value;
    const float f = (float)value;
    const double d = (double)value;
    const long double l = (long double)value;

    if (len == BFLOAT)
        put_bfloat(p, f);
    else if (len == 2)
        memcpy(p, &h, sizeof h);
    else if (len == 4)
        memcpy(p, &f, sizeof f);
    else if (len == 8)
        memcpy(p, &d, sizeof d);
    else if (len == 0)
        memcpy(p, &l, sizeof l);
    else
        memcpy(p, &value, sizeof value);
}

static int part_bytes(int len)
{
    return len == BFLOAT ? 2 : len ? len : (int)sizeof(long double);
}

static wide_complex get_complex(const unsigned char *p, int len)
{
    wide_complex value;

    __real__ value = get_real(p, len);
    __imag__ value = get_real(p + part_bytes(len), len);
    return value;
}

static void put_complex(unsigned char *p, int len, wide_complex value)
{
    put_real(p, len, __real__ value);
    put_real(p + part_bytes(len), len, __imag__ value);
}

/* Little endian, as the machines that Parley runs on. */
static wide_uint get_bits(const unsigned char *p, int len)
{
    wide_uint bits = 0;

    for (int i = 0; i < len; i++)
        bits |= (wide_uint)p[i] << 8 * i;
    return bits;
}

static void put_bits(unsigned char *p, int len, wide_uint bits)
{
    for (int i = 0; i < len; i++)
        p[i] = (unsigned char)(bits >> 8 * i);
}

/* Less, for integers: flip the sign bit and compare as unsigned. */
static bool is_less(wide_uint a, wide_uint b, const struct row *row)
{
    const wide_uint flip = row->form == 'i' ? (wide_uint)1 << (8 * row->len - 1) : 0;

    return (a ^ flip) < (b ^ flip);
}

static wide_uint model_int(MPI_Op op, wide_uint a, wide_uint b, const struct row *row)
{
    if (op == MPI_MAX)
        return is_less(a, b, row) ? b : a;
    if (op == MPI_MIN)
        return is_less(a, b, row) ? a : b;
    if (op == MPI_SUM)
        return a + b;
    if (op == MPI_PROD)
        return a * b;
    if (op == MPI_LAND)
        return a && b;
    if (op == MPI_LOR)
        return a || b;
    if (op == MPI_LXOR)
        return !a != !b;
    if (op == MPI_BAND)
        return ~(~a | ~b);
    if (op == MPI_BOR)
        return ~(~a & ~b);
    CHECK(op == MPI_BXOR);
    return (a | b) & ~(a & b);
}

static wide_float model_real(MPI_Op op, wide_float a, wide_float b)
{
    if (op == MPI_SUM)
        return a + b;
    if (op == MPI_PROD)
        return a * b;
    if (a != a || b != b)
        return a != a ? a : b;
    return (op == MPI_MAX ? a > b : a < b) ? a : b;
}

static wide_float get_member(const unsigned char *p, char form, int len)
{
    wide_float value;

    if (form == 'f')
        return get_real(p, len);
    if (form == 'u')
        return (wide_float)(uint64_t)get_bits(p, len);
    value = (wide_float)(int64_t)get_bits(p, len);
    if (len < 8 && p[len - 1] & 0x80)
        value -= (wide_float)(1ULL << 8 * len);
    return value;
}

/* Which of the two pairs the result is: of the better value, else of the smaller index. */
static bool takes_first(MPI_Op op, const unsigned char *a, const unsigned char *b, const struct row *row)
{
    const wide_float value_a = get_member(a, row->form, row->len);
    const wide_float value_b = get_member(b, row->form, row->len);
    const wide_float index_a = get_member(a + row->index, row->index_form, row->index_len);
    const wide_float index_b = get_member(b + row->index, row->index_form, row->index_len);

    if (value_a != value_a || value_b != value_b) {
        if (value_a == value_a || value_b == value_b)
            return value_a != value_a;
    } else if (value_a != value_b)
        return (op == MPI_MAXLOC) == (value_a > value_b);
    return index_a < index_b;
}

/* Bytes of a long double that hold its value; the rest is padding. */
static int value_bytes(int len)
{
    return len == BFLOAT ? 2 : len ? len : LDBL_MANT_DIG == 64 ? 10 : 16;
}

/* b = a op b; a and b are items. */
static void model(MPI_Op op, const unsigned char *a, unsigned char *b, const struct row *row)
{
    if (row->group == 'P') {
        if (takes_first(op, a, b, row)) {
            memcpy(b, a, (size_t)value_bytes(row->len));
            memcpy(b + row->index, a + row->index, (size_t)row->index_len);
        }
    } else if (row->form == 'f') {
        put_real(b, row->len, model_real(op, get_real(a, row->len), get_real(b, row->len)));
    } else if (row->form == 'c') {
        const wide_complex x = get_complex(a, row->len), y = get_complex(b, row->len);

        put_complex(b, row->len, op == MPI_SUM ? x + y : x * y);
    } else {
        put_bits(b, row->len, model_int(op, get_bits(a, row->len), get_bits(b, row->len), row));
    }
}

/* --- comparing --- */

/* A small number, exact in every format and with exact products; sometimes one of those that are special. */
static wide_float random_real(int range)
{
    static const double special[] = { 0.0, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY };
    const uint64_t choice = next_random() % 64;

    if (choice < ARRAY_LEN(special))
        return special[choice];
    return (wide_float)((int)(next_random() % (unsigned)(2 * range)) - range) / 4;
}

/* All bits, and often zero, the least or greatest number. */
static wide_uint random_bits(int len)
{
    const wide_uint top = (wide_uint)1 << (8 * len - 1);
    const wide_uint special[] = { 0, 0, 1, top, top - 1, ~(wide_uint)0 };
    const uint64_t choice = next_random() % 16;

    return choice < ARRAY_LEN(special) ? special[choice] : (wide_uint)next_random() << 64 | next_random();
}

/* Few values, so that there are ties; sometimes special ones. */
static void fill_pair(unsigned char *p, const struct row *row)
{
    const bool is_special = next_random() % 8 == 0;

    if (row->form == 'f')
        put_real(p, row->len, is_special ? random_real(1) : (wide_float)(next_random() % 3) - 1);
    else
        put_bits(p, row->len, is_special ? random_bits(row->len) : (wide_uint)(next_random() % 3) - 1);
    if (row->index_form == 'f')
        put_real(p + row->index, row->index_len, (wide_float)(next_random() % 5) - 2);
    else
        put_bits(p + row->index, row->index_len, (wide_uint)(next_random() % 5) - 2);
}

static void fill(unsigned char *p, int count, const struct row *row)
{
    const int extent = row->extent ? row->extent : part_bytes(row->len) * (row->form == 'c' ? 2 : 1);

    for (int i = 0; i < count; i++, p += extent) {
        if (row->group == 'P') {
            fill_pair(p, row);
        } else if (row->form == 'f') {
            put_real(p, row->len, random_real(32));
        } else if (row->form == 'c') {
            put_real(p, row->len, random_real(32));
            put_real(p + part_bytes(row->len), row->len, random_real(8));
        } else {
            put_bits(p, row->len, random_bits(row->len));
        }
    }
}

/* Is the part of an item that begins at `at` NaN in both? Which NaN is nobody's business. */
static bool is_nan(const struct row *row, const unsigned char *a, const unsigned char *b)
{
    wide_float x, y;

    if (row->form != 'f' && row->form != 'c')
        return false;
    x = get_real(a, row->len);
    y = get_real(b, row->len);
    return x != x && y != y;
}

/* Equal where the item has data; what lies between must be as it was before. */
static void compare(const struct rule *rule, const struct row *row, const unsigned char *came,
                    const unsigned char *wanted, const unsigned char *before, int extent)
{
    const int part = part_bytes(row->len);

    for (int i = 0; i < extent; i++) {
        const bool is_value = i % part < value_bytes(row->len) && (row->group != 'P' || i < part);
        const bool is_index = row->group == 'P' && i >= row->index && i < row->index + row->index_len;
        const bool is_gap = row->group == 'P' && i >= part && !is_index;

        if (is_value && is_nan(row, came + i / part * part, wanted + i / part * part))
            continue;
        if ((is_value || is_index) ? came[i] != wanted[i] : is_gap && came[i] != before[i]) {
            fprintf(stderr, "%s on %s: byte %d of an item is %#x, expected %#x\n", rule->name,
                    type_name(obj_type(row->handle)), i, came[i], is_gap ? before[i] : wanted[i]);
            exit(1);
        }
    }
}

static void test_count(const struct rule *rule, const struct row *row, int count)
{
    static unsigned char in[ROOM], inout[ROOM], before[ROOM], wanted[ROOM];
    const struct type *const type = obj_type(row->handle);
    const int extent = (int)type->extent;
    unsigned char *const a = in + count % 17, *const b = inout + count % 13, *const end = b + count * extent;

    memset(in, GAP, sizeof in);
    memset(inout, GAP, sizeof inout);
    fill(a, count, row);
    fill(b, count, row);
    memcpy(before, inout, sizeof before);
    memcpy(wanted, inout, sizeof wanted);
    op_reduce(obj_op(rule->handle), a, b, count, type);
    for (int i = 0; i < count; i++) {
        unsigned char *const w = wanted + (b - inout) + i * extent;

        model(rule->handle, a + i * extent, w, row);
        compare(rule, row, b + i * extent, w, before + (w - wanted), extent);
    }
    CHECK(memcmp(inout, before, (size_t)(b - inout)) == 0);
    CHECK(memcmp(end, before + (end - inout), sizeof inout - (size_t)(end - inout)) == 0);
}

/* All short counts, so that vector loops and their ends are seen, and a long one; every alignment. */
static void test_pair(const struct rule *rule, const struct row *row)
{
    for (int count = 0; count <= 70; count++)
        test_count(rule, row, count);
    test_count(rule, row, MAX_COUNT);
}

static void expect_error(int rc, int error_class, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];

    CHECK_INT(err_class(rc), error_class);
    err_text(rc, text, sizeof text);
    if (!strstr(text, part)) {
        fprintf(stderr, "\"%s\" does not contain \"%s\"\n", text, part);
        exit(1);
    }
}

static void test_all(void)
{
    int tried = 0;

    for (size_t o = 0; o < ARRAY_LEN(rules); o++) {
        const struct op *const op = obj_op(rules[o].handle);

        CHECK(op);
        CHECK_INT(obj_handle(&op->obj), (uintptr_t)rules[o].handle);
        CHECK_INT(op->is_commutative, rules[o].groups[0] != '\0');
        for (size_t t = 0; t < ARRAY_LEN(rows); t++) {
            const struct type *const type = obj_type(rows[t].handle);
            const int rc = op_check(op, type);

            CHECK(type);
            if (strchr(rules[o].groups, rows[t].group)) {
                CHECK_INT(rc, 0);
                test_pair(&rules[o], &rows[t]);
                tried++;
            } else {
                expect_error(rc, MPI_ERR_OP, rules[o].name);
                if (rules[o].groups[0])
                    expect_error(rc, MPI_ERR_OP, type_name(type));
            }
        }
    }
    /* 19 C integers (with MPI_CHAR), 6 Fortran ones, 3 of several languages, 8 logical, 1 byte, 11 real, 13 complex, 9
     * pairs */
    CHECK_INT(tried, 2 * 39 + 2 * 52 + 3 * 27 + 3 * 29 + 2 * 9);
    expect_error(op_check(obj_op(MPI_BAND), obj_type(MPI_DOUBLE)), MPI_ERR_OP,
                 "MPI_BAND cannot be applied to MPI_DOUBLE (floating point); it takes: C integer, "
                 "Fortran integer, byte, multi-language");
    CHECK(!obj_op(MPI_OP_NULL));
}

/* Every predefined type occurs in the table above, but for synonyms and the marks of bounds, which are no operands. */
static void test_table_is_whole(void)
{
    for (uintptr_t value = 0x200; value < 0x300; value++) {
        bool is_listed = !obj_table[value] || value == (uintptr_t)MPI_LB || value == (uintptr_t)MPI_UB;

        for (size_t t = 0; t < ARRAY_LEN(rows); t++)
            is_listed |= (uintptr_t)rows[t].handle == value;
        CHECK(is_listed);
    }
    CHECK(op_check(obj_op(MPI_SUM), obj_type(MPI_UB)));
}

/* Those of values and indices that have no common name. */
static void test_unnamed_pairs(void)
{
    static const struct {
        MPI_Datatype handle;
        char form;
        int len;
    } values[] = {
        { MPI_INT8_T, 'i', 1 }, { MPI_INT16_T, 'i', 2 }, { MPI_INT32_T, 'i', 4 }, { MPI_INT64_T, 'i', 8 },
        { MPI_UINT8_T, 'u', 1 }, { MPI_UINT16_T, 'u', 2 }, { MPI_UINT32_T, 'u', 4 }, { MPI_UINT64_T, 'u', 8 },
        { MPI_REAL4, 'f', 4 }, { MPI_REAL8, 'f', 8 }, { MPI_LONG_DOUBLE, 'f', 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        for (int len = 4; len <= 8; len += 4) {
            struct row row = { .group = 'P', .form = values[i].form, .len = values[i].len, .index_form = 'i',
                               .index_len = len };
            const int bytes = part_bytes(row.len);
            struct type *type;

            CHECK_INT(type_pair(obj_type(values[i].handle), obj_type(len == 4 ? MPI_INT32_T : MPI_INT64_T), &type), 0);
            row.handle = (MPI_Datatype)obj_handle(&type->obj);
            row.extent = (int)type->extent;
            row.index = (bytes + len - 1) / len * len;
            for (size_t o = 0; o < ARRAY_LEN(rules); o++)
                if (strchr(rules[o].groups, 'P'))
                    test_pair(&rules[o], &row);
        }
}

static void test_accumulate_only(void)
{
    struct {
        double value;
        int index, gap;
    } in[2] = { { 1.5, 7, 1 }, { 2.5, 8, 1 } }, inout[2] = { { 3.5, 9, 2 }, { 4.5, 10, 2 } };

    op_reduce(obj_op(MPI_NO_OP), in, inout, 2, obj_type(MPI_DOUBLE_INT));
    CHECK(inout[0].value == 3.5 && inout[0].index == 9 && inout[1].index == 10);
    op_reduce(obj_op(MPI_REPLACE), in, inout, 2, obj_type(MPI_DOUBLE_INT));
    CHECK(inout[0].value == 1.5 && inout[0].index == 7 && inout[1].value == 2.5 && inout[1].index == 8);
    CHECK(inout[0].gap == 2 && inout[1].gap == 2);
    expect_error(op_check(obj_op(MPI_NO_OP), obj_type(MPI_INT)), MPI_ERR_OP, "one-sided accumulate");
}

/* --- the user's operators --- */

static struct {
    MPI_Count calls, items;
    void *in, *inout;
} seen;

static void minus(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    CHECK(*datatype == MPI_INT);
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
    seen.calls++;
}

static void minus_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)
{
    CHECK(*datatype == MPI_INT);
    for (MPI_Count i = 0; i < *len; i++)
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
    seen.calls++;
}

/* Touches no memory: for lengths that there is no memory for. */
static void watch(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    CHECK(*datatype == MPI_DOUBLE_INT);
    CHECK((char *)in == (char *)seen.in + seen.items * 16);
    CHECK((char *)inout == (char *)seen.inout + seen.items * 16);
    seen.items += *len;
    seen.calls++;
    *len = 0;
    *datatype = MPI_DATATYPE_NULL; /* both are the library's copies */
}

static void test_user(void)
{
    int in[3] = { 1, 2, 3 }, inout[3] = { 10, 20, 30 };
    struct op *op, *large;
    MPI_Op handle;

    CHECK_INT(op_create(minus, false, &op), 0);
    CHECK_INT(op_create_large(minus_large, true, &large), 0);
    CHECK(!op->is_commutative && large->is_commutative);
    CHECK_INT(op_check(op, obj_type(MPI_INT)), 0);
    CHECK_INT(op_check(large, obj_type(MPI_CHAR)), 0);
    op_reduce(op, in, inout, 3, obj_type(MPI_INT));
    CHECK(inout[0] == -9 && inout[1] == -18 && inout[2] == -27);
    op_reduce(large, in, inout, 2, obj_type(MPI_INT));
    CHECK(inout[0] == 10 && inout[1] == 20 && inout[2] == -27);
    op_reduce(op, in, inout, 0, obj_type(MPI_INT));
    op_reduce(large, in, inout, 0, obj_type(MPI_INT));
    CHECK_INT(seen.calls, 2); /* never for nothing */

    handle = (MPI_Op)obj_handle(&op->obj);
    op_ref(op);
    CHECK_INT(op_free(op), 0);
    CHECK(obj_op(handle) == op); /* as a pending operation would see it */
    op_unref(op);
    CHECK(!obj_op(handle));
    CHECK_INT(op_free(large), 0);
}

static void test_long_vector(void)
{
    struct op *op;

    CHECK_INT(op_create(watch, true, &op), 0);
    seen.calls = seen.items = 0;
    seen.in = (void *)(uintptr_t)0x100000;
    seen.inout = (void *)(uintptr_t)0x200000;
    op_reduce(op, seen.in, seen.inout, 2 * (MPI_Count)COUNT_LIMIT + 5, obj_type(MPI_DOUBLE_INT));
    CHECK_INT(seen.calls, 3);
    CHECK_INT(seen.items, 2 * (MPI_Count)COUNT_LIMIT + 5);
    CHECK_INT(op_free(op), 0);
}

static void test_local_and_errors(void)
{
    int in[2] = { 5, -5 }, inout[2] = { 3, 3 };
    struct op *op = NULL;

    CHECK_INT(op_reduce_local(obj_op(MPI_SUM), in, inout, 2, obj_type(MPI_INT)), 0);
    CHECK(inout[0] == 8 && inout[1] == -2);
    CHECK_INT(op_reduce_local(obj_op(MPI_SUM), NULL, NULL, 0, obj_type(MPI_INT)), 0);
    expect_error(op_reduce_local(obj_op(MPI_MAX), in, inout, 2, obj_type(MPI_COMPLEX)), MPI_ERR_OP,
                 "MPI_COMPLEX");
    CHECK(inout[0] == 8 && inout[1] == -2);
    expect_error(op_reduce_local(obj_op(MPI_SUM), in, in, 2, obj_type(MPI_INT)), MPI_ERR_BUFFER,
                 "inbuf and inoutbuf overlap: 2 items of 4 bytes");
    expect_error(op_reduce_local(obj_op(MPI_SUM), in + 1, in, 2, obj_type(MPI_INT)), MPI_ERR_BUFFER, "overlap");
    expect_error(op_reduce_local(obj_op(MPI_SUM), in, in + 1, 2, obj_type(MPI_INT)), MPI_ERR_BUFFER, "overlap");
    CHECK_INT(op_reduce_local(obj_op(MPI_SUM), in, in + 1, 1, obj_type(MPI_INT)), 0);
    CHECK_INT(in[1], 0);
    expect_error(op_free(obj_op(MPI_SUM)), MPI_ERR_OP, "MPI_SUM is predefined");
    mem_fail_after(0);
    expect_error(op_create(minus, true, &op), MPI_ERR_NO_MEM, "no memory");
    expect_error(op_create_large(minus_large, true, &op), MPI_ERR_NO_MEM, "no memory");
    mem_fail_after(-1);
    CHECK(!op);
}

static void test_derived(void)
{
    const struct type derived = { .is_supported = true, .is_committed = true, .name = "" };

    expect_error(op_check(obj_op(MPI_SUM), &derived), MPI_ERR_OP,
                 "MPI_SUM cannot be applied to a type without a name");
}

int main(void)
{
    type_init();
    op_init();
    op_init(); /* as a second session does */
    test_local_and_errors(); /* first: the pools are still empty, so that memory can run out */
    test_table_is_whole();
    for (int isa = ISA_BASE; isa <= (int)isa_best(); isa++) {
        op_choose_isa((enum isa)isa);
        test_all();
        test_unnamed_pairs();
    }
    test_accumulate_only();
    test_user();
    test_long_vector();
    test_derived();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
