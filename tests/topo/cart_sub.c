/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.7: every choice of remaining dimensions of some grids: who belongs to a part, in which order, with which
 * dimensions; nothing remaining gives parts of no dimensions, of one process each. */
#include "mpitest.h"

enum { DIMS = 3 };

static void check_part(MPI_Comm grid, MPI_Comm part, const int *dims, const int *periods, const int *remain)
{
    int own[DIMS], size, want_size = 1, ndims = 0, want_dims = 0, status, kept[DIMS], wraps[DIMS], coords[DIMS];
    int rank, ranks[64], want_rank = 0;

    CHECK_OK(MPI_Comm_rank(grid, &rank));
    CHECK_OK(MPI_Cart_coords(grid, rank, DIMS, own));
    CHECK_OK(MPI_Topo_test(part, &status));
    CHECK_INT(status, MPI_CART);
    CHECK_OK(MPI_Cartdim_get(part, &ndims));
    CHECK_OK(MPI_Cart_get(part, DIMS, kept, wraps, coords));
    for (int i = 0; i < DIMS; i++) {
        if (!remain[i])
            continue;
        CHECK_INT(kept[want_dims], dims[i]);
        CHECK_INT(wraps[want_dims] != 0, periods[i]);
        CHECK_INT(coords[want_dims], own[i]);
        want_size *= dims[i];
        want_rank = want_rank * dims[i] + own[i];
        want_dims++;
    }
    CHECK_INT(ndims, want_dims);
    CHECK_OK(MPI_Comm_size(part, &size));
    CHECK_INT(size, want_size);
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, part));
    CHECK_INT(ranks[want_rank], rank);
    for (int i = 0; i < size; i++) {
        int other[DIMS];

        CHECK_OK(MPI_Cart_coords(grid, ranks[i], DIMS, other));
        for (int d = 0; d < DIMS; d++)
            CHECK(remain[d] || other[d] == own[d], "rank %d is of another part", ranks[i]);
    }
}

static void check_empty(MPI_Comm none)
{
    int n = -1, rank = -1, touched = 77;
    MPI_Comm again;

    CHECK_OK(MPI_Cartdim_get(none, &n));
    CHECK_INT(n, 0);
    CHECK_OK(MPI_Comm_size(none, &n));
    CHECK_INT(n, 1);
    CHECK_OK(MPI_Cart_rank(none, NULL, &rank));
    CHECK_INT(rank, 0);
    CHECK_OK(MPI_Cart_coords(none, 0, 1, &touched));
    CHECK_OK(MPI_Cart_get(none, 1, &touched, &touched, &touched));
    CHECK_INT(touched, 77);
    CHECK_OK(MPI_Cart_sub(none, NULL, &again));
    CHECK_OK(MPI_Cartdim_get(again, &n));
    CHECK_INT(n, 0);
    CHECK_OK(MPI_Comm_free(&again));
}

int main(int argc, char **argv)
{
    const int periods[DIMS] = { 1, 0, 1 };

    test_begin(&argc, &argv);
    if (test_size > 64)
        test_skip("made for 64 ranks and fewer");
    for (int first = 1; first <= test_size; first++) {
        int dims[DIMS] = { first, 0, 0 };
        MPI_Comm grid, part;

        CHECK_OK(MPI_Dims_create(test_size / first * first, DIMS, dims));
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, periods, 0, &grid));
        for (int choice = 0; choice < 1 << DIMS && grid != MPI_COMM_NULL; choice++) {
            const int remain[DIMS] = { choice & 1, choice & 2, choice & 4 };

            CHECK_OK(MPI_Cart_sub(grid, remain, &part));
            check_part(grid, part, dims, periods, remain);
            if (!choice)
                check_empty(part);
            CHECK_OK(MPI_Comm_free(&part));
        }
        if (grid != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&grid));
    }
    return test_end();
}
