/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6: collective calls of more processes than share a shelf, on few processors: other algorithms, trees with
 * more levels, counts above 64. */
#include "mpitest.h"

static const int lengths[] = { 1, 4, 300, 2000 }; /* of a block, in ints */

static int *in, *out, *counts, *places;

static int value(int from, int to, int at)
{
    return (from * 1009 + to) * 4001 + at;
}

/* out: n blocks for all; in: what has come. */
static void check_blocks(int from_all, int length, int gap, const char *call)
{
    int from, at;

    for (from = 0; from < test_size; from++)
        for (at = 0; at < length; at++) {
            const int want = value(from, from_all ? 0 : test_rank, at), got = in[from * (length + gap) + at];

            CHECK(got == want, "%s of %d ints: item %d of rank %d is %d, not %d", call, length, at, from, got, want);
            if (got != want)
                return;
        }
}

static void blocks(int length)
{
    int rank, at;

    for (rank = 0; rank < test_size; rank++) {
        counts[rank] = length;
        places[rank] = rank * (length + 1);
        for (at = 0; at < length; at++)
            out[rank * length + at] = value(test_rank, rank, at);
    }
    memset(in, TEST_CANARY, (size_t)test_size * (size_t)(length + 1) * sizeof *in);
    CHECK_OK(MPI_Alltoall(out, length, MPI_INT, in, length, MPI_INT, MPI_COMM_WORLD));
    check_blocks(0, length, 0, "MPI_Alltoall");
    for (at = 0; at < length; at++)
        out[at] = value(test_rank, 0, at);
    memset(in, TEST_CANARY, (size_t)test_size * (size_t)(length + 1) * sizeof *in);
    CHECK_OK(MPI_Allgather(out, length, MPI_INT, in, length, MPI_INT, MPI_COMM_WORLD));
    check_blocks(1, length, 0, "MPI_Allgather");
    memset(in, TEST_CANARY, (size_t)test_size * (size_t)(length + 1) * sizeof *in);
    CHECK_OK(MPI_Allgatherv(out, length, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD));
    check_blocks(1, length, 1, "MPI_Allgatherv");
    memset(in, TEST_CANARY, (size_t)test_size * (size_t)(length + 1) * sizeof *in);
    CHECK_OK(MPI_Gather(out, length, MPI_INT, in, length, MPI_INT, test_size - 1, MPI_COMM_WORLD));
    if (test_rank == test_size - 1)
        check_blocks(1, length, 0, "MPI_Gather");
}

static void vectors(int length)
{
    const int n = test_size;
    int at;

    for (at = 0; at < length; at++)
        out[at] = test_rank + at;
    CHECK_OK(MPI_Allreduce(out, in, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (at = 0; at < length; at += 97)
        CHECK_INT(in[at], n * (n - 1) / 2 + n * at);
    CHECK_OK(MPI_Reduce(out, in, length, MPI_INT, MPI_MAX, 1 % n, MPI_COMM_WORLD));
    if (test_rank == 1 % n)
        CHECK_INT(in[length - 1], n - 1 + length - 1);
    CHECK_OK(MPI_Scan(out, in, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (at = 0; at < length; at += 97)
        CHECK_INT(in[at], test_rank * (test_rank + 1) / 2 + (test_rank + 1) * at);
    CHECK_OK(MPI_Bcast(out, length, MPI_INT, n / 2, MPI_COMM_WORLD));
    CHECK_INT(out[length - 1], n / 2 + length - 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    const int most = lengths[sizeof lengths / sizeof *lengths - 1];
    size_t k, bytes;

    test_begin(&argc, &argv);
    bytes = (size_t)test_size * (size_t)(most + 1) * sizeof(int);
    in = test_alloc(bytes);
    out = test_alloc(bytes);
    counts = test_alloc((size_t)test_size * sizeof *counts);
    places = test_alloc((size_t)test_size * sizeof *places);
    for (k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        blocks(lengths[k]);
        vectors(lengths[k]);
    }
    free(in);
    free(out);
    free(counts);
    free(places);
    return test_end();
}
