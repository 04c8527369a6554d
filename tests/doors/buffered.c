/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer with exactly the room that the program's ABI asks for holds all messages, and comes back as it was given. */
#include "mpitest.h"

enum { MESSAGES = 40, LEN = 100 };

static char buffer[MESSAGES * (LEN + MPI_BSEND_OVERHEAD)], message[LEN];

int main(int argc, char **argv)
{
    const int size = sizeof buffer;
    void *address;
    int length;

    test_begin(&argc, &argv);
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(MPI_Buffer_attach(buffer, size));
        CHECK_CLASS(MPI_Buffer_attach(buffer, size), MPI_ERR_BUFFER);
        for (int i = 0; i < MESSAGES; i++) {
            memset(message, i, LEN);
            CHECK_OK(MPI_Bsend(message, LEN, MPI_CHAR, (test_rank + 1) % test_size, i, MPI_COMM_WORLD));
        }
        for (int i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(message, LEN, MPI_CHAR, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(message[LEN - 1], i);
        }
        CHECK_OK(MPI_Buffer_detach(&address, &length));
        CHECK(address == buffer && length == size, "%p %d, not %p %d", address, length, (void *)buffer, size);
    }
    return test_end();
}
