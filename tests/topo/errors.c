/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5: wrong arguments give the class and, with this library, a text with the values; also when only one of
 * the processes is wrong, and then to all of them. */
#include "mpitest.h"

/* Fails with this class; `says` stands in the text of the process that knows. */
#define FAILS(call, class, says) check_fails(__LINE__, (call), (class), (says))

static void check_fails(int line, int rc, int class, const char *says)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len;

    CHECK(test_class(rc) == class, "line %d: expected class %d, got %d", line, class, test_class(rc));
    MPI_Error_string(rc, text, &len);
    if (test_is_parley())
        CHECK(strstr(text, says), "line %d: no \"%s\" in \"%s\"", line, says, text);
}

static void check_cart(void)
{
    const int too_many = test_size + 1, last = test_rank == test_size - 1;
    int i = 0, j = 0;
    MPI_Comm comm;

    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){ 2, 0 }, (int[]){ 0, 0 }, 0, &comm), MPI_ERR_DIMS, "dims[1] is 0");
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ -2 }, &i, 0, &comm), MPI_ERR_DIMS, "dims[0] is -2");
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, &too_many, &i, 0, &comm), MPI_ERR_DIMS, "the communicator has");
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 3, (int[]){ 1 << 30, 1 << 30, 1 << 30 }, (int[]){ 0, 0, 0 }, 0, &comm),
          MPI_ERR_DIMS, "1073741824");
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, last ? &too_many : (int[]){ 1 }, &i, 0, &comm), MPI_ERR_DIMS,
          last ? "the communicator has" : "at rank");
    if (test_size > 1)
        FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ 1 }, &last, 0, &comm), MPI_ERR_ARG, "do not agree");

    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){ test_size, 1 }, (int[]){ 0, 1 }, 0, &comm));
    FAILS(MPI_Cart_rank(comm, (int[]){ test_size, 0 }, &i), MPI_ERR_ARG, "coords[0]");
    FAILS(MPI_Cart_rank(comm, (int[]){ -1, 0 }, &i), MPI_ERR_ARG, "coords[0] is -1");
    FAILS(MPI_Cart_rank(comm, NULL, &i), MPI_ERR_ARG, "coords is NULL");
    FAILS(MPI_Cart_coords(comm, test_size, 2, (int[]){ 0, 0 }), MPI_ERR_RANK, "rank");
    FAILS(MPI_Cart_shift(comm, 2, 1, &i, &j), MPI_ERR_DIMS, "direction is 2");
    FAILS(MPI_Cart_shift(comm, -1, 1, &i, &j), MPI_ERR_DIMS, "direction is -1");
    FAILS(MPI_Graphdims_get(comm, &i, &j), MPI_ERR_TOPOLOGY, "has a cartesian topology");
    FAILS(MPI_Dist_graph_neighbors_count(comm, &i, &j, &i), MPI_ERR_TOPOLOGY, "needs a distributed graph");
    FAILS(MPI_Cart_sub(comm, NULL, &(MPI_Comm){ MPI_COMM_NULL }), MPI_ERR_ARG, "remain_dims is NULL");
    if (test_size > 1)
        FAILS(MPI_Cart_sub(comm, (int[]){ last, 1 }, &(MPI_Comm){ MPI_COMM_NULL }), MPI_ERR_ARG, "do not agree");
    CHECK_OK(MPI_Comm_free(&comm));
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &i), MPI_ERR_TOPOLOGY, "MPI_COMM_WORLD has no topology");
    FAILS(MPI_Cart_map(MPI_COMM_WORLD, 1, &too_many, &i, &j), MPI_ERR_DIMS, "the communicator has");
}

