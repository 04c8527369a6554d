/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.4, §3.9: an active persistent request can be cancelled; it is inactive when it is complete, whichever
 * of message and cancellation won, and can be started again. */
#include "mpitest.h"

enum { TAG = 4, ROUNDS = 60 };

static int is_cancelled(const MPI_Status *st)
{
    int flag = -1;

    CHECK_OK(MPI_Test_cancelled(st, &flag));
    return flag;
}

static void cancel_recv(void)
{
    int got = -1, value, round;
    MPI_Request recv;
    MPI_Status st;

    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_SELF, &recv));
    for (round = 0; round < 3; round++) {
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Cancel(&recv));
        CHECK_OK(MPI_Wait(&recv, &st));
        CHECK_INT(is_cancelled(&st), 1);
        CHECK(recv != MPI_REQUEST_NULL, "a cancelled persistent request is null");
        CHECK_OK(MPI_Start(&recv));
        value = round;
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&recv, &st));
        CHECK_INT(is_cancelled(&st), 0);
        CHECK_STATUS(&st, 0, TAG, sizeof(int));
        CHECK_INT(got, round);
    }
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Cancel(&recv));
    CHECK_OK(MPI_Request_free(&recv));
}

/* The race between a message of the neighbour and the cancellation, again and again on the same requests. */
static void race(int right, int left)
{
    int in, out, again, i;
    MPI_Request recv, send;
    MPI_Status st;

    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &recv));
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &send));
    for (i = 0; i < ROUNDS; i++) {
        in = again = -1;
        out = i;
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Cancel(&recv));
        CHECK_OK(MPI_Wait(&recv, &st));
        if (is_cancelled(&st)) {
            CHECK_INT(in, -1);
            CHECK_OK(MPI_Recv(&again, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            in = again;
        }
        CHECK_INT(in, i);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&recv));
    CHECK_OK(MPI_Request_free(&send));
}

/* A synchronous send that is cancelled or received. Afterwards its receiver learns which of both, and the same
 * request sends the next one. */
static void cancel_send(int right, int left, int len)
{
    unsigned char *out = test_alloc((size_t)len), *in = test_alloc((size_t)len);
    MPI_Request send;
    MPI_Status st;
    int i, mine, theirs;

    CHECK_OK(MPI_Ssend_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send));
    for (i = 0; i < ROUNDS / 4; i++) {
        test_fill(out, (size_t)len, test_key(test_rank, len, i));
        CHECK_OK(MPI_Start(&send));
        if (i % 3 != 2)
            CHECK_OK(MPI_Cancel(&send));
        if (i % 3 == 2) { /* not cancelled: as ever */
            CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &st));
            CHECK_BYTES(in, (size_t)len, test_key(left, len, i));
            CHECK_OK(MPI_Wait(&send, &st));
            CHECK_INT(is_cancelled(&st), 0);
            continue;
        }
        CHECK_OK(MPI_Wait(&send, &st)); /* nobody receives it: it must have been cancelled */
        mine = is_cancelled(&st);
        CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, right, TAG + 1, &theirs, 1, MPI_INT, left, TAG + 1, MPI_COMM_WORLD,
                              &st));
        CHECK(mine && theirs, "a send that nobody receives completed without being cancelled");
    }
    CHECK_OK(MPI_Request_free(&send));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 4, 5000, 100000 };
    int right, left;
    size_t i;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    cancel_recv();
    race(right, left);
    for (i = 0; test_is_parley() && i < sizeof sizes / sizeof sizes[0]; i++)
        cancel_send(right, left, sizes[i]);
    return test_end();
}
