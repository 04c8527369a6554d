/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.2, annex A: every named datatype moves as many elements as asked, and only their data: the
 * gaps inside pair types, and what lies behind the last element, keep the receiver's bytes (§5.1: a type map
 * has no gaps). */
#include "mpitest.h"

#include <complex.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

enum { TAG = 3, GUARD = 64, MOST = 70000 };

/* An element is one or two pieces of data; between and behind them may be gaps. */
struct item {
    MPI_Datatype type;
    const char *name;
    int size; /* sum of the pieces as MPI counts them; 0: ask the library, no gaps */
    size_t extent;
    size_t checked[2]; /* bytes that carry the value, from the start of the piece */
    size_t piece[2];   /* bytes of the piece */
    size_t second;     /* offset of the second piece */
};

#define PLAIN(T, C)                                                             \
    {                                                                           \
        T, #T, (int)sizeof(C), sizeof(C), { sizeof(C), 0 }, { sizeof(C), 0 }, 0 \
    }
#define PAIR(T, C)                                                       \
    {                                                                    \
        T, #T, (int)(sizeof(C) + sizeof(int)), sizeof(struct {           \
            C v;                                                         \
            int i;                                                       \
        }),                                                              \
            { VALUE_BYTES(C), sizeof(int) }, { sizeof(C), sizeof(int) }, \
            offsetof(                                                    \
                struct {                                                 \
                    C v;                                                 \
                    int i;                                               \
                },                                                       \
                i)                                                       \
    }
/* The x87 format has 10 bytes of value in 16; what happens to the other 6 is nobody's business. */
#define VALUE_BYTES(C) (sizeof(C) == sizeof(long double) && LDBL_MANT_DIG == 64 ? 10 : sizeof(C))
#define FORTRAN(T)                         \
    {                                      \
        T, #T, 0, 0, { 0, 0 }, { 0, 0 }, 0 \
    }

static struct item items[128];
static int n_items;

static void add(const struct item *more, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (more[i].type != MPI_DATATYPE_NULL)
            items[n_items++] = more[i];
}

/* Handles need not be constants in every MPI, so the table is filled at run time. */
static void list_types(void)
{
    const struct item c_types[] = {
        PLAIN(MPI_CHAR, char),
        PLAIN(MPI_SIGNED_CHAR, signed char),
        PLAIN(MPI_UNSIGNED_CHAR, unsigned char),
        PLAIN(MPI_BYTE, char),
        PLAIN(MPI_PACKED, char),
        PLAIN(MPI_WCHAR, wchar_t),
        PLAIN(MPI_SHORT, short),
        PLAIN(MPI_UNSIGNED_SHORT, short),
        PLAIN(MPI_INT, int),
        PLAIN(MPI_UNSIGNED, int),
        PLAIN(MPI_LONG, long),
        PLAIN(MPI_UNSIGNED_LONG, long),
        PLAIN(MPI_LONG_LONG, long long),
        PLAIN(MPI_LONG_LONG_INT, long long),
        PLAIN(MPI_UNSIGNED_LONG_LONG, long long),
        PLAIN(MPI_FLOAT, float),
        PLAIN(MPI_DOUBLE, double),
        PLAIN(MPI_C_BOOL, bool),
        PLAIN(MPI_INT8_T, int8_t),
        PLAIN(MPI_INT16_T, int16_t),
        PLAIN(MPI_INT32_T, int32_t),
        PLAIN(MPI_INT64_T, int64_t),
        PLAIN(MPI_UINT8_T, uint8_t),
        PLAIN(MPI_UINT16_T, uint16_t),
        PLAIN(MPI_UINT32_T, uint32_t),
        PLAIN(MPI_UINT64_T, uint64_t),
        PLAIN(MPI_AINT, MPI_Aint),
        PLAIN(MPI_OFFSET, MPI_Offset),
        PLAIN(MPI_COUNT, MPI_Count),
        PLAIN(MPI_C_COMPLEX, float complex),
        PLAIN(MPI_C_FLOAT_COMPLEX, float complex),
        PLAIN(MPI_C_DOUBLE_COMPLEX, double complex),
        { MPI_LONG_DOUBLE,
          "MPI_LONG_DOUBLE",
          sizeof(long double),
          sizeof(long double),
          { VALUE_BYTES(long double), 0 },
          { sizeof(long double), 0 },
          0 },
        { MPI_C_LONG_DOUBLE_COMPLEX,
          "MPI_C_LONG_DOUBLE_COMPLEX",
          2 * sizeof(long double),
          2 * sizeof(long double),
          { VALUE_BYTES(long double), VALUE_BYTES(long double) },
          { sizeof(long double), sizeof(long double) },
          sizeof(long double) },
        PAIR(MPI_FLOAT_INT, float),
        PAIR(MPI_DOUBLE_INT, double),
        PAIR(MPI_LONG_INT, long),
        PAIR(MPI_2INT, int),
        PAIR(MPI_SHORT_INT, short),
        PAIR(MPI_LONG_DOUBLE_INT, long double),
    };
    const struct item fortran_types[] = {
        FORTRAN(MPI_LOGICAL),
        FORTRAN(MPI_INTEGER),
        FORTRAN(MPI_REAL),
        FORTRAN(MPI_COMPLEX),
        FORTRAN(MPI_DOUBLE_PRECISION),
        FORTRAN(MPI_DOUBLE_COMPLEX),
        FORTRAN(MPI_CHARACTER),
        FORTRAN(MPI_2REAL),
        FORTRAN(MPI_2DOUBLE_PRECISION),
        FORTRAN(MPI_2INTEGER),
        FORTRAN(MPI_INTEGER1),
        FORTRAN(MPI_INTEGER2),
        FORTRAN(MPI_INTEGER4),
        FORTRAN(MPI_INTEGER8),
        FORTRAN(MPI_REAL4),
        FORTRAN(MPI_REAL8),
        FORTRAN(MPI_COMPLEX8),
        FORTRAN(MPI_COMPLEX16),
#if MPI_VERSION >= 5
        FORTRAN(MPI_LOGICAL1),
        FORTRAN(MPI_LOGICAL2),
        FORTRAN(MPI_LOGICAL4),
        FORTRAN(MPI_LOGICAL8),
        FORTRAN(MPI_LOGICAL16),
        FORTRAN(MPI_INTEGER16),
        FORTRAN(MPI_REAL2),
        FORTRAN(MPI_REAL16),
        FORTRAN(MPI_COMPLEX4),
        FORTRAN(MPI_COMPLEX32),
        FORTRAN(MPI_CXX_BOOL),
        FORTRAN(MPI_CXX_FLOAT_COMPLEX),
        FORTRAN(MPI_CXX_DOUBLE_COMPLEX),
        FORTRAN(MPI_CXX_LONG_DOUBLE_COMPLEX),
#endif
    };

    add(c_types, sizeof c_types / sizeof c_types[0]);
    add(fortran_types, sizeof fortran_types / sizeof fortran_types[0]);
}

