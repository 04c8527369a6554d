/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.4: random graphs, with edges to oneself and edges twice, with and without weights, told by anybody or by
 * their ends: every process finds the edges that lead to it and from it, with their weights; asking again gives the
 * same order; short arrays get the beginning. */
#include "mpitest.h"

enum { CASES = 30, EDGES = 40, ALL = EDGES + 1 };

struct edge {
    int source, dest, weight, teller;
};

static uint64_t state; /* the same at all ranks */
static struct edge edges[EDGES];
static int edge_count;

static void random_graph(void)
{
    edge_count = (int)test_below(&state, EDGES + 1);
    for (int i = 0; i < edge_count; i++) {
        edges[i].source = (int)test_below(&state, (size_t)test_size);
        edges[i].dest = (int)test_below(&state, (size_t)test_size);
        edges[i].weight = (int)test_below(&state, 4);
        edges[i].teller = (int)test_below(&state, (size_t)test_size);
    }
}

/* Ends of this process in the model: other process and weight, of edges in or out. */
static int model_ends(int is_out, int *ranks, int *weights)
{
    int n = 0;

    for (int i = 0; i < edge_count; i++) {
        if ((is_out ? edges[i].source : edges[i].dest) != test_rank)
            continue;
        ranks[n] = is_out ? edges[i].dest : edges[i].source;
        weights[n++] = edges[i].weight;
    }
    return n;
}

static int by_pair(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(int));
}

/* The same ends, in any order. */
static void check_ends(int is_out, int count, const int *ranks, const int *weights, int is_weighted)
{
    int want[2][EDGES], a[EDGES][2], b[EDGES][2];

    CHECK_INT(count, model_ends(is_out, want[0], want[1]));
    for (int i = 0; i < count; i++) {
        a[i][0] = ranks[i];
        a[i][1] = is_weighted ? weights[i] : 0;
        b[i][0] = want[0][i];
        b[i][1] = is_weighted ? want[1][i] : 0;
    }
    qsort(a, (size_t)count, sizeof *a, by_pair);
    qsort(b, (size_t)count, sizeof *b, by_pair);
    for (int i = 0; i < count; i++)
        CHECK(by_pair(a[i], b[i]) == 0, "%s %d: %d with weight %d, expected %d with %d", is_out ? "out" : "in", i,
              a[i][0], a[i][1], b[i][0], b[i][1]);
}

static void check_graph(MPI_Comm comm, int is_weighted)
{
    int in = -1, out = -1, flag = -1, first = -1, came[2][2][ALL], again[2][2][ALL];

    CHECK_OK(MPI_Topo_test(comm, &flag));
    CHECK_INT(flag, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &flag));
    CHECK_INT(flag, is_weighted);
    memset(came, TEST_CANARY, sizeof came);
    memset(again, TEST_CANARY, sizeof again);
    CHECK_OK(MPI_Dist_graph_neighbors(comm, ALL, came[0][0], is_weighted ? came[0][1] : MPI_UNWEIGHTED, ALL,
                                      came[1][0], is_weighted ? came[1][1] : MPI_UNWEIGHTED));
    check_ends(0, in, came[0][0], came[0][1], is_weighted);
    check_ends(1, out, came[1][0], came[1][1], is_weighted);
    CHECK_UNTOUCHED((char *)(came[1][0] + out), (size_t)(ALL - out) * sizeof(int));
    CHECK_OK(MPI_Dist_graph_neighbors(comm, ALL, again[0][0], again[0][1], ALL, again[1][0], again[1][1]));
    CHECK(!is_weighted || memcmp(again, came, sizeof came) == 0, "another order when asked again");
    if (in) {
        CHECK_OK(MPI_Dist_graph_neighbors(comm, 1, &first, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
        CHECK_INT(first, came[0][0][0]);
    }
}

/* Every edge by its teller, one source at a time. */
static void create_told(int is_weighted, int reorder, MPI_Comm *comm)
{
    int sources[EDGES], degrees[EDGES], dests[EDGES], weights[EDGES], n = 0, m = 0;

    for (int i = 0; i < edge_count; i++) {
        if (edges[i].teller != test_rank)
            continue;
        dests[m] = edges[i].dest;
        weights[m++] = edges[i].weight;
        if (n && sources[n - 1] == edges[i].source) {
            degrees[n - 1]++;
        } else {
            sources[n] = edges[i].source;
            degrees[n++] = 1;
        }
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, dests,
                                   !is_weighted ? MPI_UNWEIGHTED : m ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                   reorder, comm));
}

static void create_adjacent(int is_weighted, int reorder, MPI_Comm *comm)
{
    int in[2][EDGES], out[2][EDGES];
    const int n = model_ends(0, in[0], in[1]), m = model_ends(1, out[0], out[1]);

    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, n, in[0], !is_weighted ? MPI_UNWEIGHTED : n ? in[1] : MPI_WEIGHTS_EMPTY, m, out[0],
        !is_weighted ? MPI_UNWEIGHTED : m ? out[1] : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, reorder, comm));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    state = test_key(8, 5, 4);
    for (int i = 0; i < CASES; i++) {
        MPI_Comm comm;
        int n = -1;

        random_graph();
        if (i % 3)
            create_told(i % 2, 0, &comm);
        else
            create_adjacent(i % 2, 0, &comm);
        CHECK_OK(MPI_Comm_size(comm, &n));
        CHECK_INT(n, test_size);
        check_graph(comm, i % 2);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return test_end();
}
