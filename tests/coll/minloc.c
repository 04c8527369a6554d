/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.4: MPI_MINLOC and MPI_MAXLOC give the extreme value and, among equal ones, the smallest index,
 * for all pair types; the gaps of the pairs stay untouched. */
#include "mpitest.h"

#include <stddef.h>

enum { N = 50 };

/* The values repeat, so that ties are frequent; the index is not the rank. */
static int value_of(int rank, int i)
{
    uint64_t state = test_key((uint64_t)rank, (uint64_t)i, 30);

    return (int)test_below(&state, 4) - 2;
}

static int index_of(int rank, int i)
{
    return (rank * 5 + i) % 11;
}

static void model(int i, int is_max, int *value, int *index)
{
    int rank, v, k;

    for (rank = 0; rank < test_size; rank++) {
        v = value_of(rank, i);
        k = index_of(rank, i);
        if (rank == 0 || (is_max ? v > *value : v < *value) || (v == *value && k < *index)) {
            *value = v;
            *index = k;
        }
    }
}

#define RUN(T, C)                                                                                     \
    do {                                                                                              \
        struct pair {                                                                                 \
            C v;                                                                                      \
            int i;                                                                                    \
        } in[N], out[N];                                                                              \
        const size_t gap = offsetof(struct pair, i) - sizeof(C);                                      \
        const size_t tail = sizeof(struct pair) - offsetof(struct pair, i) - sizeof(int);             \
        int k, value = 0, index = 0, is_max;                                                          \
                                                                                                      \
        for (is_max = 0; is_max < 2; is_max++) {                                                      \
            memset(in, 0, sizeof in);                                                                 \
            memset(out, TEST_CANARY, sizeof out);                                                     \
            for (k = 0; k < N; k++) {                                                                 \
                in[k].v = (C)value_of(test_rank, k);                                                  \
                in[k].i = index_of(test_rank, k);                                                     \
            }                                                                                         \
            CHECK_OK(MPI_Allreduce(in, out, N, T, is_max ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD)); \
            for (k = 0; k < N; k++) {                                                                 \
                model(k, is_max, &value, &index);                                                     \
                CHECK(out[k].v == (C)value && out[k].i == index,                                      \
                      "%s %s, element %d: expected (%d, %d), got "                                    \
                      "(%d, %d)",                                                                     \
                      #T, is_max ? "MAXLOC" : "MINLOC", k, value, index, (int)out[k].v, out[k].i);    \
                CHECK_UNTOUCHED((char *)&out[k].v + sizeof(C), gap);                                  \
                CHECK_UNTOUCHED((char *)&out[k].i + sizeof(int), tail);                               \
            }                                                                                         \
        }                                                                                             \
    } while (0)

/* Fortran pairs are two of the same. */
#define RUN_SAME(T, C)                                                                                \
    do {                                                                                              \
        C in[N][2], out[N][2];                                                                        \
        int k, value = 0, index = 0, is_max;                                                          \
                                                                                                      \
        for (is_max = 0; is_max < 2 && T != MPI_DATATYPE_NULL; is_max++) {                            \
            for (k = 0; k < N; k++) {                                                                 \
                in[k][0] = (C)value_of(test_rank, k);                                                 \
                in[k][1] = (C)index_of(test_rank, k);                                                 \
            }                                                                                         \
            CHECK_OK(MPI_Allreduce(in, out, N, T, is_max ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD)); \
            for (k = 0; k < N; k++) {                                                                 \
                model(k, is_max, &value, &index);                                                     \
                CHECK(out[k][0] == (C)value && out[k][1] == (C)index, "%s %s, element %d", #T,        \
                      is_max ? "MAXLOC" : "MINLOC", k);                                               \
            }                                                                                         \
        }                                                                                             \
    } while (0)

/* The pair of two types; null where there is none (MPI 5.0 §6.9.4). */
static void value_index(void)
{
#if MPI_VERSION >= 5
    MPI_Datatype pair = MPI_BYTE;

    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT, "the pair of MPI_DOUBLE and MPI_INT is another type");
    CHECK_OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair));
    CHECK(pair == MPI_2INT, "the pair of MPI_INT and MPI_INT is another type");
    CHECK_OK(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair));
    CHECK(pair == MPI_DATATYPE_NULL, "there is a pair of MPI_CHAR and MPI_DOUBLE");
#endif
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    value_index();
    RUN(MPI_FLOAT_INT, float);
    RUN(MPI_DOUBLE_INT, double);
    RUN(MPI_LONG_INT, long);
    RUN(MPI_2INT, int);
    RUN(MPI_SHORT_INT, short);
    RUN(MPI_LONG_DOUBLE_INT, long double);
    RUN_SAME(MPI_2REAL, float);
    RUN_SAME(MPI_2DOUBLE_PRECISION, double);
    RUN_SAME(MPI_2INTEGER, int);
    return test_end();
}
