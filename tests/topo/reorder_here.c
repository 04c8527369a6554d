/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.8: MPI_Cart_map and MPI_Graph_map are local: one process may call them alone, and if all do, each
 * new rank comes once. On whatever machine this is. */
#include "mpitest.h"

static void check_once(int new_rank)
{
    int all[64];

    CHECK(test_size <= 64, "too many ranks");
    CHECK_OK(MPI_Allgather(&new_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < test_size; i++) {
        int times = 0;

        for (int j = 0; j < test_size; j++)
            times += all[j] == i;
        CHECK_INT(times, 1);
    }
}

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, index[64], edges[64], new_rank;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Dims_create(test_size, 2, dims));
    if (test_rank == test_size - 1)
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &new_rank));
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &new_rank));
    check_once(new_rank);
    for (int i = 0; i < test_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % test_size;
    }
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, test_size, index, edges, &new_rank));
    check_once(new_rank);
    return test_end();
}
