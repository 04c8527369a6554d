/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.7: MPI_Sendrecv behaves as if send and receive ran in parallel: rings of any distance and
 * length do not deadlock; both halves match ordinary sends and receives; either half may be MPI_PROC_NULL;
 * lengths, types and tags of the halves are independent. */
#include "mpitest.h"

enum { LONGEST = 3 << 20 };

static const int sizes[] = { 0, 8, 40, 161, 5000, 32769, 100000, 1 << 20, LONGEST };

static unsigned char *out, *in;

static void shift(int distance, int len)
{
    const int dest = (test_rank + distance) % test_size, src = (test_rank + test_size - distance) % test_size;
    MPI_Status st = test_dirty_status();

    /* The tags differ by rank, the lengths by sender. */
    test_fill(out, (size_t)(len + test_rank), test_key(test_rank, distance, len));
    CHECK_OK(MPI_Sendrecv(out, len + test_rank, MPI_BYTE, dest, test_rank, in, LONGEST + test_size, MPI_BYTE,
                          src, src, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, src, src, (size_t)(len + src));
    CHECK_BYTES(in, (size_t)(len + src), test_key(src, distance, len));
}

/* A chain without a ring: the ends talk to nobody. */
static void chain(int len)
{
    const int dest = test_rank + 1 < test_size ? test_rank + 1 : MPI_PROC_NULL;
    const int src = test_rank > 0 ? test_rank - 1 : MPI_PROC_NULL;
    MPI_Status st = test_dirty_status();

    test_fill(out, (size_t)len, test_key(test_rank, 77, len));
    memset(in, TEST_CANARY, (size_t)len);
    CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, dest, 5, in, len, MPI_BYTE, src, 5, MPI_COMM_WORLD, &st));
    if (src == MPI_PROC_NULL) {
        CHECK_STATUS(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        CHECK_UNTOUCHED(in, (size_t)len);
    } else {
        CHECK_STATUS(&st, src, 5, (size_t)len);
        CHECK_BYTES(in, (size_t)len, test_key(src, 77, len));
    }
}

/* Rank 0 uses Sendrecv, its partner plain calls; the halves carry different types. */
static void mixed(int n)
{
    MPI_Status st;

    if (test_rank == 0) {
        test_fill(out, (size_t)n * 8, test_key(0, 88, n));
        CHECK_OK(MPI_Sendrecv(out, n, MPI_DOUBLE, 1, 6, in, n + 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, 1, 7, (size_t)n * 4);
        CHECK_BYTES(in, (size_t)n * 4, test_key(1, 88, n));
    } else if (test_rank == 1) {
        test_fill(out, (size_t)n * 4, test_key(1, 88, n));
        CHECK_OK(MPI_Recv(in, n, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, 0, 6, (size_t)n * 8);
        CHECK_BYTES(in, (size_t)n * 8, test_key(0, 88, n));
        CHECK_OK(MPI_Send(out, n, MPI_INT, 0, 7, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    size_t i;
    int distance;

    test_begin(&argc, &argv);
    out = test_alloc((size_t)LONGEST + (size_t)test_size);
    in = test_alloc((size_t)LONGEST + (size_t)test_size);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (distance = 0; distance < test_size; distance++)
            shift(distance, sizes[i]);
        chain(sizes[i]);
        if (test_size > 1)
            mixed(sizes[i] / 8);
    }
    CHECK_OK(MPI_Sendrecv(out, 3, MPI_INT, test_rank, 1, in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    free(out);
    free(in);
    return test_end();
}
