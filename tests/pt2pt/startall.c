/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.9: MPI_Startall starts all requests of an array as MPI_Start would one after the other. This library does
 * so in the order of the array, so that messages of one array arrive in it; or not at all when one cannot be
 * started. */
#include "mpitest.h"

enum { N = 40, TAG = 2, ROUNDS = 10 };

static int in[N], out[N];
static MPI_Request recvs[N], sends[N];

/* Many each way round the ring, restarted together. Each message has a tag of its own, which makes any order good. */
static void window(int right, int left)
{
    MPI_Status sts[N];
    int i, round;

    for (i = 0; i < N; i++) {
        CHECK_OK(MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &recvs[i]));
        CHECK_OK(MPI_Send_init(&out[N - 1 - i], 1, MPI_INT, right, N - 1 - i, MPI_COMM_WORLD, &sends[i]));
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < N; i++)
            out[i] = test_rank * 100000 + round * 1000 + i;
        if (round % 2) {
            CHECK_OK(MPI_Startall(N, recvs));
            CHECK_OK(MPI_Startall(N, sends));
        } else {
            CHECK_OK(MPI_Startall(N, sends));
            CHECK_OK(MPI_Startall(N, recvs));
        }
        CHECK_OK(MPI_Waitall(N, recvs, sts));
        CHECK_OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
        for (i = 0; i < N; i++) {
            CHECK_STATUS(&sts[i], left, i, sizeof(int));
            CHECK_INT(in[i], left * 100000 + round * 1000 + i);
        }
    }
    for (i = 0; i < N; i++) {
        CHECK_OK(MPI_Request_free(&recvs[i]));
        CHECK_OK(MPI_Request_free(&sends[i]));
    }
}

/* All of one tag: both sides go by the order of their arrays. */
static void ordered(int right, int left)
{
    int i, round;

    for (i = 0; i < N; i++) {
        CHECK_OK(MPI_Recv_init(&in[i], 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &recvs[i]));
        if (i % 3)
            CHECK_OK(MPI_Send_init(&out[i], 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sends[i]));
        else
            CHECK_OK(MPI_Ssend_init(&out[i], 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sends[i]));
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < N; i++)
            out[i] = round * 1000 + i;
        CHECK_OK(MPI_Startall(N, recvs));
        CHECK_OK(MPI_Startall(N, sends));
        CHECK_OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(N, recvs, MPI_STATUSES_IGNORE));
        for (i = 0; i < N; i++)
            CHECK_INT(in[i], round * 1000 + i);
    }
    for (i = 0; i < N; i++) {
        CHECK_OK(MPI_Request_free(&recvs[i]));
        CHECK_OK(MPI_Request_free(&sends[i]));
    }
}

/* Nothing to start; nulls and ordinary requests are errors. */
static void errors(void)
{
    MPI_Request reqs[3];
    int value = 7, flag = 1, i;

    CHECK_OK(MPI_Startall(0, reqs));
    CHECK_OK(MPI_Recv_init(&in[0], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[0]));
    reqs[1] = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Startall(2, reqs), MPI_ERR_REQUEST);
    if (test_is_parley()) {
        CHECK_OK(MPI_Startall(0, NULL));
        CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &reqs[1]));
        CHECK_OK(MPI_Recv_init(&in[2], 1, MPI_INT, 0, TAG + 2, MPI_COMM_SELF, &reqs[2]));
        CHECK_CLASS(MPI_Startall(3, reqs), MPI_ERR_REQUEST);
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
        reqs[1] = reqs[2];
        CHECK_OK(MPI_Start(&reqs[0]));
        CHECK_CLASS(MPI_Startall(2, &reqs[0]), MPI_ERR_REQUEST); /* the first is active */
        CHECK_OK(MPI_Request_get_status(reqs[1], &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 1); /* inactive still: none was started */
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE));
        CHECK_CLASS(MPI_Startall(2, &reqs[1]), MPI_ERR_REQUEST); /* one request twice */
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG + 2, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
        for (i = 0; i < 3; i++)
            CHECK_INT(in[i], 7);
        CHECK_OK(MPI_Request_free(&reqs[1]));
    }
    CHECK_OK(MPI_Request_free(&reqs[0]));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    window((test_rank + 1) % test_size, (test_rank + test_size - 1) % test_size);
    if (test_is_parley())
        ordered((test_rank + 1) % test_size, (test_rank + test_size - 1) % test_size);
    errors();
    return test_end();
}
