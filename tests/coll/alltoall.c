/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.8: MPI_Alltoall: part j of rank i becomes part i of rank j; in place the parts are exchanged in
 * the receive buffer. All lengths, int and large-count form. */
#include "mpitest.h"

enum { GUARD = 16, LONGEST = 150000 };

static const int sizes[] = { 0, 4, 8, 40, 164, 4096, 32772, 65540, LONGEST };

static unsigned char *in, *out;

static int alltoall(int len, int way)
{
    if (way == 1)
        return MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, len, MPI_BYTE, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    if (way == 2)
        return MPI_Alltoall_c(out, len / 4, MPI_INT, in, len / 4, MPI_INT, MPI_COMM_WORLD);
#endif
    return MPI_Alltoall(out, len, MPI_BYTE, in, len, MPI_BYTE, MPI_COMM_WORLD);
}

static uint64_t key_of(int from, int to, size_t k)
{
    return test_key((uint64_t)from, (uint64_t)to, k);
}

int main(int argc, char **argv)
{
    int way, rank;
    size_t k;

    test_begin(&argc, &argv);
    in = test_alloc((size_t)LONGEST * (size_t)test_size + GUARD);
    out = test_alloc((size_t)LONGEST * (size_t)test_size);
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (way = 0; way < 3; way++) {
            const size_t len = (size_t)sizes[k];

            memset(in, TEST_CANARY, len * (size_t)test_size + GUARD);
            for (rank = 0; rank < test_size; rank++)
                test_fill((way == 1 ? in : out) + (size_t)rank * len, len, key_of(test_rank, rank, k));
            CHECK_OK(alltoall(sizes[k], way));
            for (rank = 0; rank < test_size; rank++)
                CHECK_BYTES(in + (size_t)rank * len, len, key_of(rank, test_rank, k));
            CHECK_UNTOUCHED(in + (size_t)test_size * len, GUARD);
        }
    free(in);
    free(out);
    return test_end();
}
