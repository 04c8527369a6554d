/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.4: MPI_Wait for a send that is marked for cancellation returns whatever other processes do, also when
 * the receiver has freed the communicator, with the message in it or before it came. */
#include "mpitest.h"

enum { LONG = 200000, TAG = 3, WORD = 4 };

static char data[LONG];

static void tell(int rank)
{
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, rank, WORD, MPI_COMM_WORLD));
}

static void hear(int rank)
{
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, rank, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void cancel(MPI_Request *req)
{
    MPI_Status st;
    int flag = 0;

    CHECK_OK(MPI_Cancel(req));
    CHECK_OK(MPI_Wait(req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    if (test_is_parley())
        CHECK_INT(flag, 1);
}

static void send_and_cancel(MPI_Comm comm, int is_sent_first)
{
    MPI_Request reqs[2];

    if (!is_sent_first)
        hear(1);
    CHECK_OK(MPI_Issend(data, 8, MPI_BYTE, 1, TAG, comm, &reqs[0]));
    CHECK_OK(MPI_Isend(data, LONG, MPI_BYTE, 1, TAG, comm, &reqs[1]));
    if (is_sent_first) {
        tell(1);
        hear(1);
    }
    cancel(&reqs[0]);
    cancel(&reqs[1]);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int is_sent_first;

    test_begin(&argc, &argv);
    for (is_sent_first = 0; is_sent_first < 2; is_sent_first++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (test_rank == 0) {
            send_and_cancel(comm, is_sent_first);
        } else if (test_rank == 1) {
            if (is_sent_first)
                hear(0);
            CHECK_OK(MPI_Comm_free(&comm));
            tell(0);
        } else {
            CHECK_OK(MPI_Comm_free(&comm));
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return test_end();
}
