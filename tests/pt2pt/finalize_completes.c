/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.9, §11.2.2: a process that has gone into MPI_Finalize still serves its freed sends: a message of
 * any length, started there and then forgotten, arrives although its receiver asks much later. */
#include "mpitest.h"

#include <time.h>

enum { TAG = 1, MESSAGES = 8, LONGEST = 1 << 20 };

static const int sizes[MESSAGES] = { 0, 8, 100, 5000, 32769, 65537, 300000, LONGEST };

int main(int argc, char **argv)
{
    static unsigned char bufs[MESSAGES][LONGEST]; /* stays valid to the end */
    const struct timespec pause = { 0, 30 * 1000 * 1000 };
    MPI_Request req;
    MPI_Status st;
    int i, k;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (test_rank < test_size - 1) {
        for (i = 0; i < MESSAGES; i++) {
            test_fill(bufs[i], (size_t)sizes[i], test_key(test_rank, i, 19));
            CHECK_OK(MPI_Isend(bufs[i], sizes[i], MPI_BYTE, test_size - 1, TAG, MPI_COMM_WORLD, &req));
            CHECK_OK(MPI_Request_free(&req));
        }
        return test_end();
    }
    nanosleep(&pause, NULL);
    for (k = test_size - 2; k >= 0; k--)
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(bufs[0], LONGEST, MPI_BYTE, k, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, k, TAG, (size_t)sizes[i]);
            CHECK_BYTES(bufs[0], (size_t)sizes[i], test_key(k, i, 19));
        }
    return test_end();
}
