/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6, §8.6: collective calls of long blocks, before and after the system has begun to refuse copies between
 * processes to some of the ranks, as it does when a process changes its user: their results are the same.
 *
 *     copy_denied odd|first|all    to whom it refuses them */
#include "deny.h"
#include "mpitest.h"

enum { LENGTHS = 3, ROUNDS = 3, MOST = 8 };

static const int lengths[LENGTHS] = { 5000, 40000, 160000 }; /* items of a block */
static unsigned *out, *in;
static int n;
static MPI_Comm ring;

/* Item `i` of the block from one rank for another one, and of the sum of those of the first `ranks` ranks. */
static unsigned item(int from, int to, int i)
{
    return (unsigned)(from * 1000003 + to * 101 + i);
}

static unsigned sum(int ranks, int to, int i)
{
    return (unsigned)(ranks * (ranks - 1) / 2 * 1000003 + ranks * (to * 101 + i));
}

static void fill(int blocks)
{
    int to, i;

    for (to = 0; to < blocks; to++)
        for (i = 0; i < n; i++)
            out[to * n + i] = item(test_rank, to, i);
    memset(in, TEST_CANARY, (size_t)n * MOST * sizeof *in);
}

static void check(const char *call, int block, int from, int to)
{
    int i;

    for (i = 0; i < n; i++)
        CHECK(in[block * n + i] == item(from, to, i), "%s: item %d of block %d of %d", call, i, block, n);
}

static void check_sum(const char *call, int block, int ranks, int to)
{
    int i;

    for (i = 0; i < n; i++)
        CHECK(in[block * n + i] == sum(ranks, to, i), "%s: item %d of block %d of %d", call, i, block, n);
}

static void one_root(int root)
{
    int rank;

    fill(test_size);
    if (test_rank == root)
        memcpy(in, out, (size_t)n * sizeof *in);
    CHECK_OK(MPI_Bcast(in, n, MPI_UNSIGNED, root, MPI_COMM_WORLD));
    check("bcast", 0, root, 0);
    fill(test_size);
    CHECK_OK(MPI_Scatter(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, root, MPI_COMM_WORLD));
    check("scatter", 0, root, test_rank);
    fill(1);
    CHECK_OK(MPI_Gather(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, root, MPI_COMM_WORLD));
    for (rank = 0; rank < test_size && test_rank == root; rank++)
        check("gather", rank, rank, 0);
    fill(1);
    CHECK_OK(MPI_Reduce(out, in, n, MPI_UNSIGNED, MPI_SUM, root, MPI_COMM_WORLD));
    if (test_rank == root)
        check_sum("reduce", 0, test_size, 0);
}

static void all(void)
{
    int rank, sources[2];

    fill(1);
    CHECK_OK(MPI_Allgather(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, MPI_COMM_WORLD));
    for (rank = 0; rank < test_size; rank++)
        check("allgather", rank, rank, 0);
    fill(test_size);
    CHECK_OK(MPI_Alltoall(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, MPI_COMM_WORLD));
    for (rank = 0; rank < test_size; rank++)
        check("alltoall", rank, rank, test_rank);
    fill(1);
    CHECK_OK(MPI_Allreduce(out, in, n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    check_sum("allreduce", 0, test_size, 0);
    fill(test_size);
    CHECK_OK(MPI_Reduce_scatter_block(out, in, n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    check_sum("reduce_scatter_block", 0, test_size, test_rank);
    fill(1);
    CHECK_OK(MPI_Scan(out, in, n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    check_sum("scan", 0, test_rank + 1, 0);
    fill(1);
    CHECK_OK(MPI_Exscan(out, in, n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    if (test_rank)
        check_sum("exscan", 0, test_rank, 0);
    fill(2);
    CHECK_OK(MPI_Cart_shift(ring, 0, 1, &sources[0], &sources[1]));
    CHECK_OK(MPI_Neighbor_alltoall(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, ring));
    for (rank = 0; rank < 2; rank++)
        check("neighbor_alltoall", rank, sources[rank], !rank);
}

int main(int argc, char **argv)
{
    int round, k, root, is_denied, can = 1;

    test_begin(&argc, &argv);
    out = test_alloc((size_t)lengths[LENGTHS - 1] * MOST * sizeof *out);
    in = test_alloc((size_t)lengths[LENGTHS - 1] * MOST * sizeof *in);
    is_denied = argc > 1 && (!strcmp(argv[1], "all") || (!strcmp(argv[1], "odd") ? test_rank % 2 : !test_rank));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, (int[]){ 1 }, 0, &ring));
    for (round = 0; round < ROUNDS && can; round++) {
        if (round == 1 && is_denied)
            can = deny_copies();
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        for (k = 0; k < LENGTHS; k++) {
            n = lengths[k];
            for (root = 0; root < test_size; root++)
                one_root(root);
            all();
        }
    }
    CHECK_OK(MPI_Comm_free(&ring));
    free(out);
    free(in);
    if (!can)
        test_skip("no filters of calls of the system");
    return test_end();
}
