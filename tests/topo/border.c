/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.6: at the border of a grid the call behaves like communication with MPI_PROC_NULL in that direction: what
 * the arguments say of that block is neither read nor written, so it may lie nowhere. */
#include "mpitest.h"

enum { LONG = 200000, FORMS = 3 };

static const MPI_Aint nowhere = 64;
static MPI_Comm grid;
static int below, above;

static void complete(MPI_Request *request, int form)
{
    if (form == 2)
        CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == 2)
        CHECK_OK(MPI_Request_free(request));
}

/* From absolute addresses; with none for neighbours that there are not. */
static void by_addresses(int len, int form)
{
    char *data = test_alloc(4 * (size_t)len + 4);
    const int counts[2] = { len, len };
    const MPI_Datatype types[2] = { MPI_CHAR, MPI_CHAR };
    MPI_Aint from[2], to[2];
    MPI_Request request;
    int i;

    memset(data, test_rank + 1, 2 * (size_t)len);
    memset(data + 2 * len, 0, 2 * (size_t)len);
    for (i = 0; i < 2; i++) {
        const int there = i ? above : below;

        MPI_Get_address(data + i * len, &from[i]);
        MPI_Get_address(data + (2 + i) * len, &to[i]);
        if (there == MPI_PROC_NULL)
            from[i] = to[i] = nowhere;
    }
    if (form == 0)
        CHECK_OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, grid));
    else if (form == 1)
        CHECK_OK(MPI_Ineighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, grid,
                                         &request));
    else
        CHECK_OK(MPI_Neighbor_alltoallw_init(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, grid,
                                             MPI_INFO_NULL, &request));
    if (form)
        complete(&request, form);
    for (i = 0; i < 2; i++) {
        const int there = i ? above : below;

        CHECK_INT(data[(2 + i) * len], there == MPI_PROC_NULL ? 0 : there + 1);
        CHECK_INT(data[(3 + i) * len - 1], there == MPI_PROC_NULL ? 0 : there + 1);
    }
    free(data);
}

/* With displacements far beyond the buffers there. */
static void by_displacements(int len)
{
    char *data = test_alloc(4 * (size_t)len + 4);
    const int counts[2] = { len, len };
    const int from[2] = { below == MPI_PROC_NULL ? 1 << 30 : 0, above == MPI_PROC_NULL ? 1 << 30 : len };

    memset(data, test_rank + 1, 2 * (size_t)len);
    memset(data + 2 * len, 0, 2 * (size_t)len);
    CHECK_OK(MPI_Neighbor_alltoallv(data, counts, from, MPI_CHAR, data + 2 * len, counts, from, MPI_CHAR, grid));
    CHECK_INT(data[2 * len], below == MPI_PROC_NULL ? 0 : below + 1);
    CHECK_INT(data[4 * len - 1], above == MPI_PROC_NULL ? 0 : above + 1);
    memset(data + 2 * len, 0, 2 * (size_t)len);
    CHECK_OK(MPI_Neighbor_allgatherv(data, len, MPI_CHAR, data + 2 * len, counts, from, MPI_CHAR, grid));
    CHECK_INT(data[2 * len], below == MPI_PROC_NULL ? 0 : below + 1);
    CHECK_INT(data[4 * len - 1], above == MPI_PROC_NULL ? 0 : above + 1);
    free(data);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 100, 700, 9000, 20000, LONG };
    const int periods = 0;
    size_t i;
    int form;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periods, 0, &grid));
    CHECK_OK(MPI_Cart_shift(grid, 0, 1, &below, &above));
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (form = 0; form < FORMS; form++)
            by_addresses(lengths[i], form);
        by_displacements(lengths[i]);
    }
    CHECK_OK(MPI_Comm_free(&grid));
    return test_end();
}
