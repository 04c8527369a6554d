/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.2: factors that do not rise and whose product is right; entries that stand keep standing; two that are
 * as close as any two; the examples of the standard. */
#include "mpitest.h"

enum { NODES = 3000 };

static void check_two(int nodes)
{
    int dims[2] = { 0, 0 }, low = 1;

    for (int i = 1; i * i <= nodes; i++)
        low = nodes % i == 0 ? i : low;
    CHECK_OK(MPI_Dims_create(nodes, 2, dims));
    CHECK_INT(dims[0], nodes / low);
    CHECK_INT(dims[1], low);
}

static void check_three(int nodes)
{
    int dims[3] = { 0, 0, 0 };

    CHECK_OK(MPI_Dims_create(nodes, 3, dims));
    CHECK(dims[0] >= dims[1] && dims[1] >= dims[2] && dims[2] >= 1, "%d, %d, %d", dims[0], dims[1], dims[2]);
    CHECK_INT(dims[0] * dims[1] * dims[2], nodes);
}

int main(int argc, char **argv)
{
    int two[2] = { 0, 0 }, fixed[3] = { 0, 3, 0 }, fails[3] = { 0, 3, 0 }, none = 0;

    test_begin(&argc, &argv);
    for (int nodes = 1; nodes <= NODES; nodes++) {
        check_two(nodes);
        check_three(nodes);
    }
    CHECK_OK(MPI_Dims_create(6, 2, two));
    CHECK(two[0] == 3 && two[1] == 2, "%d, %d", two[0], two[1]);
    CHECK_OK(MPI_Dims_create(6, 3, fixed));
    CHECK(fixed[0] == 2 && fixed[1] == 3 && fixed[2] == 1, "%d, %d, %d", fixed[0], fixed[1], fixed[2]);
    CHECK_CLASS(MPI_Dims_create(7, 3, fails), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(7, 3, (int[]){ 0, -1, 0 }), MPI_ERR_DIMS);
    CHECK_OK(MPI_Dims_create(1, 0, &none));
    return test_end();
}
