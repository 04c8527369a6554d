/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.10, §4: partitioned operations with MPI_PROC_NULL, and messages without bytes: no partitions, empty
 * ones, more than one. */
#include "mpipart.h"

enum { TAG = 4 };

static void with_nobody(void)
{
    int out[4] = { 1, 2, 3, 4 }, in[4] = { 5, 6, 7, 8 }, flag = -1;
    MPI_Request send, recv;
    MPI_Status st;

    NEEDS(MPI_Psend_init(out, 4, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Pready(2, send));
        CHECK_OK(MPI_Pready_range(0, 1, send));
        CHECK_OK(MPI_Pready(3, send));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Parrived(recv, 1, &flag));
        CHECK_INT(flag, 1);
        st = test_dirty_status();
        CHECK_OK(MPI_Wait(&recv, &st));
        CHECK_STATUS(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    CHECK_INT(in[0] == 5 && in[3] == 8, 1);
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
}

/* Such a receive still waits for its sender. */
static void without_bytes(int send_parts, MPI_Count send_count, int recv_parts, MPI_Count recv_count)
{
    MPI_Request send, recv;
    MPI_Status st;
    int flag;

    CHECK_OK(MPI_Psend_init(NULL, send_parts, send_count, MPI_INT, ring_right(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &send));
    CHECK_OK(MPI_Precv_init(NULL, recv_parts, recv_count, MPI_INT, ring_left(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &recv));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Test(&recv, &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Start(&send));
        for (int i = 0; i < send_parts; i++)
            CHECK_OK(MPI_Pready(i, send));
        st = test_dirty_status();
        CHECK_OK(MPI_Wait(&recv, &st));
        CHECK_STATUS(&st, ring_left(), TAG, 0);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    with_nobody();
    without_bytes(1, 0, 1, 0);
    without_bytes(3, 0, 70, 0);
    without_bytes(0, 0, 2, 0);
    without_bytes(0, 0, 0, 0);
    return test_end();
}
