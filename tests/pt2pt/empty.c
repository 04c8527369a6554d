/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.2, §3.2.4: a message may have no elements; then there need be no buffer on either side.
 * Standard, synchronous and ready sends to every process and to itself, the receive posted before and after, and
 * matched by a probe. */
#include "mpitest.h"

enum { TAG = 9 };

typedef int start_function(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *req);

static start_function *const starts[] = { MPI_Isend, MPI_Issend };

static void receive_first(int source, int dest, start_function *start)
{
    MPI_Request reqs[2];
    MPI_Status st[2];

    CHECK_OK(MPI_Irecv(NULL, 0, MPI_DOUBLE, source, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(start(NULL, 0, MPI_DOUBLE, dest, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, st));
    CHECK_STATUS(&st[0], source, TAG, 0);
}

static void send_first(int source, int dest, start_function *start)
{
    MPI_Request req;
    MPI_Status st = test_dirty_status();

    CHECK_OK(start(NULL, 0, MPI_DOUBLE, dest, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_DOUBLE, source, TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, source, TAG, 0);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void probed(int source, int dest, start_function *start)
{
    MPI_Message msg;
    MPI_Request req;
    MPI_Status st = test_dirty_status();

    CHECK_OK(start(NULL, 0, MPI_DOUBLE, dest, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Mprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &msg, &st));
    CHECK_STATUS(&st, source, TAG, 0);
    CHECK_OK(MPI_Mrecv(NULL, 0, MPI_DOUBLE, &msg, &st));
    CHECK_STATUS(&st, source, TAG, 0);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int distance, k;

    test_begin(&argc, &argv);
    for (distance = 0; distance < test_size; distance++) {
        const int dest = (test_rank + distance) % test_size;
        const int source = (test_rank + test_size - distance) % test_size;

        for (k = 0; k < 2; k++) {
            receive_first(source, dest, starts[k]);
            send_first(source, dest, starts[k]);
            probed(source, dest, starts[k]);
        }
        receive_first(source, dest, MPI_Irsend);
    }
    return test_end();
}
