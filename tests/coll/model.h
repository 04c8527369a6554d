/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined reductions in the plainest form: which operator takes which datatype (MPI 5.0 §6.9.2),
 * values whose results are exact in any order, and the result element by element. */
#ifndef TESTS_COLL_MODEL_H
#define TESTS_COLL_MODEL_H

#include "mpitest.h"

#include <complex.h>
#include <stdbool.h>

enum model_op { SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, OPS };

static inline MPI_Op model_handle(enum model_op op)
{
    const MPI_Op handles[OPS] = { MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                                  MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR };

    return handles[op];
}

static inline const char *model_name(enum model_op op)
{
    static const char *const names[OPS] = { "SUM", "PROD", "MIN",  "MAX", "LAND",
                                            "LOR", "LXOR", "BAND", "BOR", "BXOR" };

    return names[op];
}

/* Which operators a group of types takes, as bits. */
enum {
    ARITHMETIC = 1 << SUM | 1 << PROD,
    ORDER = 1 << MIN | 1 << MAX,
    LOGIC = 1 << LAND | 1 << LOR | 1 << LXOR,
    BITS = 1 << BAND | 1 << BOR | 1 << BXOR,
    C_INTEGER = ARITHMETIC | ORDER | LOGIC | BITS,
    OTHER_INTEGER = ARITHMETIC | ORDER | BITS, /* Fortran integers, MPI_AINT, MPI_COUNT, MPI_OFFSET */
    FLOATING = ARITHMETIC | ORDER,
};

/* Fills n elements of this rank for the operator; applies in-operator-inout to n elements. */
typedef void model_fill_function(void *buf, int n, enum model_op op, int rank);
typedef void model_apply_function(const void *in, void *inout, int n, enum model_op op);

/* Numbers small enough that sums and products of up to 32 ranks fit into one byte, and any bits for the
 * rest. */
static inline long long model_number(int i, enum model_op op, int rank, bool is_signed)
{
    const uint64_t random = test_key((uint64_t)rank, (uint64_t)i, op);

    switch (op) {
    case PROD: return (i + rank) % 8 == 1 ? 2 : is_signed && (i + rank) % 5 == 0 ? -1 : 1;
    case SUM: return is_signed ? (long long)(random % 7) - 3 : (long long)(random % 4);
    case LAND: return random % 5 ? (long long)(random | 1) : 0;
    case LOR:
    case LXOR: return random % 5 ? 0 : (long long)(random | 1);
    default: return (long long)random;
    }
}

#define MODEL_INTEGER(NAME, T)                                                            \
    static inline void fill_##NAME(void *buf, int n, enum model_op op, int rank)          \
    {                                                                                     \
        T *p = buf;                                                                       \
        int i;                                                                            \
                                                                                          \
        for (i = 0; i < n; i++)                                                           \
            p[i] = (T)model_number(i, op, rank, (T)-1 < (T)1);                            \
    }                                                                                     \
                                                                                          \
    static inline void apply_##NAME(const void *in, void *inout, int n, enum model_op op) \
    {                                                                                     \
        const T *a = in;                                                                  \
        T *b = inout;                                                                     \
        int i;                                                                            \
                                                                                          \
        for (i = 0; i < n; i++)                                                           \
            switch (op) {                                                                 \
            case SUM: b[i] = (T)(a[i] + b[i]); break;                                     \
            case PROD: b[i] = (T)(a[i] * b[i]); break;                                    \
            case MIN: b[i] = a[i] < b[i] ? a[i] : b[i]; break;                            \
            case MAX: b[i] = a[i] > b[i] ? a[i] : b[i]; break;                            \
            case LAND: b[i] = (T)(a[i] && b[i]); break;                                   \
            case LOR: b[i] = (T)(a[i] || b[i]); break;                                    \
            case LXOR: b[i] = (T)(!a[i] != !b[i]); break;                                 \
            case BAND: b[i] = (T)(a[i] & b[i]); break;                                    \
            case BOR: b[i] = (T)(a[i] | b[i]); break;                                     \
            default: b[i] = (T)(a[i] ^ b[i]); break;                                      \
            }                                                                             \
    }

