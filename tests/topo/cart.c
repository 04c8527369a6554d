/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.1, §8.5.5, §8.5.6: random grids of up to five dimensions, some too small for all processes: every rank
 * has the coordinates that counting gives, coordinates wrap where they may, shifts lead where stepping leads. */
#include "mpitest.h"

enum { CASES = 60, DIMS = 5 };

static uint64_t state; /* the same at all ranks */

/* The model: coordinates by counting up from 0, the last dimension fastest. */
static void count_to(int ndims, const int *dims, int rank, int *coords)
{
    for (int i = 0; i < ndims; i++)
        coords[i] = 0;
    while (rank-- > 0) {
        int i = ndims - 1;

        while (++coords[i] == dims[i])
            coords[i--] = 0;
    }
}

static int random_grid(int *ndims, int *dims, int *periods)
{
    int size = 1;

    *ndims = (int)test_below(&state, DIMS + 1);
    for (int i = 0; i < *ndims; i++) {
        dims[i] = 1 + (int)test_below(&state, (size_t)(test_size / size));
        periods[i] = (int)test_below(&state, 2) * 7; /* any true value */
        size *= dims[i];
    }
    return size;
}

/* One step at a time, from the edge of a periodic dimension to its other end. */
static int step_to(MPI_Comm comm, int direction, int disp, const int *dims, const int *periods, const int *own)
{
    int coords[DIMS], rank;

    memcpy(coords, own, sizeof coords);
    for (int i = disp; i != 0; i += disp > 0 ? -1 : 1) {
        coords[direction] += disp > 0 ? 1 : -1;
        if (periods[direction])
            coords[direction] = (coords[direction] + dims[direction]) % dims[direction];
        else if (coords[direction] < 0 || coords[direction] >= dims[direction])
            return MPI_PROC_NULL;
    }
    CHECK_OK(MPI_Cart_rank(comm, coords, &rank));
    return rank;
}

static void check_shifts(MPI_Comm comm, int ndims, const int *dims, const int *periods, const int *own)
{
    for (int direction = 0; direction < ndims; direction++) {
        for (int disp = -9; disp <= 9; disp++) {
            int source = -9, dest = -9;

            CHECK_OK(MPI_Cart_shift(comm, direction, disp, &source, &dest));
            CHECK_INT(dest, step_to(comm, direction, disp, dims, periods, own));
            CHECK_INT(source, step_to(comm, direction, -disp, dims, periods, own));
        }
    }
}

static void check_coords(MPI_Comm comm, int ndims, const int *dims, const int *periods, int size)
{
    for (int rank = 0; rank < size; rank++) {
        int want[DIMS], came[DIMS + 1], back = -1;

        count_to(ndims, dims, rank, want);
        memset(came, TEST_CANARY, sizeof came);
        CHECK_OK(MPI_Cart_coords(comm, rank, DIMS + 1, came));
        for (int i = 0; i < ndims; i++)
            CHECK_INT(came[i], want[i]);
        CHECK_UNTOUCHED((char *)(came + ndims), sizeof came - (size_t)ndims * sizeof *came);
        for (int i = 0; i < ndims; i++) {
            if (periods[i])
                came[i] += dims[i] * ((int)test_below(&(uint64_t){ test_key(1, (uint64_t)rank, (uint64_t)i) }, 9) - 4);
        }
        CHECK_OK(MPI_Cart_rank(comm, ndims ? came : NULL, &back));
        CHECK_INT(back, rank);
    }
}

static void check_grid(MPI_Comm comm, int ndims, const int *dims, const int *periods, int size)
{
    int came_dims[DIMS + 1], came_periods[DIMS + 1], own[DIMS + 1], want[DIMS], n = -1, rank = -1, status = -1;

    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_INT(n, size);
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Topo_test(comm, &status));
    CHECK_INT(status, MPI_CART);
    CHECK_OK(MPI_Cartdim_get(comm, &n));
    CHECK_INT(n, ndims);
    memset(own, TEST_CANARY, sizeof own);
    CHECK_OK(MPI_Cart_get(comm, DIMS + 1, came_dims, came_periods, own));
    CHECK_UNTOUCHED((char *)(own + ndims), sizeof own - (size_t)ndims * sizeof *own);
    count_to(ndims, dims, rank, want);
    for (int i = 0; i < ndims; i++) {
        CHECK_INT(came_dims[i], dims[i]);
        CHECK_INT(came_periods[i] != 0, periods[i] != 0);
        CHECK_INT(own[i], want[i]);
    }
    check_coords(comm, ndims, dims, periods, size);
    check_shifts(comm, ndims, dims, periods, want);
}

/* Every process says its old rank: each is there once. */
static void check_members(MPI_Comm comm, int size)
{
    int seen[64] = { 0 }, ranks[64];

    if (size > 64)
        return;
    CHECK_OK(MPI_Allgather(&test_rank, 1, MPI_INT, ranks, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        CHECK(!seen[ranks[i] % 64]++, "process %d is there twice", ranks[i]);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    state = test_key(8, 5, 1);
    for (int i = 0; i < CASES; i++) {
        int ndims, dims[DIMS], periods[DIMS], new_rank = -9, came;
        const int size = random_grid(&ndims, dims, periods), reorder = i % 2;
        MPI_Comm comm = MPI_COMM_WORLD;

        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &comm));
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &new_rank));
        CHECK(new_rank == MPI_UNDEFINED || (new_rank >= 0 && new_rank < size), "mapped to %d", new_rank);
        if (!reorder)
            CHECK_INT(comm == MPI_COMM_NULL, test_rank >= size);
        CHECK_OK(MPI_Allreduce(&(int){ comm != MPI_COMM_NULL }, &came, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(came, size);
        if (comm == MPI_COMM_NULL)
            continue;
        check_grid(comm, ndims, dims, periods, size);
        check_members(comm, size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return test_end();
}
