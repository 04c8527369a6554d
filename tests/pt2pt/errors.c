/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.8, §9.4: what a point-to-point call answers to arguments that are wrong for it: the class of the
 * fault, and everything stays usable. The communicator's handler decides (§9.3): here it returns. */
#include "mpitest.h"

enum { TAG = 1 };

static int value = 1, in;

static void bad_send(void)
{
    MPI_Request req;

    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, test_size, TAG, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, -17, TAG, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Ssend(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Rsend(&value, 1, MPI_INT, 0, -9, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, TAG, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Isend(&value, 1, MPI_INT, test_size, TAG, MPI_COMM_WORLD, &req), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Issend(&value, -5, MPI_INT, 0, TAG, MPI_COMM_WORLD, &req), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irsend(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &req), MPI_ERR_TAG);
    /* A partner of MPI_PROC_NULL does not excuse the other arguments. */
    CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD), MPI_ERR_COUNT);
}

static void bad_recv(void)
{
    MPI_Request req;
    MPI_Status st;
    int flag;

    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, test_size, TAG, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &st), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(&in, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &st), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_DATATYPE_NULL, 0, TAG, MPI_COMM_WORLD, &st), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, &req), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Probe(test_size, TAG, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(0, -9, MPI_COMM_WORLD, &flag, &st), MPI_ERR_TAG);
    CHECK_CLASS(
        MPI_Sendrecv(&value, 1, MPI_INT, test_size, TAG, &in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &st),
        MPI_ERR_RANK);
    CHECK_CLASS(MPI_Sendrecv(&value, 1, MPI_INT, 0, TAG, &in, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &st),
                MPI_ERR_TAG);
}

static void bad_requests(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Message msg = MPI_MESSAGE_NULL;
    MPI_Request req;
    int flag, index;

    CHECK_CLASS(MPI_Cancel(&none), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&none), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Mrecv(&in, 1, MPI_INT, &msg, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(&in, 1, MPI_INT, &msg, &req), MPI_ERR_REQUEST);
    CHECK(test_class(MPI_Waitall(-1, &none, MPI_STATUSES_IGNORE)) == MPI_ERR_COUNT ||
              test_class(MPI_Waitall(-1, &none, MPI_STATUSES_IGNORE)) == MPI_ERR_ARG,
          "MPI_Waitall of -1 requests");
    CHECK(MPI_Testany(-1, &none, &index, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS,
          "MPI_Testany of -1 requests");
}

/* Only what the standard leaves to a good library: values that no other implementation need notice. */
static void ours(void)
{
    MPI_Request *null_requests = NULL;

    if (!test_is_parley())
        return;
    CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Recv(NULL, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    CHECK(MPI_Waitall(2, null_requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "MPI_Waitall of a null array");
}

/* Nothing of the above has left anything behind. */
static void still_usable(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int flag = 1;

    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    value = test_rank;
    CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, right, TAG, &in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_INT(in, left);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    bad_send();
    bad_recv();
    bad_requests();
    ours();
    still_usable();
    return test_end();
}
