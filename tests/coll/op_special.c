/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.2, §6.9.4: reductions of values at the edge: integers that overflow wrap, buffers may have any
 * alignment, infinities; what Parley promises beyond the standard: NaN of one rank is the greatest and the least
 * value for all. No predefined operator can be freed; MPI_Reduce_local refuses operands that overlap. */
#include "mpitest.h"

#include <limits.h>
#include <math.h>

enum { N = 37 };

/* Rank i contributes 2^31 - 1 - i and the like; the sum wraps. */
static void overflow(void)
{
    int in[N], out[N], i, rank;
    signed char small_in[N], small_out[N];

    for (i = 0; i < N; i++) {
        in[i] = i % 2 ? INT_MAX - test_rank : INT_MIN + test_rank;
        small_in[i] = (signed char)(i % 2 ? SCHAR_MAX - test_rank : SCHAR_MIN + test_rank);
    }
    CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(small_in, small_out, N, MPI_SIGNED_CHAR, MPI_PROD, MPI_COMM_WORLD));
    for (i = 0; i < N; i++) {
        unsigned sum = 0, product = 1;

        for (rank = 0; rank < test_size; rank++) {
            sum += i % 2 ? (unsigned)INT_MAX - (unsigned)rank : (unsigned)INT_MIN + (unsigned)rank;
            product *= (unsigned)(i % 2 ? SCHAR_MAX - rank : SCHAR_MIN + rank);
        }
        CHECK_INT((unsigned)out[i], sum);
        CHECK_INT((unsigned char)small_out[i], (unsigned char)product);
    }
    CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    for (i = 0; i < N; i++)
        CHECK_INT(out[i], i % 2 ? INT_MAX - (test_size - 1) : INT_MIN);
}

/* No operand lies where its type would. */
static void unaligned(void)
{
    static unsigned char in[N * 16 + 16], out[N * 16 + 16];
    int shift, i;
    double d;

    for (shift = 1; shift < 16; shift += 2) {
        for (i = 0; i < N; i++) {
            d = test_rank + i;
            memcpy(in + shift + (size_t)i * 8, &d, 8);
        }
        CHECK_OK(MPI_Allreduce(in + shift, out + 16 - shift, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (i = 0; i < N; i++) {
            memcpy(&d, out + 16 - shift + (size_t)i * 8, 8);
            CHECK(d == test_size * i + test_size * (test_size - 1) / 2, "shift %d, element %d: got %g", shift, i, d);
        }
    }
}

static void infinities(void)
{
    double in[2] = { test_rank == test_size - 1 ? HUGE_VAL : 1, test_rank == 0 ? -HUGE_VAL : 1 }, out[2];

    CHECK_OK(MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK(out[0] == HUGE_VAL && out[1] == (test_size == 1 ? -HUGE_VAL : 1), "got %g and %g", out[0], out[1]);
    CHECK_OK(MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(out[0] == HUGE_VAL && out[1] == -HUGE_VAL, "got %g and %g", out[0], out[1]);
}

/* Each rank in turn has the NaN. */
static void nans(void)
{
    struct {
        double value;
        int index;
    } pair, best;
    double in[N], out[N];
    int who, op, i;

    for (who = 0; who < test_size; who++)
        for (op = 0; op < 2; op++) {
            for (i = 0; i < N; i++)
                in[i] = i % 2 && test_rank == who ? (double)NAN : test_rank;
            CHECK_OK(MPI_Allreduce(in, out, N, MPI_DOUBLE, op ? MPI_MAX : MPI_MIN, MPI_COMM_WORLD));
            for (i = 0; i < N; i++)
                CHECK(i % 2 ? isnan(out[i]) : out[i] == (op ? test_size - 1 : 0), "rank %d has NaN: element %d is %g",
                      who, i, out[i]);
            CHECK_OK(MPI_Scan(in, out, N, MPI_DOUBLE, op ? MPI_MAX : MPI_MIN, MPI_COMM_WORLD));
            CHECK(!isnan(out[1]) == (test_rank < who), "rank %d has NaN: the scan gave %g", who, out[1]);
            pair.value = in[1];
            pair.index = test_rank;
            CHECK_OK(MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, op ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD));
            CHECK(isnan(best.value) && best.index == who, "rank %d has NaN: got %g of %d", who, best.value, best.index);
        }
}

static void free_predefined(void)
{
    const MPI_Op all[] = { MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                           MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP };
    MPI_Op op;
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        op = all[i];
        CHECK(MPI_Op_free(&op) != MPI_SUCCESS && op == all[i], "operator %zu was freed", i);
    }
}

static void overlap(void)
{
    int buf[N] = { 0 };

    CHECK_CLASS(MPI_Reduce_local(buf, buf, N, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_local(buf, buf + 1, N - 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_local(buf + 1, buf, N - 1, MPI_INT, MPI_MAX), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Reduce_local(buf, buf + N / 2, N / 2, MPI_INT, MPI_SUM));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    overflow();
    unaligned();
    infinities();
    if (test_is_parley()) {
        nans();
        free_predefined();
        overlap();
    }
    return test_end();
}
