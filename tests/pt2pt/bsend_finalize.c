/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.9, §11.2.2: messages that are still in an attached buffer when MPI_Finalize begins arrive, although their
 * receiver asks much later. Nothing is detached. */
#include "mpitest.h"

#include <time.h>

enum { TAG = 1, MESSAGES = 6, LONGEST = 300000 };

static const int sizes[MESSAGES] = { 0, 8, 5000, 32769, 65537, LONGEST };

int main(int argc, char **argv)
{
    static unsigned char buf[LONGEST], space[2 * LONGEST]; /* stay valid to the end */
    const struct timespec pause = { 0, 30 * 1000 * 1000 };
    MPI_Status st;
    int i, k;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    NEEDS(MPI_Buffer_attach(space, sizeof space));
    if (test_rank < test_size - 1) {
        for (i = 0; i < MESSAGES; i++) {
            test_fill(buf, (size_t)sizes[i], test_key(test_rank, i, 19));
            CHECK_OK(MPI_Bsend(buf, sizes[i], MPI_BYTE, test_size - 1, TAG, MPI_COMM_WORLD));
        }
        return test_end();
    }
    nanosleep(&pause, NULL);
    for (k = test_size - 2; k >= 0; k--)
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(buf, LONGEST, MPI_BYTE, k, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, k, TAG, (size_t)sizes[i]);
            CHECK_BYTES(buf, (size_t)sizes[i], test_key(k, i, 19));
        }
    return test_end();
}
