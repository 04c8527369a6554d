/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.5: MPI_Waitany, MPI_Testany, MPI_Waitsome and MPI_Testsome complete each request exactly once,
 * name it by its index, null its handle and fill the status that belongs to it. While nothing is complete,
 * MPI_Testany says false with MPI_UNDEFINED and MPI_Testsome gives 0. Argument:
 * waitany|testany|waitsome|testsome. */
#include "mpitest.h"

enum { PER_RANK = 30, TAG_GO = 1000 };

static MPI_Request *reqs;
static MPI_Status *sts;
static int *indices, *seen;
static long *in;

static void check_one(int index, const MPI_Status *st, int n)
{
    const int src = index / PER_RANK, i = index % PER_RANK;

    CHECK(index >= 0 && index < n, "index %d of %d", index, n);
    CHECK(reqs[index] == MPI_REQUEST_NULL, "request %d is not null after completion", index);
    CHECK(!seen[index], "request %d completed twice", index);
    seen[index] = 1;
    CHECK_STATUS(st, src, i, sizeof(long));
    CHECK_INT(in[index], src * 1000 + i);
}

/* What is complete now or soon; returns how many. */
static int take(const char *how, int n)
{
    int count = 0, index = -5, is_done = 0, i;

    sts[0] = test_dirty_status();
    if (strcmp(how, "waitany") == 0) {
        CHECK_OK(MPI_Waitany(n, reqs, &index, &sts[0]));
        indices[0] = index;
        count = 1;
    } else if (strcmp(how, "testany") == 0) {
        CHECK_OK(MPI_Testany(n, reqs, &index, &is_done, &sts[0]));
        if (!is_done)
            CHECK_INT(index, MPI_UNDEFINED);
        indices[0] = index;
        count = is_done;
    } else if (strcmp(how, "waitsome") == 0) {
        CHECK_OK(MPI_Waitsome(n, reqs, &count, indices, sts));
        CHECK(count > 0, "MPI_Waitsome gave %d", count);
    } else {
        CHECK_OK(MPI_Testsome(n, reqs, &count, indices, sts));
        CHECK(count >= 0, "MPI_Testsome gave %d", count);
    }
    for (i = 0; i < count; i++)
        check_one(indices[i], &sts[i], n);
    return count;
}

/* Before anybody may send, nothing can be complete. */
static void nothing_yet(const char *how, int n)
{
    int i;

    if (strncmp(how, "test", 4) != 0)
        return;
    for (i = 0; i < 20; i++)
        CHECK_INT(take(how, n), 0);
}

int main(int argc, char **argv)
{
    MPI_Request *sends;
    long *out;
    int n, i, left;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: waitany waitany|testany|waitsome|testsome");
    n = PER_RANK * test_size;
    reqs = test_alloc((size_t)n * sizeof *reqs);
    sends = test_alloc((size_t)n * sizeof *sends);
    sts = test_alloc((size_t)n * sizeof *sts);
    indices = test_alloc((size_t)n * sizeof *indices);
    in = test_alloc((size_t)n * sizeof *in);
    out = test_alloc((size_t)n * sizeof *out);
    seen = calloc((size_t)n, sizeof *seen);
    for (i = 0; i < n; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_LONG, i / PER_RANK, i % PER_RANK, MPI_COMM_WORLD, &reqs[i]));
    nothing_yet(argv[1], n);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (i = 0; i < n; i++) {
        const int k = n - 1 - i;

        out[k] = test_rank * 1000 + k % PER_RANK;
        CHECK_OK(MPI_Isend(&out[k], 1, MPI_LONG, k / PER_RANK, k % PER_RANK, MPI_COMM_WORLD, &sends[k]));
    }
    for (left = n; left > 0;)
        left -= take(argv[1], n);
    CHECK_INT(left, 0);
    CHECK_OK(MPI_Waitall(n, sends, MPI_STATUSES_IGNORE));
    free(reqs);
    free(sends);
    free(sts);
    free(indices);
    free(in);
    free(out);
    free(seen);
    return test_end();
}
