/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.7: MPI_Sendrecv_replace sends and receives with one buffer: the received message takes the
 * place of the sent one, all lengths, round rings of any distance. */
#include "mpitest.h"

enum { LONGEST = 300000, TAG = 1 };

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 41, 5000, 32769, LONGEST };
    unsigned char *buf;
    MPI_Status st;
    size_t i;
    int distance;

    test_begin(&argc, &argv);
    buf = test_alloc(LONGEST);
    NEEDS(MPI_Sendrecv_replace(buf, 1, MPI_BYTE, test_rank, TAG, test_rank, TAG, MPI_COMM_WORLD, &st));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (distance = 0; distance < test_size; distance++) {
            const int dest = (test_rank + distance) % test_size;
            const int src = (test_rank + test_size - distance) % test_size;

            test_fill(buf, (size_t)sizes[i], test_key(test_rank, i, distance));
            CHECK_OK(MPI_Sendrecv_replace(buf, sizes[i], MPI_BYTE, dest, TAG, src, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, src, TAG, (size_t)sizes[i]);
            CHECK_BYTES(buf, (size_t)sizes[i], test_key(src, i, distance));
        }
    free(buf);
    return test_end();
}
