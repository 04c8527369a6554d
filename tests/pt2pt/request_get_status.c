/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.6: MPI_Request_get_status tells whether a request is complete and its status, but neither
 * frees nor changes it, and it makes progress like a test. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    enum { LEN = 100000 };
    static unsigned char out[LEN], in[LEN];
    MPI_Request reqs[2], before;
    MPI_Status st;
    int flag = 1, i, right, left;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, 1, MPI_COMM_WORLD, &reqs[0]));
    before = reqs[0];
    CHECK_OK(MPI_Request_get_status(reqs[0], &flag, &st));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    test_fill(out, LEN, test_key(test_rank, 0, 26));
    CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, right, 1, MPI_COMM_WORLD, &reqs[1]));
    for (i = 0; i < 2; i++)
        for (flag = 0; !flag;)
            CHECK_OK(MPI_Request_get_status(reqs[i], &flag, &st));
    for (i = 0; i < 3; i++) {
        st = test_dirty_status();
        CHECK_OK(MPI_Request_get_status(reqs[0], &flag, &st));
        CHECK_INT(flag, 1);
        CHECK_STATUS(&st, left, 1, LEN);
        CHECK(reqs[0] == before, "MPI_Request_get_status changed the request");
    }
    st = test_dirty_status();
    CHECK_OK(MPI_Wait(&reqs[0], &st));
    CHECK_STATUS(&st, left, 1, LEN);
    CHECK_BYTES(in, LEN, test_key(left, 0, 26));
    CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
    return test_end();
}
