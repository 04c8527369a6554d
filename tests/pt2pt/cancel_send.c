/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.4: after MPI_Cancel of a send, MPI_Wait on it returns whatever the receiver does; either the
 * send was cancelled, and then no receive gets the message, or it took place, and then a receive gets it
 * whole. Argument: small (only standard sends that any library buffers) or all (also synchronous, long
 * and buffered ones). */
#include "mpitest.h"

enum { TAG = 1, TAG_VERDICT = 2 };

typedef int start_function(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *req);

/* Returns whether the send was cancelled. */
static int cancel_one(start_function *start, void *buf, int len, int dest)
{
    MPI_Request req;
    MPI_Status st;
    int flag = -1;

    CHECK_OK(start(buf, len, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK(req != MPI_REQUEST_NULL, "MPI_Cancel nulled the request");
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK(flag == 0 || flag == 1, "MPI_Test_cancelled says %d", flag);
    if (test_is_parley() && len >= (getenv("PARLEY_NODES") ? 100000 : 40000)) /* still here: nobody has asked for it */
        CHECK_INT(flag, 1);
    return flag;
}

/* The receiver waits in its matching receive only if the message comes. The library must answer the cancel
 * while the receiver is blocked in another receive (of the verdict). */
static void run(start_function *start, int len)
{
    unsigned char *buf = test_alloc((size_t)len);
    int was_cancelled;
    MPI_Status st;

    if (test_rank == 0) {
        test_fill(buf, (size_t)len, test_key(0, len, 16));
        was_cancelled = cancel_one(start, buf, len, 1);
        CHECK_OK(MPI_Send(&was_cancelled, 1, MPI_INT, 1, TAG_VERDICT, MPI_COMM_WORLD));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Recv(&was_cancelled, 1, MPI_INT, 0, TAG_VERDICT, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (!was_cancelled) {
            CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, 0, TAG, (size_t)len);
            CHECK_BYTES(buf, (size_t)len, test_key(0, len, 16));
        }
        CHECK_OK(MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &was_cancelled, MPI_STATUS_IGNORE));
        CHECK_INT(was_cancelled, 0);
    }
    free(buf);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 100, 1000, 30000, 40000, 100000, 2000000 };
    static unsigned char space[2000000 + MPI_BSEND_OVERHEAD]; /* for one: what is cancelled gives its space back */
    void *detached;
    size_t i;
    int is_all, size;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: cancel_send small|all");
    is_all = strcmp(argv[1], "all") == 0;
    test_needs_ranks(2);
    CHECK_OK(MPI_Buffer_attach(space, sizeof space));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (is_all || sizes[i] <= 1000)
            run(MPI_Isend, sizes[i]);
        if (is_all)
            run(MPI_Issend, sizes[i]);
        if (is_all)
            run(MPI_Ibsend, sizes[i]);
    }
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
    return test_end();
}
