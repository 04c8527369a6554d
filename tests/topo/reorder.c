/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5: with `reorder`, the processes of a new communicator are those of the old one, each once, and the
 * topology is the one that was asked for, by new ranks. On a machine that is not there (PARLEY_MACHINE: two
 * packages of two caches of two cores, by ranks in MPI_COMM_WORLD) neighbours are not farther from each other than
 * without, and nearer where the old order is a bad one. */
#include "mpitest.h"

enum { MAX = 16 };

static MPI_Comm worst; /* neighbours in rank are far from each other */
static int size, rank;

static int hops(int p, int q)
{
    return (p / 4 != q / 4) + (p / 2 != q / 2) + (p != q);
}

/* Ranks in MPI_COMM_WORLD of the members. */
static void find_members(MPI_Comm comm, int *members)
{
    MPI_Group group, world;
    int all[MAX], count;

    CHECK_OK(MPI_Comm_size(comm, &count));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < count; i++)
        all[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, count, all, world, members));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
}

/* The processes of `comm` are the first `count` of the old one. */
static void check_members(MPI_Comm comm, int count)
{
    int new_members[MAX], old[MAX], result, own;
    MPI_Group group, first, all;
    const int range[1][3] = { { 0, count - 1, 1 } };

    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_group(worst, &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, (int(*)[3])range, &first));
    CHECK_OK(MPI_Group_compare(group, first, &result));
    CHECK(result == MPI_IDENT || result == MPI_SIMILAR, "other processes");
    CHECK_OK(MPI_Comm_rank(comm, &own));
    find_members(comm, new_members);
    find_members(worst, old);
    CHECK_INT(new_members[own], test_rank);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&first));
}

/* Adds up over all: what my neighbours in `comm` are from me. */
static int cost(MPI_Comm comm, int n, const int *neighbours, const int *weights)
{
    int members[MAX], own, sum = 0;

    find_members(comm, members);
    CHECK_OK(MPI_Comm_rank(comm, &own));
    for (int i = 0; i < n; i++)
        if (neighbours[i] != MPI_PROC_NULL)
            sum += (weights ? weights[i] : 1) * hops(members[own], members[neighbours[i]]);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static int grid_cost(MPI_Comm comm)
{
    int neighbours[6], ndims;

    CHECK_OK(MPI_Cartdim_get(comm, &ndims));
    for (int i = 0; i < ndims; i++)
        CHECK_OK(MPI_Cart_shift(comm, i, 1, &neighbours[2 * i], &neighbours[2 * i + 1]));
    return cost(comm, 2 * ndims, neighbours, NULL);
}

static void check_cart(int ndims, int *dims, int period, int must_fall)
{
    const int periods[3] = { period, period, period };
    int coords[3], back, count = 1, new_rank, plain_cost, own;
    MPI_Comm plain, made;

    for (int i = 0; i < ndims; i++)
        count *= dims[i];
    CHECK_OK(MPI_Cart_create(worst, ndims, dims, periods, 0, &plain));
    CHECK_OK(MPI_Cart_create(worst, ndims, dims, periods, 1, &made));
    CHECK_INT(made != MPI_COMM_NULL, rank < count);
    CHECK_OK(MPI_Cart_map(worst, ndims, dims, periods, &new_rank));
    CHECK_INT(new_rank != MPI_UNDEFINED, rank < count);
    if (made == MPI_COMM_NULL)
        return;
    check_members(made, count);
    CHECK_OK(MPI_Comm_rank(made, &own));
    CHECK_INT(new_rank, own); /* both know the same of this machine */
    CHECK_OK(MPI_Cart_get(made, ndims, dims, (int[3]){ 0 }, coords));
    CHECK_OK(MPI_Cart_rank(made, coords, &back));
    CHECK_INT(back, own);
    plain_cost = grid_cost(plain);
    CHECK(grid_cost(made) <= plain_cost - must_fall, "%d hops, %d without reorder", grid_cost(made), plain_cost);
    CHECK_OK(MPI_Comm_free(&plain));
    CHECK_OK(MPI_Comm_free(&made));
}

/* A ring. */
static void check_graph(void)
{
    int index[MAX], edges[2 * MAX], neighbours[2], costs[2], own, new_rank, count;
    MPI_Comm comm;

    for (int i = 0; i < size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    for (int reorder = 0; reorder < 2; reorder++) {
        CHECK_OK(MPI_Graph_create(worst, size, index, edges, reorder, &comm));
        CHECK_OK(MPI_Comm_rank(comm, &own));
        CHECK_OK(MPI_Graph_neighbors_count(comm, own, &count));
        CHECK_INT(count, 2);
        CHECK_OK(MPI_Graph_neighbors(comm, own, 2, neighbours));
        CHECK(neighbours[0] == edges[2 * own] && neighbours[1] == edges[2 * own + 1], "other neighbours");
        check_members(comm, size);
        costs[reorder] = cost(comm, 2, neighbours, NULL);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK(costs[1] <= costs[0] - (size == 8), "%d hops, %d without reorder", costs[1], costs[0]);
    CHECK_OK(MPI_Graph_map(worst, size, index, edges, &new_rank));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &new_rank, 1, MPI_INT, MPI_SUM, worst));
    CHECK_INT(new_rank, size * (size - 1) / 2);
}

/* Nodes 0 and 1, 2 and 3, … talk much, each a little to the next one. */
static void model(int node, int *dest, int *weights)
{
    dest[0] = (node ^ 1) < size ? node ^ 1 : node;
    dest[1] = (node + 1) % size;
    weights[0] = 100 + node;
    weights[1] = 1;
}

static MPI_Comm make_dist(int adjacent, int weighted, int reorder)
{
    int dest[2], weights[2], sources[2], in_weights[2], unused[2], degree = 2;
    MPI_Comm comm;

    model(rank, dest, weights);
    sources[0] = dest[0];
    sources[1] = (rank + size - 1) % size;
    model(sources[0], unused, in_weights);
    in_weights[1] = 1;
    if (adjacent)
        CHECK_OK(MPI_Dist_graph_create_adjacent(worst, 2, sources, weighted ? in_weights : MPI_UNWEIGHTED, 2, dest,
                                                weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm));
    else
        CHECK_OK(MPI_Dist_graph_create(worst, 1, &rank, &degree, dest, weighted ? weights : MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, reorder, &comm));
    return comm;
}

/* What a process finds is what the node with its new rank was to have. */
static int check_dist(MPI_Comm comm, int weighted)
{
    int in, out, has_weights, own, sources[2], in_weights[2] = { 0 }, dest[2], weights[2] = { 0 }, want[2], heavy[2];

    check_members(comm, size);
    CHECK_OK(MPI_Comm_rank(comm, &own));
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights));
    CHECK(in == 2 && out == 2 && !has_weights == !weighted, "%d in, %d out", in, out);
    CHECK_OK(MPI_Dist_graph_neighbors(comm, 2, sources, in_weights, 2, dest, weights));
    model(own, want, heavy);
    CHECK(dest[0] == want[0] && dest[1] == want[1], "rank %d leads to %d, %d", own, dest[0], dest[1]);
    CHECK(sources[0] + sources[1] == want[0] + (own + size - 1) % size, "rank %d from %d, %d", own, sources[0],
          sources[1]);
    if (weighted)
        CHECK(weights[0] == heavy[0] && weights[1] == heavy[1], "weights %d, %d of rank %d", weights[0], weights[1],
              own);
    return cost(comm, 2, dest, weighted ? weights : NULL);
}

