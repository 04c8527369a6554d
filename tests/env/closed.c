/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has closed its standard streams before MPI_Init: what it prints afterwards goes nowhere, and above all
 * into no file and no socket of the library's. Legal, and usual in programs that run in the background. */
#include <errno.h>
#include <unistd.h>

#include "mpitest.h"

enum { LONG = 300000 };

static char sent[LONG], came[LONG];

static void exchange(int bytes)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;

    CHECK_OK(MPI_Sendrecv(sent, bytes, MPI_BYTE, right, 1, came, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK(!memcmp(sent, came, (size_t)bytes), "other bytes than were sent");
}

/* Standard error stays: this test speaks through it. */
static void check_closed(void)
{
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
        errno = 0;
        CHECK(write(fd, "into the void", 13) < 0 && errno == EBADF, "descriptor %d is in use", fd);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    test_begin(&argc, &argv);
    memset(sent, 's', sizeof sent);
    check_closed();
    exchange(1);
    check_closed();
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &comm));
    exchange(LONG);
    CHECK_OK(MPI_Comm_free(&comm));
    check_closed();
    return test_end();
}
