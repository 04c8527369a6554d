/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.4: distributed arrays. The shares of all processes of a grid together are the array, each element
 * once, in all distributions and both orders; rank 0 sends each process its share of an array and gets it back. */
#include "mpitest.h"

#include <limits.h>

enum { TAG = 8, MOST = 4000, DIMENSIONS = 3 };

struct grid {
    int ndims, gsizes[DIMENSIONS], distribs[DIMENSIONS], dargs[DIMENSIONS], psizes[DIMENSIONS], order;
};

static int elements(const struct grid *g)
{
    int i, n = 1;

    for (i = 0; i < g->ndims; i++)
        n *= g->gsizes[i];
    return n;
}

/* The rank that owns element n of the array, as the standard puts it. */
static int owner(const struct grid *g, int n)
{
    int coords[DIMENSIONS], rank = 0, i, k;

    for (k = 0; k < g->ndims; k++) {
        int place, block;
        i = g->order == MPI_ORDER_C ? g->ndims - 1 - k : k;
        place = n % g->gsizes[i];
        n /= g->gsizes[i];
        block = g->dargs[i];
        if (g->distribs[i] == MPI_DISTRIBUTE_NONE)
            block = g->gsizes[i];
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = g->distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (g->gsizes[i] + g->psizes[i] - 1) / g->psizes[i];
        coords[i] = place / block % g->psizes[i];
    }
    for (i = 0; i < g->ndims; i++)
        rank = rank * g->psizes[i] + coords[i];
    return rank;
}

static MPI_Datatype make_share(const struct grid *g, int rank)
{
    MPI_Datatype type;
    int i, procs = 1;

    for (i = 0; i < g->ndims; i++)
        procs *= g->psizes[i];
    CHECK_OK(MPI_Type_create_darray(procs, rank, g->ndims, g->gsizes, g->distribs, g->dargs, g->psizes, g->order,
                                    MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void check_share(const struct grid *g, int rank)
{
    static int array[MOST], packed[MOST];
    MPI_Datatype type = make_share(g, rank);
    MPI_Aint lb, extent;
    int n = elements(g), at = 0, i, k = 0;

    for (i = 0; i < n; i++)
        array[i] = i;
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_INT(lb, 0);
    CHECK_INT(extent, 4 * n);
    CHECK_OK(MPI_Pack(array, 1, type, packed, sizeof packed, &at, MPI_COMM_SELF));
    for (i = 0; i < n; i++)
        if (owner(g, i) == rank) {
            CHECK(k < at / 4 && packed[k] == i, "rank %d: element %d is not at place %d of its share", rank, i, k);
            k++;
        }
    CHECK_INT(at, 4 * k);
    CHECK_OK(MPI_Type_free(&type));
}

static struct grid random_grid(uint64_t *state)
{
    static const int kinds[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
    struct grid g;
    int i;

    g.ndims = 1 + (int)test_below(state, DIMENSIONS);
    g.order = test_below(state, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (i = 0; i < g.ndims; i++) {
        g.gsizes[i] = 1 + (int)test_below(state, 13);
        g.distribs[i] = kinds[test_below(state, 3)];
        g.psizes[i] = g.distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + (int)test_below(state, 4);
        g.dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (g.distribs[i] == MPI_DISTRIBUTE_CYCLIC && test_below(state, 3))
            g.dargs[i] = 1 + (int)test_below(state, 5);
        else if (g.distribs[i] == MPI_DISTRIBUTE_BLOCK && test_below(state, 3))
            g.dargs[i] = (g.gsizes[i] + g.psizes[i] - 1) / g.psizes[i] + (int)test_below(state, 3);
    }
    return g;
}

static void check_random(int cases)
{
    uint64_t state = test_key(1, 2, 3);
    int i, k, rank, procs;

    for (i = 0; i < cases; i++) {
        struct grid g = random_grid(&state);
        for (k = 0, procs = 1; k < g.ndims; k++)
            procs *= g.psizes[k];
        for (rank = 0; rank < procs; rank++)
            check_share(&g, rank);
    }
}

/* Rank 0 has the array; all have their shares, packed. */
static void check_scatter(int distrib)
{
    struct grid g = { 2, { 37, 50 }, { distrib, MPI_DISTRIBUTE_BLOCK }, { MPI_DISTRIBUTE_DFLT_DARG, 0 }, { 0, 1 },
                      MPI_ORDER_C };
    static int array[MOST], share[MOST], back[MOST];
    int n = elements(&g), own = 0, rank, i;
    MPI_Request req;

    g.psizes[0] = test_size;
    g.dargs[1] = MPI_DISTRIBUTE_DFLT_DARG;
    for (i = 0; i < n; i++) {
        array[i] = 1000 + i;
        own += owner(&g, i) == test_rank;
    }
    CHECK_OK(MPI_Irecv(share, own, MPI_INT, 0, TAG, MPI_COMM_WORLD, &req));
    for (rank = 0; test_rank == 0 && rank < test_size; rank++) {
        MPI_Datatype type = make_share(&g, rank);
        CHECK_OK(MPI_Send(array, 1, type, rank, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Type_free(&type));
    }
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(share, own, MPI_INT, 0, TAG, MPI_COMM_WORLD, &req));
    for (rank = 0; test_rank == 0 && rank < test_size; rank++) {
        MPI_Datatype type = make_share(&g, rank);
        CHECK_OK(MPI_Recv(back, 1, type, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Type_free(&type));
    }
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    for (i = 0; test_rank == 0 && i < n; i++)
        CHECK_INT(back[i], array[i]);
}

/* A block longer than the array, whose end no number could tell. */
static void check_long_blocks(int distrib)
{
    const MPI_Count gsizes[] = { 10, (MPI_Count)1 << 33 };
    const int distribs[] = { distrib, MPI_DISTRIBUTE_BLOCK }, psizes[] = { 2, 1 };
    const int dargs[] = { INT_MAX, MPI_DISTRIBUTE_DFLT_DARG };
    MPI_Datatype type;
    MPI_Count size;
    int rank;

    for (rank = 0; rank < 2; rank++) {
        CHECK_OK(MPI_Type_create_darray_c(2, rank, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_BYTE, &type));
        CHECK_OK(MPI_Type_size_c(type, &size));
        CHECK_INT(size, rank ? 0 : 10 * gsizes[1]);
        CHECK_OK(MPI_Type_free(&type));
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    if (test_rank == 0)
        check_random(300);
    check_long_blocks(MPI_DISTRIBUTE_BLOCK);
    check_long_blocks(MPI_DISTRIBUTE_CYCLIC);
    check_scatter(MPI_DISTRIBUTE_BLOCK);
    check_scatter(MPI_DISTRIBUTE_CYCLIC);
    return test_end();
}
