/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_dup gives a congruent communicator (same group, same order) with a context of its
 * own: messages and collectives of the two never meet. Works on the world, on MPI_COMM_SELF, on duplicates.
 */
#include "mpitest.h"

enum { TAG = 1, LEN = 50000 };

static void check_congruent(MPI_Comm a, MPI_Comm b)
{
    int rank_a, rank_b, size_a, size_b;

    CHECK_OK(MPI_Comm_rank(a, &rank_a));
    CHECK_OK(MPI_Comm_rank(b, &rank_b));
    CHECK_OK(MPI_Comm_size(a, &size_a));
    CHECK_OK(MPI_Comm_size(b, &size_b));
    CHECK_INT(rank_b, rank_a);
    CHECK_INT(size_b, size_a);
    CHECK(a != b, "the duplicate has the handle of the original");
}

/* The same source and tag on both; the second is received first. */
static void check_separate(MPI_Comm a, MPI_Comm b)
{
    static unsigned char out[2][LEN], in[LEN];
    MPI_Request reqs[2];
    int rank, size, left, right;

    CHECK_OK(MPI_Comm_rank(a, &rank));
    CHECK_OK(MPI_Comm_size(a, &size));
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    test_fill(out[0], LEN, test_key(rank, 0, 40));
    test_fill(out[1], LEN, test_key(rank, 1, 40));
    CHECK_OK(MPI_Isend(out[0], LEN, MPI_BYTE, right, TAG, a, &reqs[0]));
    CHECK_OK(MPI_Isend(out[1], LEN, MPI_BYTE, right, TAG, b, &reqs[1]));
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, 1, 40));
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, 0, 40));
    CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
}

static void check_collectives(MPI_Comm a, MPI_Comm b)
{
    int rank, size, in = 1, out_a = 0, out_b = 0;

    CHECK_OK(MPI_Comm_rank(a, &rank));
    CHECK_OK(MPI_Comm_size(a, &size));
    CHECK_OK(MPI_Allreduce(&in, &out_a, 1, MPI_INT, MPI_SUM, a));
    CHECK_OK(MPI_Allreduce(&rank, &out_b, 1, MPI_INT, MPI_MAX, b));
    CHECK_INT(out_a, size);
    CHECK_INT(out_b, size - 1);
}

static void run(MPI_Comm parent)
{
    MPI_Comm dup, again;

    CHECK_OK(MPI_Comm_dup(parent, &dup));
    CHECK_OK(MPI_Comm_dup(dup, &again));
    check_congruent(parent, dup);
    check_congruent(parent, again);
    check_separate(parent, dup);
    check_separate(dup, again);
    check_collectives(parent, dup);
    check_collectives(again, dup);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK(dup == MPI_COMM_NULL, "MPI_Comm_free did not null the handle");
    check_separate(parent, again);
    CHECK_OK(MPI_Comm_free(&again));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    run(MPI_COMM_WORLD);
    run(MPI_COMM_SELF);
    return test_end();
}