#define MODEL_FLOAT(NAME, T)                                                                               \
    static inline void fill_##NAME(void *buf, int n, enum model_op op, int rank)                           \
    {                                                                                                      \
        T *p = buf;                                                                                        \
        int i;                                                                                             \
                                                                                                           \
        memset(buf, 0, (size_t)n * sizeof(T));                                                             \
        for (i = 0; i < n; i++)                                                                            \
            p[i] = (T)((T)(model_number(i, op, rank, true) % 1000) / (T)(op == MIN || op == MAX ? 4 : 1)); \
    }                                                                                                      \
                                                                                                           \
    static inline void apply_##NAME(const void *in, void *inout, int n, enum model_op op)                  \
    {                                                                                                      \
        const T *a = in;                                                                                   \
        T *b = inout;                                                                                      \
        int i;                                                                                             \
                                                                                                           \
        for (i = 0; i < n; i++)                                                                            \
            switch (op) {                                                                                  \
            case SUM: b[i] = a[i] + b[i]; break;                                                           \
            case PROD: b[i] = a[i] * b[i]; break;                                                          \
            case MIN: b[i] = a[i] < b[i] ? a[i] : b[i]; break;                                             \
            default: b[i] = a[i] > b[i] ? a[i] : b[i]; break;                                              \
            }                                                                                              \
    }

/* Imaginary parts for sums only: products of them would grow. */
#define MODEL_COMPLEX(NAME, T, R)                                                                         \
    static inline void fill_##NAME(void *buf, int n, enum model_op op, int rank)                          \
    {                                                                                                     \
        R *p = buf;                                                                                       \
        int i;                                                                                            \
                                                                                                          \
        memset(buf, 0, (size_t)n * sizeof(T));                                                            \
        for (i = 0; i < n; i++) {                                                                         \
            p[2 * i] = (R)model_number(i, op, rank, true);                                                \
            p[2 * i + 1] = op == SUM ? (R)model_number(i + n, op, rank, true) : (R)((i + rank) % 7 == 2); \
        }                                                                                                 \
    }                                                                                                     \
                                                                                                          \
    static inline void apply_##NAME(const void *in, void *inout, int n, enum model_op op)                 \
    {                                                                                                     \
        const R *a = in;                                                                                  \
        R *b = inout, re;                                                                                 \
        int i;                                                                                            \
                                                                                                          \
        for (i = 0; i < 2 * n; i += 2)                                                                    \
            if (op == SUM) {                                                                              \
                b[i] = a[i] + b[i];                                                                       \
                b[i + 1] = a[i + 1] + b[i + 1];                                                           \
            } else {                                                                                      \
                re = a[i] * b[i] - a[i + 1] * b[i + 1];                                                   \
                b[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];                                             \
                b[i] = re;                                                                                \
            }                                                                                             \
    }

__extension__ typedef __int128 int128;

MODEL_INTEGER(schar, signed char)
MODEL_INTEGER(uchar, unsigned char)
MODEL_INTEGER(short, short)
MODEL_INTEGER(ushort, unsigned short)
MODEL_INTEGER(int, int)
MODEL_INTEGER(unsigned, unsigned)
MODEL_INTEGER(llong, long long)
MODEL_INTEGER(ullong, unsigned long long)
MODEL_INTEGER(int128, int128)
MODEL_FLOAT(float, float)
MODEL_FLOAT(double, double)
MODEL_FLOAT(ldouble, long double)
MODEL_COMPLEX(cfloat, float complex, float)
MODEL_COMPLEX(cdouble, double complex, double)
MODEL_COMPLEX(cldouble, long double complex, long double)
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 float128;
MODEL_FLOAT(float128, float128)
MODEL_COMPLEX(
    cfloat128, struct { float128 p[2]; }, float128)
#endif

/* Truth values are 0 and 1 in every size. */
static inline void fill_logical(void *buf, size_t size, int n, enum model_op op, int rank)
{
    int i;

    memset(buf, 0, size * (size_t)n);
    for (i = 0; i < n; i++)
        ((unsigned char *)buf)[(size_t)i * size] = model_number(i, op, rank, false) != 0;
}

struct model_type {
    MPI_Datatype type;
    const char *name;
    size_t size;
    int ops;                   /* bits 1 << model_op */
    model_fill_function *fill; /* NULL: truth values of `size` bytes */
    model_apply_function *apply;
};

#define MODEL_ROW(T, C, OPS_, F)                    \
    {                                               \
        T, #T, sizeof(C), OPS_, fill_##F, apply_##F \
    }
#define MODEL_TRUTH(T, SIZE)           \
    {                                  \
        T, #T, SIZE, LOGIC, NULL, NULL \
    }

