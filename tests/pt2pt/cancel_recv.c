/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.4: a pending receive can be cancelled: MPI_Wait then returns without any message, the status
 * says cancelled, the buffer is untouched, and the message that it would have got goes to another receive. If
 * the message was there first, the receive completes as usual. */
#include "mpitest.h"

enum { TAG = 1, N = 5000, PENDING = 40 };

static int is_cancelled(const MPI_Status *st)
{
    int flag = -1;

    CHECK_OK(MPI_Test_cancelled(st, &flag));
    return flag;
}

/* Some in the middle of many, so that they leave any place of a queue; the others get the messages in
 * order. */
static void cancel_some(int source, int tag)
{
    static int in[PENDING], out[PENDING];
    MPI_Request reqs[PENDING], sends[PENDING];
    MPI_Status st;
    int i, n = 0;

    memset(in, TEST_CANARY, sizeof in);
    for (i = 0; i < PENDING; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, source, tag, MPI_COMM_SELF, &reqs[i]));
    for (i = 0; i < PENDING; i += 3) {
        CHECK_OK(MPI_Cancel(&reqs[i]));
        st = test_dirty_status();
        CHECK_OK(MPI_Wait(&reqs[i], &st));
        CHECK_INT(is_cancelled(&st), 1);
        CHECK(reqs[i] == MPI_REQUEST_NULL, "the cancelled request is not null after MPI_Wait");
    }
    for (i = 0; i < PENDING; i++)
        if (i % 3) {
            out[n] = 100 + i;
            CHECK_OK(MPI_Isend(&out[n], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &sends[n]));
            n++;
        }
    for (i = 0; i < PENDING; i++) {
        if (i % 3 == 0) {
            CHECK_UNTOUCHED(&in[i], sizeof in[i]);
            continue;
        }
        st = test_dirty_status();
        CHECK_OK(MPI_Wait(&reqs[i], &st));
        CHECK_INT(is_cancelled(&st), 0);
        CHECK_STATUS(&st, 0, TAG, sizeof(int));
        CHECK_INT(in[i], 100 + i);
    }
    CHECK_OK(MPI_Waitall(n, sends, MPI_STATUSES_IGNORE));
}

/* The message of the neighbour comes after the cancel and is received by the next receive. */
static void still_receivable(int len)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    unsigned char *lost = test_alloc((size_t)len), *in = test_alloc((size_t)len),
                  *out = test_alloc((size_t)len);
    MPI_Request req, send;
    MPI_Status st;

    CHECK_OK(MPI_Irecv(lost, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_INT(is_cancelled(&st), 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    test_fill(out, (size_t)len, test_key(test_rank, len, 15));
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &st));
    CHECK_INT(is_cancelled(&st), 0);
    CHECK_BYTES(in, (size_t)len, test_key(left, len, 15));
    CHECK_UNTOUCHED(lost, (size_t)len);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    free(lost);
    free(in);
    free(out);
}

/* Cancelling a complete receive has no effect. Also: a cancelled request may be freed instead of waited
 * for. */
static void too_late(void)
{
    int in = 0, out = 42, is_done = 0;
    MPI_Request req;
    MPI_Status st;

    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    while (!is_done)
        CHECK_OK(MPI_Request_get_status(req, &is_done, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_INT(is_cancelled(&st), 0);
    CHECK_STATUS(&st, 0, TAG, sizeof(int));
    CHECK_INT(in, 42);

    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Request_free(&req));
    CHECK(req == MPI_REQUEST_NULL, "MPI_Request_free did not null the request");
}

/* Whoever wins the race, the message is received exactly once. */
static void race(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int i, in, out, again;
    MPI_Request req, send;
    MPI_Status st;

    for (i = 0; i < 500; i++) {
        in = again = -1;
        out = i;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &send));
        CHECK_OK(MPI_Cancel(&req));
        CHECK_OK(MPI_Wait(&req, &st));
        if (is_cancelled(&st)) {
            CHECK_INT(in, -1);
            CHECK_OK(MPI_Recv(&again, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            in = again;
        }
        CHECK_INT(in, i);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 161, N, 40000, 200000 };
    size_t i;

    test_begin(&argc, &argv);
    cancel_some(0, TAG);
    cancel_some(MPI_ANY_SOURCE, TAG);
    cancel_some(0, MPI_ANY_TAG);
    cancel_some(MPI_ANY_SOURCE, MPI_ANY_TAG);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        still_receivable(sizes[i]);
    too_late();
    race();
    return test_end();
}
