/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.4: a synchronous send completes only when the matching receive has been started. The receiver
 * says, on another communicator and after a while, that it will now receive; before that no test may say
 * complete. */
#include "mpitest.h"

#include <time.h>

enum { TAG = 1, TRIES = 200 };

static const int sizes[] = { 0, 8, 40, 161, 5000, 32769, 100000 };

static void send(int len, int dest, MPI_Comm control)
{
    unsigned char *out = test_alloc((size_t)len);
    MPI_Request req;
    int is_done = 0, i;

    test_fill(out, (size_t)len, test_key(test_rank, len, 20));
    CHECK_OK(MPI_Issend(out, len, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &req));
    for (i = 0; i < TRIES; i++) {
        CHECK_OK(MPI_Test(&req, &is_done, MPI_STATUS_IGNORE));
        CHECK(!is_done, "a synchronous send of %d bytes is complete without a receive", len);
    }
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, dest, TAG, control));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    free(out);
}

/* The receiver is inside the library all the time, and it looks at the message without receiving it. */
static void receive(int len, int src, MPI_Comm control)
{
    unsigned char *in = test_alloc((size_t)len);
    MPI_Status st;

    CHECK_OK(MPI_Probe(src, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, src, TAG, control, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(in, len, MPI_BYTE, src, TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, src, TAG, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(src, len, 20));
    free(in);
}

/* Blocking form: the receiver measures nothing, it knows: a message sent after the MPI_Ssend cannot have left
 * while the receive was not posted. */
static void blocking(int len, MPI_Comm control)
{
    const struct timespec pause = { 0, 5 * 1000 * 1000 };
    unsigned char *buf = test_alloc((size_t)len);
    int has_left = 1;

    if (test_rank == 0) {
        CHECK_OK(MPI_Ssend(buf, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, control));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        nanosleep(&pause, NULL);
        CHECK_OK(MPI_Iprobe(0, TAG, control, &has_left, MPI_STATUS_IGNORE));
        CHECK(!has_left, "MPI_Ssend of %d bytes returned before the receive was posted", len);
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, control, MPI_STATUS_IGNORE));
    }
    free(buf);
}

int main(int argc, char **argv)
{
    MPI_Comm control;
    size_t i;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &control));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (test_rank == 0) {
            send(sizes[i], 1, control);
            receive(sizes[i], 1, control);
        } else if (test_rank == 1) {
            receive(sizes[i], 0, control);
            send(sizes[i], 0, control);
        }
        blocking(sizes[i], control);
    }
    CHECK_OK(MPI_Comm_free(&control));
    return test_end();
}
