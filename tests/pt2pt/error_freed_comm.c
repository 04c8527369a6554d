/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.3, §9.3: a communicator lives on as long as operations use it, and an error of one of them calls the
 * error handler that is attached to it, also when the program has freed its handle before. */
#include "mpitest.h"

enum { TAG = 1 };

static int calls, code_seen, size_seen;

/* The handle it gets is good while it runs. */
static void remember(MPI_Comm *comm, int *code, ...)
{
    calls++;
    code_seen = *code;
    size_seen = -1;
    MPI_Comm_size(*comm, &size_seen);
}

/* A receive on a communicator of its own whose message is too long; the handle goes before anybody looks. */
static MPI_Request failing(MPI_Errhandler errhandler, int is_persistent)
{
    static int got;
    const int value[2] = { 1, 2 };
    MPI_Request req;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, errhandler));
    if (is_persistent) {
        CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, comm, &req));
        CHECK_OK(MPI_Start(&req));
    } else {
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, TAG, comm, &req));
    }
    CHECK_OK(MPI_Send(value, 2, MPI_INT, 0, TAG, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    return req;
}

static void check_called(int code, int class)
{
    CHECK_CLASS(code, class);
    CHECK_INT(calls, 1);
    if (class == MPI_ERR_IN_STATUS) /* the handler gets what is in the status (§9.3.1) */
        CHECK_CLASS(code_seen, MPI_ERR_TRUNCATE);
    else
        CHECK_INT(code_seen, code);
    if (test_is_parley()) /* others hand over the freed handle */
        CHECK_INT(size_seen, 1);
    calls = 0;
}

static void every_call(MPI_Errhandler errhandler)
{
    MPI_Request reqs[2];
    MPI_Status sts[2];
    int flag = 0, index, count, rc = MPI_SUCCESS;

    reqs[0] = failing(errhandler, 0);
    check_called(MPI_Wait(&reqs[0], sts), MPI_ERR_TRUNCATE);
    CHECK(reqs[0] == MPI_REQUEST_NULL, "the handle of a failed request is not null");
    reqs[0] = failing(errhandler, 0);
    while (!flag && !rc)
        rc = MPI_Test(&reqs[0], &flag, sts);
    check_called(rc, MPI_ERR_TRUNCATE);
    reqs[0] = failing(errhandler, 0);
    reqs[1] = MPI_REQUEST_NULL;
    check_called(MPI_Waitany(2, reqs, &index, sts), MPI_ERR_TRUNCATE);
    reqs[0] = failing(errhandler, 0);
    check_called(MPI_Waitall(2, reqs, sts), MPI_ERR_IN_STATUS);
    reqs[0] = failing(errhandler, 0);
    reqs[1] = failing(errhandler, 0);
    check_called(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    reqs[0] = failing(errhandler, 0);
    check_called(MPI_Waitsome(1, reqs, &count, &index, sts), MPI_ERR_IN_STATUS);
    reqs[0] = failing(errhandler, 1);
    check_called(MPI_Wait(&reqs[0], sts), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Request_free(&reqs[0]));
}

/* An inactive request keeps it too: starting one that may not be started is an error on it. */
static void start(MPI_Errhandler errhandler)
{
    MPI_Request req = failing(errhandler, 1);

    check_called(MPI_Start(&req), MPI_ERR_REQUEST);
    check_called(MPI_Startall(1, &req), MPI_ERR_REQUEST);
    check_called(MPI_Wait(&req, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Request_free(&req));
}

/* A matched message keeps it, too. */
static void matched(MPI_Errhandler errhandler)
{
    const int value[2] = { 1, 2 };
    MPI_Request sent;
    MPI_Message msg;
    MPI_Comm comm;
    int got;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, errhandler));
    CHECK_OK(MPI_Isend(value, 2, MPI_INT, 0, TAG, comm, &sent));
    CHECK_OK(MPI_Mprobe(0, TAG, comm, &msg, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
    check_called(MPI_Mrecv(&got, -1, MPI_INT, &msg, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK(msg != MPI_MESSAGE_NULL, "a call with a wrong argument has taken the message");
    check_called(MPI_Mrecv(&got, 1, MPI_INT, &msg, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(msg == MPI_MESSAGE_NULL, "the handle of a message that was received is not null");
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    MPI_Request req;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_create_errhandler(remember, &errhandler));
    every_call(errhandler);
    if (test_is_parley())
        start(errhandler);
    matched(errhandler);
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    req = failing(MPI_ERRORS_RETURN, 0);
    CHECK_CLASS(MPI_Wait(&req, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    return test_end();
}