/* All types of the table; returns how many. Types that this library has not are left out. */
static inline int model_types(struct model_type *out, int room)
{
    const struct model_type all[] = {
        MODEL_ROW(MPI_SIGNED_CHAR, signed char, C_INTEGER, schar),
        MODEL_ROW(MPI_UNSIGNED_CHAR, unsigned char, C_INTEGER, uchar),
        MODEL_ROW(MPI_SHORT, short, C_INTEGER, short),
        MODEL_ROW(MPI_UNSIGNED_SHORT, unsigned short, C_INTEGER, ushort),
        MODEL_ROW(MPI_INT, int, C_INTEGER, int),
        MODEL_ROW(MPI_UNSIGNED, unsigned, C_INTEGER, unsigned),
        MODEL_ROW(MPI_LONG, long long, C_INTEGER, llong),
        MODEL_ROW(MPI_UNSIGNED_LONG, unsigned long long, C_INTEGER, ullong),
        MODEL_ROW(MPI_LONG_LONG, long long, C_INTEGER, llong),
        MODEL_ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long, C_INTEGER, ullong),
        MODEL_ROW(MPI_INT8_T, signed char, C_INTEGER, schar),
        MODEL_ROW(MPI_UINT8_T, unsigned char, C_INTEGER, uchar),
        MODEL_ROW(MPI_INT16_T, short, C_INTEGER, short),
        MODEL_ROW(MPI_UINT16_T, unsigned short, C_INTEGER, ushort),
        MODEL_ROW(MPI_INT32_T, int, C_INTEGER, int),
        MODEL_ROW(MPI_UINT32_T, unsigned, C_INTEGER, unsigned),
        MODEL_ROW(MPI_INT64_T, long long, C_INTEGER, llong),
        MODEL_ROW(MPI_UINT64_T, unsigned long long, C_INTEGER, ullong),
        MODEL_ROW(MPI_AINT, long long, OTHER_INTEGER, llong),
        MODEL_ROW(MPI_COUNT, long long, OTHER_INTEGER, llong),
        MODEL_ROW(MPI_OFFSET, long long, OTHER_INTEGER, llong),
        MODEL_ROW(MPI_BYTE, unsigned char, BITS, uchar),
        MODEL_ROW(MPI_INTEGER, int, OTHER_INTEGER, int),
        MODEL_ROW(MPI_INTEGER1, signed char, OTHER_INTEGER, schar),
        MODEL_ROW(MPI_INTEGER2, short, OTHER_INTEGER, short),
        MODEL_ROW(MPI_INTEGER4, int, OTHER_INTEGER, int),
        MODEL_ROW(MPI_INTEGER8, long long, OTHER_INTEGER, llong),
        MODEL_ROW(MPI_FLOAT, float, FLOATING, float),
        MODEL_ROW(MPI_DOUBLE, double, FLOATING, double),
        MODEL_ROW(MPI_LONG_DOUBLE, long double, FLOATING, ldouble),
        MODEL_ROW(MPI_REAL, float, FLOATING, float),
        MODEL_ROW(MPI_DOUBLE_PRECISION, double, FLOATING, double),
        MODEL_ROW(MPI_REAL4, float, FLOATING, float),
        MODEL_ROW(MPI_REAL8, double, FLOATING, double),
        MODEL_ROW(MPI_C_FLOAT_COMPLEX, float complex, ARITHMETIC, cfloat),
        MODEL_ROW(MPI_C_DOUBLE_COMPLEX, double complex, ARITHMETIC, cdouble),
        MODEL_ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, ARITHMETIC, cldouble),
        MODEL_ROW(MPI_COMPLEX, float complex, ARITHMETIC, cfloat),
        MODEL_ROW(MPI_DOUBLE_COMPLEX, double complex, ARITHMETIC, cdouble),
        MODEL_ROW(MPI_COMPLEX8, float complex, ARITHMETIC, cfloat),
        MODEL_ROW(MPI_COMPLEX16, double complex, ARITHMETIC, cdouble),
        MODEL_TRUTH(MPI_C_BOOL, sizeof(bool)),
        MODEL_TRUTH(MPI_LOGICAL, 4),
#if MPI_VERSION >= 5
        MODEL_ROW(MPI_CXX_FLOAT_COMPLEX, float complex, ARITHMETIC, cfloat),
        MODEL_ROW(MPI_CXX_DOUBLE_COMPLEX, double complex, ARITHMETIC, cdouble),
        MODEL_ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex, ARITHMETIC, cldouble),
        MODEL_TRUTH(MPI_CXX_BOOL, 1),
        MODEL_TRUTH(MPI_LOGICAL1, 1),
        MODEL_TRUTH(MPI_LOGICAL2, 2),
        MODEL_TRUTH(MPI_LOGICAL4, 4),
        MODEL_TRUTH(MPI_LOGICAL8, 8),
        MODEL_TRUTH(MPI_LOGICAL16, 16),
        MODEL_ROW(MPI_INTEGER16, int128, OTHER_INTEGER, int128),
