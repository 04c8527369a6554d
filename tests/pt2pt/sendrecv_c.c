/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.7: the large-count forms MPI_Sendrecv_c and MPI_Sendrecv_replace_c are the same calls with MPI_Count
 * counts. */
#include "mpitest.h"

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    static unsigned char out[200000], in[200000];
    static const MPI_Count sizes[] = { 0, 8, 41, 5000, 200000 };
    MPI_Status st;
    size_t i;

    test_begin(&argc, &argv);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;

        test_fill(out, (size_t)sizes[i], test_key(test_rank, i, 0));
        CHECK_OK(MPI_Sendrecv_c(out, sizes[i], MPI_BYTE, right, 1, in, sizes[i], MPI_BYTE, left, 1,
                                MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, left, 1, (size_t)sizes[i]);
        CHECK_BYTES(in, (size_t)sizes[i], test_key(left, i, 0));
        CHECK_OK(MPI_Sendrecv_replace_c(out, sizes[i], MPI_BYTE, right, 1, left, 1, MPI_COMM_WORLD, &st));
        CHECK_STATUS(&st, left, 1, (size_t)sizes[i]);
        CHECK_BYTES(out, (size_t)sizes[i], test_key(left, i, 0));
    }
    return test_end();
#else
    test_begin(&argc, &argv);
    test_skip("no large-count forms before MPI 4.0");
#endif
}
