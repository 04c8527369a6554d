/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.1: collectives do not interfere with point-to-point messages of the same communicator, wildcards
 * included: open wildcard receives and unexpected messages stay what they are across all collectives. */
#include "mpitest.h"

enum { N = 1000, MESSAGES = 10, TAG = 0 };

static void collectives(void)
{
    static int in[N], out[N * 64];
    int i;

    for (i = 0; i < N; i++)
        in[i] = test_rank + i;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    memcpy(out, in, sizeof in);
    CHECK_OK(MPI_Bcast(out, N, MPI_INT, test_size - 1, MPI_COMM_WORLD));
    CHECK_INT(out[5], test_size - 1 + 5);
    CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK_INT(out[N - 1], test_size - 1 + N - 1);
    CHECK_OK(MPI_Allgather(in, 10, MPI_INT, out, 10, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(out[10 * (test_size - 1)], test_size - 1);
    CHECK_OK(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(out[0], test_rank);
    CHECK_OK(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce(in, out, N, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int right, left, in[MESSAGES], out[MESSAGES], late[MESSAGES], i, is_done, is_there;
    MPI_Request recvs[MESSAGES], sends[MESSAGES];
    MPI_Status st;

    test_begin(&argc, &argv);
    CHECK(test_size <= 64, "made for at most 64 ranks");
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    for (i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &recvs[i]));
    collectives();
    for (i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Test(&recvs[i], &is_done, &st));
        CHECK(!is_done, "a wildcard receive got a message of a collective (tag %d from %d)", st.MPI_TAG,
              st.MPI_SOURCE);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (i = 0; i < MESSAGES; i++) {
        out[i] = test_rank * 100 + i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sends[i]));
    }
    CHECK_OK(MPI_Waitall(MESSAGES, recvs, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    for (i = 0; i < MESSAGES; i++) {
        CHECK_INT(in[i], left * 100 + i);
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sends[i]));
    }
    collectives();
    for (i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Recv(&late[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, left, TAG, sizeof(int));
        CHECK_INT(late[i], left * 100 + i);
    }
    CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &st));
    CHECK(!is_there, "a message of a collective is left over (tag %d from %d)", st.MPI_TAG, st.MPI_SOURCE);
    return test_end();
}