static void check_all_dists(void)
{
    for (int kind = 0; kind < 4; kind++) {
        MPI_Comm plain = make_dist(kind & 1, kind & 2, 0), made = make_dist(kind & 1, kind & 2, 1), copy;
        const int before = check_dist(plain, kind & 2), after = check_dist(made, kind & 2);

        CHECK(after <= before, "%d hops, %d without reorder", after, before);
        if (size == 8 && kind & 2)
            CHECK(after < before / 2, "%d hops, %d without reorder", after, before);
        CHECK_OK(MPI_Comm_dup(made, &copy));
        CHECK_INT(check_dist(copy, kind & 2), after);
        CHECK_OK(MPI_Comm_free(&copy));
        CHECK_OK(MPI_Comm_free(&plain));
        CHECK_OK(MPI_Comm_free(&made));
    }
}

static void check_mistakes(void)
{
    MPI_Comm comm;
    int degree = 1, self = 0, one = 1, zero = 0;

    if (size == 1)
        return;
    CHECK_CLASS(MPI_Dist_graph_create(worst, 1, &self, &degree, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, rank == 0,
                                      &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_create(worst, 1, &one, &zero, rank == 0, &comm), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    int key, square[2] = { 0, 0 };

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("others do not know this machine");
    key = test_rank % 8;
    key = (key & 1) << 2 | (key & 2) | key >> 2; /* 0 4 2 6 1 5 3 7 */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, key, &worst));
    CHECK_OK(MPI_Comm_set_errhandler(worst, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_size(worst, &size));
    CHECK_OK(MPI_Comm_rank(worst, &rank));
    CHECK_OK(MPI_Dims_create(size, 2, square));
    check_cart(1, (int[]){ size }, 0, size >= 7);
    check_cart(1, (int[]){ size }, 1, size >= 7);
    check_cart(2, square, 0, size == 8);
    check_cart(1, (int[]){ size > 2 ? size - 1 : 1 }, 1, 0);
    check_cart(0, NULL, 0, 0);
    if (size == 8)
        check_cart(3, (int[]){ 2, 2, 2 }, 1, 0);
    check_graph();
    check_all_dists();
    check_mistakes();
    CHECK_OK(MPI_Comm_free(&worst));
    return test_end();
}
