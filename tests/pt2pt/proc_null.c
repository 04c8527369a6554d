/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.10: communication with MPI_PROC_NULL succeeds at once and leaves the buffer alone; a receive or
 * probe reports source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0. Matched probes give MPI_MESSAGE_NO_PROC
 * (§3.8.2). */
#include "mpitest.h"

enum { N = 16, TAG = 1 };

static int buf[N];

#define CHECK_NULL_STATUS(st)                            \
    do {                                                 \
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0); \
        CHECK_INT(is_cancelled(st), 0);                  \
        CHECK_UNTOUCHED(buf, sizeof buf);                \
    } while (0)

static int is_cancelled(const MPI_Status *st)
{
    int flag = -1;

    CHECK_OK(MPI_Test_cancelled(st, &flag));
    return flag;
}

static void send_in_all_modes(void)
{
    MPI_Request req;

    CHECK_OK(MPI_Send(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Ssend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Rsend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Isend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Issend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irsend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK(req == MPI_REQUEST_NULL, "the request is not null after completion");
}

static void receive(void)
{
    MPI_Status st = test_dirty_status();
    MPI_Request req;
    int is_done = 0;

    CHECK_OK(MPI_Recv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &st));
    CHECK_NULL_STATUS(&st);
    CHECK_OK(MPI_Recv(buf, N, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    st = test_dirty_status();
    CHECK_OK(MPI_Irecv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Test(&req, &is_done, &st));
    CHECK_INT(is_done, 1);
    CHECK_NULL_STATUS(&st);
    st = test_dirty_status();
    CHECK_OK(MPI_Sendrecv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, buf, N, MPI_INT, MPI_PROC_NULL, TAG,
                          MPI_COMM_WORLD, &st));
    CHECK_NULL_STATUS(&st);
}

static void probe(void)
{
    MPI_Message msg = MPI_MESSAGE_NULL;
    MPI_Status st = test_dirty_status();
    MPI_Request req;
    int flag = 0;

    CHECK_OK(MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &st));
    CHECK_NULL_STATUS(&st);
    st = test_dirty_status();
    CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &st));
    CHECK_INT(flag, 1);
    CHECK_NULL_STATUS(&st);

    st = test_dirty_status();
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &msg, &st));
    CHECK(msg == MPI_MESSAGE_NO_PROC, "MPI_Mprobe of MPI_PROC_NULL did not give MPI_MESSAGE_NO_PROC");
    CHECK_NULL_STATUS(&st);
    st = test_dirty_status();
    CHECK_OK(MPI_Mrecv(buf, N, MPI_INT, &msg, &st));
    CHECK(msg == MPI_MESSAGE_NULL, "MPI_Mrecv did not null the message");
    CHECK_NULL_STATUS(&st);

    flag = 0;
    st = test_dirty_status();
    CHECK_OK(MPI_Improbe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &msg, &st));
    CHECK_INT(flag, 1);
    CHECK(msg == MPI_MESSAGE_NO_PROC, "MPI_Improbe of MPI_PROC_NULL did not give MPI_MESSAGE_NO_PROC");
    CHECK_NULL_STATUS(&st);
    st = test_dirty_status();
    CHECK_OK(MPI_Imrecv(buf, N, MPI_INT, &msg, &req));
    CHECK(msg == MPI_MESSAGE_NULL, "MPI_Imrecv did not null the message");
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_NULL_STATUS(&st);
}

/* A constant like this can be kept in a message handle. */
static void receive_no_proc(void)
{
    MPI_Message msg = MPI_MESSAGE_NO_PROC;
    MPI_Status st = test_dirty_status();

    CHECK_OK(MPI_Mrecv(NULL, 0, MPI_INT, &msg, &st));
    CHECK_NULL_STATUS(&st);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    memset(buf, TEST_CANARY, sizeof buf);
    send_in_all_modes();
    receive();
    probe();
    receive_no_proc();
    return test_end();
}
