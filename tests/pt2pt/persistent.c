/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.9: a persistent request is made inactive, MPI_Start makes it active and begins what a nonblocking call
 * with the same arguments would, and its completion by any of the wait and test calls makes it inactive, not null, so
 * that it can be started again. It matches ordinary sends and receives, and outlives the handles it was made with. */
#include "mpitest.h"

enum { LONGEST = 200000, TAG = 3, ROUNDS = 4, SPACE = ROUNDS * (LONGEST + MPI_BSEND_OVERHEAD) };

static const int sizes[] = { 0, 8, 41, 161, 5000, 32769, LONGEST };
static unsigned char *out, *in;
static int right, left;

/* ---- completing one, by every call there is ---- */

static void complete(MPI_Request *req, MPI_Status *st, int how)
{
    int flag = 0, index = -1, count = -1;

    *st = test_dirty_status();
    switch (how % 8) {
    case 0:
        CHECK_OK(MPI_Wait(req, st));
        break;
    case 1:
        while (!flag)
            CHECK_OK(MPI_Test(req, &flag, st));
        break;
    case 2:
        CHECK_OK(MPI_Waitany(1, req, &index, st));
        CHECK_INT(index, 0);
        break;
    case 3:
        while (!flag)
            CHECK_OK(MPI_Testany(1, req, &index, &flag, st));
        CHECK_INT(index, 0);
        break;
    case 4:
        CHECK_OK(MPI_Waitall(1, req, st));
        break;
    case 5:
        while (!flag)
            CHECK_OK(MPI_Testall(1, req, &flag, st));
        break;
    case 6:
        CHECK_OK(MPI_Waitsome(1, req, &count, &index, st));
        CHECK_INT(count, 1);
        break;
    case 7:
        while (count < 1)
            CHECK_OK(MPI_Testsome(1, req, &count, &index, st));
        break;
    }
    CHECK(*req != MPI_REQUEST_NULL, "way %d of completing it has nulled a persistent request", how % 8);
}

/* An inactive request is for all calls as if it were not there (§3.7.3 to §3.7.6). */
static void check_inactive(MPI_Request *req)
{
    MPI_Status st;
    int flag, index, count;

    st = test_dirty_status();
    CHECK_OK(MPI_Wait(req, &st));
    CHECK_EMPTY(&st);
    st = test_dirty_status();
    flag = 0;
    CHECK_OK(MPI_Test(req, &flag, &st));
    CHECK_INT(flag, 1);
    CHECK_EMPTY(&st);
    flag = 0;
    CHECK_OK(MPI_Request_get_status(*req, &flag, &st));
    CHECK_INT(flag, 1);
    CHECK_EMPTY(&st);
    CHECK_OK(MPI_Waitany(1, req, &index, &st));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_EMPTY(&st);
    CHECK_OK(MPI_Testany(1, req, &index, &flag, &st));
    CHECK(flag && index == MPI_UNDEFINED, "flag %d, index %d", flag, index);
    CHECK_OK(MPI_Waitsome(1, req, &count, &index, &st));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(1, req, &count, &index, &st));
    CHECK_INT(count, MPI_UNDEFINED);
    st = test_dirty_status();
    CHECK_OK(MPI_Waitall(1, req, &st));
    CHECK_EMPTY(&st);
    CHECK(*req != MPI_REQUEST_NULL, "an inactive request has been nulled");
}

/* ---- round the ring ---- */

static void make_send(int mode, int len, MPI_Request *req)
{
    if (mode == 0)
        CHECK_OK(MPI_Send_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, req));
    else if (mode == 1)
        CHECK_OK(MPI_Ssend_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, req));
    else if (mode == 2)
        CHECK_OK(MPI_Bsend_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, req));
    else
        CHECK_OK(MPI_Rsend_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, req));
}

/* Every receive stands before its message comes: ready mode asks for that. */
static void ring(int mode, int len)
{
    MPI_Request send, recv;
    MPI_Status st;
    int round;

    make_send(mode, len, &send);
    CHECK_OK(MPI_Recv_init(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &recv));
    check_inactive(&send);
    check_inactive(&recv);
    for (round = 0; round < ROUNDS; round++) {
        memset(in, TEST_CANARY, (size_t)len + 1);
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        test_fill(out, (size_t)len, test_key(test_rank, len, round));
        CHECK_OK(MPI_Start(&send));
        complete(&recv, &st, round + mode);
        CHECK_STATUS(&st, left, TAG, (size_t)len);
        CHECK_BYTES(in, (size_t)len, test_key(left, len, round));
        CHECK_UNTOUCHED(in + len, 1);
        complete(&send, &st, round + mode + 4);
    }
    check_inactive(&recv);
    check_inactive(&send);
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
    CHECK(send == MPI_REQUEST_NULL && recv == MPI_REQUEST_NULL, "MPI_Request_free did not null the handles");
}

/* Against ordinary calls; the message is often there before the receive. */
static void with_ordinary(int len)
{
    MPI_Request send, recv, other;
    MPI_Status st;
    int round;

    CHECK_OK(MPI_Send_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Recv_init(in, len, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &recv));
    for (round = 0; round < ROUNDS; round++) {
        test_fill(out, (size_t)len, test_key(test_rank, len, round));
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, left, TAG, (size_t)len);
        CHECK_BYTES(in, (size_t)len, test_key(left, len, round));
        complete(&send, &st, round);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Isend(out, len, MPI_BYTE, right, TAG + round, MPI_COMM_WORLD, &other));
        CHECK_OK(MPI_Start(&recv));
        complete(&recv, &st, round);
        CHECK_STATUS(&st, left, TAG + round, (size_t)len);
        CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* or the next message meets the wildcard */
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
}

/* ---- special partners, handles, errors ---- */

