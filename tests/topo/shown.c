/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.6.2: blocks of a grid whose lengths differ from edge to edge, so that neighbours send them in different
 * ways: all lengths that the library may treat apart, by chance. */
#include "mpitest.h"

enum { CALLS = 300, MOST = 140000, SIDES = 4 };

static const int lengths[] = { 0, 1, 100, 560, 4000, 9000, 9216, 9217, 10000, 16383, 16384, 20000, 40000, 70000, MOST };

static MPI_Comm grid;
static int neighbor[SIDES];

/* Of the block that goes from `rank` to its place `i`; a kind of all calls, and now and then another. */
static int length(int call, int rank, int i)
{
    uint64_t state = test_key((uint64_t)call, 0, 71), own = test_key((uint64_t)call, (uint64_t)rank, 72 + (uint64_t)i);
    const size_t kinds = sizeof lengths / sizeof *lengths, few = 1 + test_below(&state, 3);
    const size_t kind = test_below(&state, kinds);

    return lengths[(kind + test_below(&own, few) * (1 + test_below(&state, kinds - 1))) % kinds];
}

static int content(int call, int rank, int i)
{
    return (call * 31 + rank * 7 + i) & 0x7f;
}

static void one(int call, char *out, char *in)
{
    int give[SIDES], get[SIDES], places[SIDES], i, at;

    for (i = 0; i < SIDES; i++) {
        places[i] = i * MOST;
        give[i] = length(call, test_rank, i);
        get[i] = neighbor[i] == MPI_PROC_NULL ? 0 : length(call, neighbor[i], i ^ 1);
        memset(out + places[i], content(call, test_rank, i), (size_t)give[i]);
    }
    memset(in, -1, SIDES * (size_t)MOST);
    CHECK_OK(MPI_Neighbor_alltoallv(out, give, places, MPI_CHAR, in, get, places, MPI_CHAR, grid));
    for (i = 0; i < SIDES; i++)
        for (at = 0; at < MOST; at += at < get[i] && at + 997 > get[i] && at < get[i] - 1 ? get[i] - 1 - at : 997)
            CHECK_INT(in[places[i] + at], at < get[i] ? content(call, neighbor[i], i ^ 1) : -1);
}

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, call;
    char *out, *in;

    test_begin(&argc, &argv);
    out = test_alloc(SIDES * (size_t)MOST);
    in = test_alloc(SIDES * (size_t)MOST);
    CHECK_OK(MPI_Dims_create(test_size, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    CHECK_OK(MPI_Cart_shift(grid, 0, 1, &neighbor[0], &neighbor[1]));
    CHECK_OK(MPI_Cart_shift(grid, 1, 1, &neighbor[2], &neighbor[3]));
    for (call = 0; call < CALLS; call++)
        one(call, out, in);
    CHECK_OK(MPI_Comm_free(&grid));
    free(out);
    free(in);
    return test_end();
}
