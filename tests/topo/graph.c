/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.3: random graphs, with edges to oneself, edges twice, nodes without edges, fewer nodes than processes:
 * what was given comes back, as a whole and for each node; no nodes give no communicator. */
#include "mpitest.h"

enum { CASES = 40, NODES = 64, DEGREE = 6 };

static uint64_t state; /* the same at all ranks */

static int random_graph(int nodes, int *index, int *edges)
{
    int count = 0;

    for (int i = 0; i < nodes; i++) {
        for (int degree = (int)test_below(&state, DEGREE); degree > 0; degree--)
            edges[count++] = (int)test_below(&state, (size_t)nodes);
        index[i] = count;
    }
    return count;
}

static void check_graph(MPI_Comm comm, int nodes, int count, const int *index, const int *edges)
{
    int n = -1, m = -1, came_index[NODES + 1], came_edges[NODES * DEGREE + 1], near[DEGREE];

    CHECK_OK(MPI_Topo_test(comm, &n));
    CHECK_INT(n, MPI_GRAPH);
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_INT(n, nodes);
    CHECK_OK(MPI_Graphdims_get(comm, &n, &m));
    CHECK_INT(n, nodes);
    CHECK_INT(m, count);
    CHECK_OK(MPI_Graph_get(comm, NODES + 1, NODES * DEGREE + 1, came_index, came_edges));
    CHECK(memcmp(came_index, index, (size_t)nodes * sizeof *index) == 0, "another index");
    CHECK(memcmp(came_edges, edges, (size_t)count * sizeof *edges) == 0, "other edges");
    for (int rank = 0; rank < nodes; rank++) {
        const int first = rank ? index[rank - 1] : 0;

        CHECK_OK(MPI_Graph_neighbors_count(comm, rank, &n));
        CHECK_INT(n, index[rank] - first);
        memset(near, TEST_CANARY, sizeof near);
        CHECK_OK(MPI_Graph_neighbors(comm, rank, n ? n - 1 : 0, near)); /* one less than there are */
        for (int i = 0; i < n - 1; i++)
            CHECK_INT(near[i], edges[first + i]);
        CHECK_UNTOUCHED((char *)(near + (n ? n - 1 : 0)), sizeof near - (size_t)(n ? n - 1 : 0) * sizeof *near);
        CHECK_OK(MPI_Graph_neighbors(comm, rank, DEGREE, near));
        for (int i = 0; i < n; i++)
            CHECK_INT(near[i], edges[first + i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int index[NODES], edges[NODES * DEGREE], came;

    test_begin(&argc, &argv);
    if (test_size > NODES)
        test_skip("made for %d ranks and fewer", NODES);
    state = test_key(8, 5, 3);
    for (int i = 0; i < CASES; i++) {
        const int nodes = 1 + (int)test_below(&state, (size_t)test_size), count = random_graph(nodes, index, edges);

        CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, i % 2, &comm));
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &came));
        CHECK(came == MPI_UNDEFINED || (came >= 0 && came < nodes), "mapped to %d", came);
        CHECK_OK(MPI_Allreduce(&(int){ comm != MPI_COMM_NULL }, &came, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(came, nodes);
        if (comm == MPI_COMM_NULL)
            continue;
        check_graph(comm, nodes, count, index, edges);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    comm = MPI_COMM_WORLD;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, index, edges, 0, &comm));
    CHECK(comm == MPI_COMM_NULL, "a graph without nodes has a communicator");
    return test_end();
}