static void check_graph(void)
{
    int index[2] = { 1, 0 }, edges[1] = { 1 }, zero = 0, i;
    MPI_Comm comm;

    FAILS(MPI_Graph_create(MPI_COMM_WORLD, test_size + 1, index, edges, 0, &comm), MPI_ERR_ARG, "nnodes is");
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm), MPI_ERR_RANK, "edges[0] is 1");
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, NULL, 0, &comm), MPI_ERR_ARG, "edges is NULL");
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){ -1 }, edges, 0, &comm), MPI_ERR_ARG, "index[0] is -1");
    if (test_size > 1) {
        FAILS(MPI_Graph_create(MPI_COMM_WORLD, 2, index, &zero, 0, &comm), MPI_ERR_ARG, "index[1] is 0");
        FAILS(MPI_Graph_create(MPI_COMM_WORLD, 2, (int[]){ 0, 1 }, test_rank ? edges : &zero, 0, &comm), MPI_ERR_ARG,
              "do not agree");
    }
    FAILS(MPI_Graph_map(MPI_COMM_WORLD, 1, index, edges, &i), MPI_ERR_RANK, "edges[0] is 1");
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 1, &zero, NULL, 0, &comm));
    if (comm == MPI_COMM_NULL)
        return;
    FAILS(MPI_Graph_neighbors_count(comm, 1, &i), MPI_ERR_RANK, "rank");
    FAILS(MPI_Cartdim_get(comm, &i), MPI_ERR_TOPOLOGY, "has a graph topology");
    CHECK_OK(MPI_Comm_free(&comm));
}

static void check_dist_graph(void)
{
    int zero = 0, one = 1, minus = -1, far = test_size;
    const int last = test_rank == test_size - 1;
    MPI_Comm comm;

#define ADJACENT(source, sourceweight, dest, destweight) \
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, source, sourceweight, 1, dest, destweight, MPI_INFO_NULL, 0, \
                                   &comm)
#define TOLD(source, degree, dest, weight) \
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, dest, weight, MPI_INFO_NULL, 0, &comm)
    FAILS(ADJACENT(&far, &one, &zero, &one), MPI_ERR_RANK, "sources[0] is");
    FAILS(ADJACENT(&zero, &one, &minus, &one), MPI_ERR_RANK, "destinations[0] is -1");
    FAILS(ADJACENT(&zero, &minus, &zero, &one), MPI_ERR_ARG, "sourceweights[0] is -1");
    FAILS(ADJACENT(&zero, &one, &zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG, "destweights is MPI_WEIGHTS_EMPTY");
    FAILS(ADJACENT(&zero, NULL, &zero, &one), MPI_ERR_ARG, "sourceweights is NULL");
    FAILS(ADJACENT(&zero, MPI_UNWEIGHTED, &zero, &one), MPI_ERR_ARG, "sourceweights is MPI_UNWEIGHTED");
    FAILS(TOLD(&far, &one, &zero, &one), MPI_ERR_RANK, "sources[0] is");
    FAILS(TOLD(&zero, &minus, &zero, &one), MPI_ERR_ARG, "degrees[0] is -1");
    FAILS(TOLD(&zero, &one, &far, &one), MPI_ERR_RANK, "destinations[0] is");
    FAILS(TOLD(&zero, &one, NULL, &one), MPI_ERR_ARG, "destinations is NULL");
    FAILS(TOLD(&zero, &one, &zero, &minus), MPI_ERR_ARG, "weights[0] is -1");
    FAILS(TOLD(&zero, &one, &zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG, "weights is MPI_WEIGHTS_EMPTY");
    FAILS(TOLD(last ? &far : &zero, &one, &zero, &one), MPI_ERR_RANK, last ? "sources[0] is" : "at rank");
    if (test_size > 1)
        FAILS(TOLD(&zero, &one, &zero, last ? MPI_UNWEIGHTED : &one), MPI_ERR_ARG, "all or none");
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 2, (int[]){ 0, 0 }, (int[]){ 0x7fffffff, 2 }, &zero, MPI_UNWEIGHTED,
                                MPI_INFO_NULL, 0, &comm),
          MPI_ERR_ARG, "2147483649");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_cart();
    check_graph();
    check_dist_graph();
    return test_end();
}
