/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.1, §7.4.2: a copy of a communicator has its topology, also when the first one is gone; one from a split
 * or a group has none. */
#include "mpitest.h"

static int topology_of(MPI_Comm comm)
{
    int status = -1;

    CHECK_OK(MPI_Topo_test(comm, &status));
    return status;
}

/* Frees `comm`. */
static void check_copies(MPI_Comm comm, int kind)
{
    MPI_Comm copy, second, part;
    MPI_Group group;

    CHECK_INT(topology_of(comm), kind);
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &part));
    CHECK_INT(topology_of(part), MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_create(comm, group, &part));
    CHECK_INT(topology_of(part), MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(topology_of(copy), kind);
    CHECK_OK(MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &second));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_INT(topology_of(second), kind);
    if (kind == MPI_CART) {
        int dim = -1, period = -1, coord = -1;

        CHECK_OK(MPI_Cart_get(second, 1, &dim, &period, &coord));
        CHECK(dim == test_size && period == 1 && coord == test_rank, "%d, %d, %d", dim, period, coord);
    }
    CHECK_OK(MPI_Comm_free(&second));
}

int main(int argc, char **argv)
{
    int index[64], edges[64];
    MPI_Comm comm;

    test_begin(&argc, &argv);
    if (test_size > 64)
        test_skip("made for 64 ranks and fewer");
    CHECK_INT(topology_of(MPI_COMM_WORLD), MPI_UNDEFINED);
    CHECK_INT(topology_of(MPI_COMM_SELF), MPI_UNDEFINED);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &(int){ 1 }, 0, &comm));
    check_copies(comm, MPI_CART);
    for (int i = 0; i < test_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % test_size;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &comm));
    check_copies(comm, MPI_GRAPH);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_copies(comm, MPI_DIST_GRAPH);
    /* a communicator that has a topology may get another one */
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &(int){ 0 }, 0, &comm));
    {
        MPI_Comm other;

        CHECK_OK(MPI_Graph_create(comm, test_size, index, edges, 0, &other));
        CHECK_INT(topology_of(comm), MPI_CART);
        CHECK_OK(MPI_Comm_free(&comm));
        check_copies(other, MPI_GRAPH);
    }
    return test_end();
}