#ifdef __SIZEOF_FLOAT128__
        MODEL_ROW(MPI_REAL16, float128, FLOATING, float128),
        MODEL_ROW(
            MPI_COMPLEX32, struct { float128 p[2]; }, ARITHMETIC, cfloat128),
#endif
#endif
    };
    const int n = (int)(sizeof all / sizeof all[0]);
    int i, used = 0, size;

    CHECK(n <= room, "room for %d types, there are %d", room, n);
    for (i = 0; i < n; i++) {
        if (all[i].type == MPI_DATATYPE_NULL)
            continue;
        CHECK_OK(MPI_Type_size(all[i].type, &size));
        if (size == MPI_UNDEFINED)
            continue;
        CHECK(size == (int)all[i].size, "%s has %d bytes, expected %zu", all[i].name, size, all[i].size);
        out[used++] = all[i];
    }
    return used;
}

/* What `rank` contributes. */
static inline void model_fill(const struct model_type *t, void *buf, int n, enum model_op op, int rank)
{
    if (t->fill)
        t->fill(buf, n, op, rank);
    else
        fill_logical(buf, t->size, n, op, rank);
}

/* The result over ranks first .. last, in `buf`; `spare` is as large. */
static inline void model_reduce(const struct model_type *t, void *buf, void *spare, int n, enum model_op op,
                                int first, int last)
{
    int rank, i;

    model_fill(t, buf, n, op, first);
    if (t->fill) {
        /* Logical operators turn any number into a truth value, also when there is nothing to combine
         * with. */
        for (rank = first + 1; rank <= last; rank++) {
            model_fill(t, spare, n, op, rank);
            t->apply(buf, spare, n, op);
            memcpy(buf, spare, (size_t)n * t->size);
        }
        return;
    }
    for (rank = first + 1; rank <= last; rank++) {
        fill_logical(spare, t->size, n, op, rank);
        for (i = 0; i < n; i++)
            apply_uchar((unsigned char *)spare + (size_t)i * t->size,
                        (unsigned char *)buf + (size_t)i * t->size, 1, op);
    }
}

/* Sums and products of zeros may have either sign, by the order of the operands: make them all positive. */
static inline void model_unsign(const struct model_type *t, void *buf, int n)
{
    const size_t len = (size_t)n * t->size;
    size_t i;

    if (t->apply == apply_float || t->apply == apply_cfloat)
        for (i = 0; i < len / sizeof(float); i++)
            ((float *)buf)[i] += 0.0f;
    else if (t->apply == apply_double || t->apply == apply_cdouble)
        for (i = 0; i < len / sizeof(double); i++)
            ((double *)buf)[i] += 0.0;
    else if (t->apply == apply_ldouble || t->apply == apply_cldouble)
        for (i = 0; i < len / sizeof(long double); i++)
            ((long double *)buf)[i] += 0.0L;
#ifdef __SIZEOF_FLOAT128__
    else if (t->apply == apply_float128 || t->apply == apply_cfloat128)
        for (i = 0; i < len / sizeof(float128); i++)
            ((float128 *)buf)[i] += 0;
#endif
}

/* Both buffers may change in the signs of zeros. */
#define CHECK_MODEL(t, op, n, got, want) model_check(__FILE__, __LINE__, (t), (op), (n), (got), (want))

static inline void model_check(const char *file, int line, const struct model_type *t, enum model_op op,
                               int n, void *got, void *want)
{
    const unsigned char *a = got, *b = want;
    const int is_ldouble = t->apply == apply_ldouble || t->apply == apply_cldouble;
    size_t at;

    model_unsign(t, got, n);
    model_unsign(t, want, n);
    for (at = 0; at < (size_t)n * t->size; at++) {
        if (is_ldouble && sizeof(long double) == 16 && at % 16 >= 10)
            continue; /* not part of the value */
        if (a[at] != b[at])
            test_fail(file, line, model_name(op),
                      "%s, element %zu of %d, byte %zu: expected 0x%02x, got 0x%02x", t->name, at / t->size,
                      n, at % t->size, b[at], a[at]);
    }
}

#endif
