/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.3, §11.2.2: a process that has gone into MPI_Finalize still serves its freed receives: who sends to
 * them, later and with messages of any length, is not left waiting. */
#include "mpitest.h"

#include <time.h>

enum { TAG = 1, MESSAGES = 6, LONGEST = 1 << 20 };

static const int sizes[MESSAGES] = { 0, 8, 5000, 40000, 300000, LONGEST };

int main(int argc, char **argv)
{
    static unsigned char bufs[MESSAGES][LONGEST]; /* stays valid to the end */
    const struct timespec pause = { 0, 30 * 1000 * 1000 };
    MPI_Request req;
    int i, k;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (test_rank > 0) {
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Irecv(bufs[i], LONGEST, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &req));
            CHECK_OK(MPI_Request_free(&req));
        }
        return test_end();
    }
    nanosleep(&pause, NULL);
    for (k = 1; k < test_size; k++)
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Isend(bufs[0], sizes[i], MPI_BYTE, k, TAG, MPI_COMM_WORLD, &req));
            CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        }
    return test_end();
}