/* 0 if this library has no such type. */
static int complete_item(struct item *it)
{
    int size = -1;

    CHECK_OK(MPI_Type_size(it->type, &size));
    if (it->size) {
        CHECK(size == it->size, "MPI_Type_size of %s: expected %d, got %d", it->name, it->size, size);
        return 1;
    }
    if (size == MPI_UNDEFINED || size == 0)
        return 0;
    it->extent = it->piece[0] = it->checked[0] = (size_t)size;
    return 1;
}

static void check_element(const struct item *it, int n, int i, const unsigned char *came,
                          const unsigned char *sent)
{
    size_t k, at;

    for (k = 0; k < 2; k++) {
        at = k * it->second;
        CHECK(it->piece[k] == 0 || memcmp(came + at, sent + at, it->checked[k]) == 0,
              "%s, element %d of %d, piece at %zu is not what was sent", it->name, i, n, at);
    }
    for (at = it->piece[0]; at < it->extent; at++)
        CHECK(!it->piece[1] || (at >= it->second && at < it->second + it->piece[1]) ||
                  came[at] == TEST_CANARY,
              "%s, element %d of %d: the gap at byte %zu was overwritten with 0x%02x", it->name, i, n, at,
              came[at]);
}

static void run(const struct item *it, int n, unsigned char *out, unsigned char *in, unsigned char *sent)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    const size_t len = (size_t)n * it->extent;
    MPI_Status st = test_dirty_status();
    int i, count = -1;

    test_fill(out, len, test_key(test_rank, n, it->size));
    test_fill(sent, len, test_key(left, n, it->size));
    memset(in, TEST_CANARY, len + GUARD);
    CHECK_OK(MPI_Sendrecv(out, n, it->type, right, TAG, in, n + 1, it->type, left, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Get_count(&st, it->type, &count));
    CHECK(count == n, "%s: expected count %d, got %d", it->name, n, count);
    for (i = 0; i < n; i++)
        check_element(it, n, i, in + (size_t)i * it->extent, sent + (size_t)i * it->extent);
    CHECK_UNTOUCHED(in + len, GUARD);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 3, 5, 10, 11, 41, 1000, 9000 };
    unsigned char *out, *in, *sent;
    size_t c;
    int i;

    test_begin(&argc, &argv);
    list_types();
    out = test_alloc((size_t)MOST * 32 + GUARD);
    in = test_alloc((size_t)MOST * 32 + GUARD);
    sent = test_alloc((size_t)MOST * 32 + GUARD);
    for (i = 0; i < n_items; i++) {
        if (!complete_item(&items[i]))
            continue;
        for (c = 0; c < sizeof counts / sizeof counts[0]; c++)
            run(&items[i], counts[c], out, in, sent);
        if (items[i].piece[1] || i % 8 == (int)(test_seed % 8))
            run(&items[i], MOST, out, in, sent);
    }
    free(out);
    free(in);
    free(sent);
    return test_end();
}
