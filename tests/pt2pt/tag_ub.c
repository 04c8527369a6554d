/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.3, §9.1.2: all tags from 0 to MPI_TAG_UB are valid, the bound is at least 32767 and the same
 * on all ranks; tags that differ in one bit only are different. */
#include "mpitest.h"

static void check_tag(int tag)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int in = -1;
    MPI_Status st;

    CHECK_OK(MPI_Sendrecv(&tag, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, left, tag, sizeof(int));
    CHECK_INT(in, tag);
}

/* Sent in one order, received in the other. */
static void check_bits(int ub)
{
    MPI_Request reqs[32];
    int bit, n = 0, in, tags[32];
    MPI_Status st;

    for (bit = 0; bit < 31 && (1 << bit) <= ub; bit++) {
        tags[bit] = 1 << bit;
        CHECK_OK(MPI_Isend(&tags[bit], 1, MPI_INT, test_rank, tags[bit], MPI_COMM_WORLD, &reqs[n++]));
    }
    while (bit-- > 0) {
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, test_rank, 1 << bit, MPI_COMM_WORLD, &st));
        CHECK_INT(in, 1 << bit);
        CHECK_STATUS(&st, test_rank, 1 << bit, sizeof(int));
    }
    CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    int *value = NULL, is_set = 0, ub = 32767, rc, other = -1;

    test_begin(&argc, &argv);
    rc = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set);
    if (test_class(rc) != MPI_ERR_UNSUPPORTED_OPERATION) {
        CHECK_OK(rc);
        CHECK_INT(is_set, 1);
        ub = *value;
    }
    CHECK(ub >= 32767, "MPI_TAG_UB is %d", ub);
    CHECK_OK(MPI_Sendrecv(&ub, 1, MPI_INT, (test_rank + 1) % test_size, 0, &other, 1, MPI_INT, MPI_ANY_SOURCE,
                          0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(other, ub);
    check_tag(0);
    check_tag(32767);
    check_tag(ub - 1);
    check_tag(ub);
    check_bits(ub);
    if (ub < 0x7fffffff)
        CHECK_CLASS(MPI_Send(&ub, 1, MPI_INT, test_rank, ub + 1, MPI_COMM_WORLD), MPI_ERR_TAG);
    return test_end();
}
