/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.4: a message longer than the receive buffer raises MPI_ERR_TRUNCATE at the receiver; nothing
 * behind the buffer is written; the sender completes; the communicator stays usable. All kinds of receive,
 * all protocols. */
#include "mpitest.h"

enum { TAG = 3, GUARD = 64 };

static const int sizes[] = { 1, 8, 40, 41, 160, 161, 5000, 32768, 32769, 65537, 1 << 20 };

static unsigned char *room;

/* Under the library of this project the text says both numbers of bytes. */
static void check_text(int rc, int sent, int cap)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "", number[32];
    int len = 0;

    CHECK_OK(MPI_Error_string(rc, text, &len));
    CHECK_INT(len, strlen(text));
    if (!test_is_parley())
        return;
    snprintf(number, sizeof number, "%d", sent);
    CHECK(strstr(text, number), "the message \"%s\" does not say the %d bytes that came", text, sent);
    snprintf(number, sizeof number, "%d", cap);
    CHECK(strstr(text, number), "the message \"%s\" does not say the %d bytes of the buffer", text, cap);
}

static int receive(int how, unsigned char *buf, int cap, int src)
{
    MPI_Request req;
    MPI_Message msg;

    switch (how) {
    case 0: return MPI_Recv(buf, cap, MPI_BYTE, src, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case 1:
        CHECK_OK(MPI_Irecv(buf, cap, MPI_BYTE, src, TAG, MPI_COMM_WORLD, &req));
        return MPI_Wait(&req, MPI_STATUS_IGNORE);
    case 2:
        CHECK_OK(MPI_Mprobe(src, TAG, MPI_COMM_WORLD, &msg, MPI_STATUS_IGNORE));
        return MPI_Mrecv(buf, cap, MPI_BYTE, &msg, MPI_STATUS_IGNORE);
    default:
        return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, TAG, buf, cap, MPI_BYTE, src, TAG,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void receive_too_little(int len, int cap, int how, int src)
{
    unsigned char *buf = room + GUARD;
    int rc;

    memset(room, TEST_CANARY, (size_t)len + 2 * GUARD);
    rc = receive(how, buf, cap, src);
    CHECK(test_class(rc) == MPI_ERR_TRUNCATE,
          "%d bytes into %d, way %d: expected MPI_ERR_TRUNCATE, got class %d", len, cap, how, test_class(rc));
    check_text(rc, len, cap);
    CHECK_UNTOUCHED(room, GUARD);
    CHECK_UNTOUCHED(buf + cap, (size_t)(len - cap) + GUARD);
}

static void run(int len, int cap, int how)
{
    unsigned char *out = test_alloc((size_t)len);
    MPI_Request req;

    if (test_rank == 0) {
        CHECK_OK(MPI_Send(out, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(out, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
    } else if (test_rank == 1) {
        receive_too_little(len, cap, how, 0);
        CHECK_OK(MPI_Recv(out, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, test_rank, TAG, MPI_COMM_WORLD, &req));
    receive_too_little(len, cap, how, test_rank);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    free(out);
}

int main(int argc, char **argv)
{
    size_t i;
    int how;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    room = test_alloc((1 << 20) + 2 * GUARD);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (how = 0; how < 4; how++) {
            run(sizes[i], 0, how);
            run(sizes[i], sizes[i] - 1, how);
            run(sizes[i], sizes[i] / 2, how);
        }
    free(room);
    return test_end();
}