static void proc_null(void)
{
    MPI_Request reqs[4];
    MPI_Status st;
    int i, round;

    CHECK_OK(MPI_Send_init(out, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Ssend_init(out, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Rsend_init(out, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &reqs[2]));
    CHECK_OK(MPI_Recv_init(in, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &reqs[3]));
    memset(in, TEST_CANARY, 8);
    for (round = 0; round < 2; round++) {
        for (i = 0; i < 4; i++) {
            check_inactive(&reqs[i]);
            CHECK_OK(MPI_Start(&reqs[i]));
        }
        for (i = 0; i < 3; i++)
            complete(&reqs[i], &st, i);
        complete(&reqs[3], &st, round);
        CHECK_STATUS(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        CHECK_UNTOUCHED(in, 8);
    }
    CHECK_OK(MPI_Start(&reqs[3]));
    CHECK_OK(MPI_Request_free(&reqs[3]));
    for (i = 0; i < 3; i++)
        CHECK_OK(MPI_Request_free(&reqs[i]));
}

/* The handle of the communicator is gone before the first start (§7.4.3). */
static void freed_comm(void)
{
    MPI_Request reqs[2];
    MPI_Status sts[2];
    MPI_Comm comm;
    int round, value, got;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, left, TAG, comm, &reqs[0]));
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, right, TAG, comm, &reqs[1]));
    CHECK_OK(MPI_Comm_free(&comm));
    for (round = 0; round < ROUNDS; round++) {
        got = -1;
        value = 100 * round + test_rank;
        CHECK_OK(MPI_Start(&reqs[0]));
        CHECK_OK(MPI_Start(&reqs[1]));
        CHECK_OK(MPI_Waitall(2, reqs, sts));
        CHECK_STATUS(&sts[0], left, TAG, sizeof(int));
        CHECK_INT(got, 100 * round + left);
    }
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
}

/* What is freed while active still happens, and the request goes then. */
static void freed_active(int len)
{
    MPI_Request send, recv;
    int token = 0;

    memset(in, TEST_CANARY, (size_t)len);
    test_fill(out, (size_t)len, test_key(test_rank, len, 77));
    CHECK_OK(MPI_Recv_init(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &recv));
    CHECK_OK(MPI_Ssend_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Request_free(&recv));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&send));
    CHECK(send == MPI_REQUEST_NULL && recv == MPI_REQUEST_NULL, "MPI_Request_free did not null the handles");
    /* A later message of the same sender on the same way has been received: the freed receive has its own. */
    CHECK_OK(MPI_Sendrecv(&test_rank, 1, MPI_INT, right, TAG, &token, 1, MPI_INT, left, TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_INT(token, left);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_BYTES(in, (size_t)len, test_key(left, len, 77));

    CHECK_OK(MPI_Send_init(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, (size_t)len, test_key(left, len, 77));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the buffer is free again */
}

/* A look at the status leaves the request active. */
static void get_status(void)
{
    int value = 5, got = -1, flag = 0;
    MPI_Request recv;
    MPI_Status st;

    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &recv));
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Request_get_status(recv, &flag, &st));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    while (!flag)
        CHECK_OK(MPI_Request_get_status(recv, &flag, &st));
    CHECK_STATUS(&st, 0, TAG, sizeof(int));
    if (test_is_parley()) /* an error of the program; what others do with it is theirs */
        CHECK_CLASS(MPI_Start(&recv), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&recv, &st));
    CHECK_STATUS(&st, 0, TAG, sizeof(int));
    check_inactive(&recv);
    CHECK_OK(MPI_Request_free(&recv));
}

/* A failed receive is inactive afterwards, and good for another. */
static void truncated(void)
{
    int value[2] = { 1, 2 }, got = -1;
    MPI_Request recv;
    MPI_Status st;

    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &recv));
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Send(value, 2, MPI_INT, 0, TAG, MPI_COMM_SELF));
    CHECK_CLASS(MPI_Wait(&recv, &st), MPI_ERR_TRUNCATE);
    CHECK(recv != MPI_REQUEST_NULL, "an error has nulled a persistent request");
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Send(&value[1], 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&recv, &st));
    CHECK_STATUS(&st, 0, TAG, sizeof(int));
    CHECK_INT(got, 2);
    CHECK_OK(MPI_Request_free(&recv));
}

static void errors(void)
{
    int value = 1, got = 0;
    MPI_Request recv, ordinary, null = MPI_REQUEST_NULL;

    CHECK_CLASS(MPI_Send_init(&value, 1, MPI_INT, test_size, TAG, MPI_COMM_WORLD, &recv), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Ssend_init(&value, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &recv), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Rsend_init(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &recv), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv_init(&value, 1, MPI_DATATYPE_NULL, 0, TAG, MPI_COMM_WORLD, &recv), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv_init(&value, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, &recv), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Start(&null), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &ordinary));
    CHECK_CLASS(MPI_Start(&ordinary), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &recv));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&ordinary, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Start(&recv));
    if (test_is_parley())
        CHECK_CLASS(MPI_Start(&recv), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&recv));
}

int main(int argc, char **argv)
{
    size_t i;
    int mode, size;
    void *space;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    out = test_alloc(LONGEST);
    in = test_alloc(LONGEST + 1);
    space = test_alloc(SPACE);
    CHECK_OK(MPI_Buffer_attach(space, SPACE));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (mode = 0; mode < 4; mode++)
            ring(mode, sizes[i]);
        with_ordinary(sizes[i]);
        freed_active(sizes[i]);
    }
    proc_null();
    freed_comm();
    get_status();
    truncated();
    errors();
    CHECK_OK(MPI_Buffer_detach(&space, &size));
    free(space);
    free(out);
    free(in);
    return test_end();
}
