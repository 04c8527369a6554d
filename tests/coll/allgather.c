/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.7: MPI_Allgather gives everybody all parts in rank order; in place the own part is taken from
 * the receive buffer and the send arguments are not looked at. All lengths, int and large-count form. */
#include "mpitest.h"

enum { GUARD = 16, LONGEST = 300000 };

static const int sizes[] = { 0, 4, 8, 40, 164, 4096, 32772, 65540, LONGEST };

static unsigned char *in, *out;

static int allgather(int len, int way)
{
    if (way == 1)
        return MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, len, MPI_BYTE, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    if (way == 2)
        return MPI_Allgather_c(out, len / 4, MPI_INT, in, len / 4, MPI_INT, MPI_COMM_WORLD);
#endif
    return MPI_Allgather(out, len, MPI_BYTE, in, len, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int way, rank;
    size_t k;

    test_begin(&argc, &argv);
    in = test_alloc((size_t)LONGEST * (size_t)test_size + GUARD);
    out = test_alloc(LONGEST);
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (way = 0; way < 3; way++) {
            const size_t len = (size_t)sizes[k];

            memset(in, TEST_CANARY, len * (size_t)test_size + GUARD);
            test_fill(out, len, test_key((uint64_t)test_rank, k, (uint64_t)way));
            if (way == 1)
                memcpy(in + (size_t)test_rank * len, out, len);
            CHECK_OK(allgather(sizes[k], way));
            for (rank = 0; rank < test_size; rank++)
                CHECK_BYTES(in + (size_t)rank * len, len, test_key((uint64_t)rank, k, (uint64_t)way));
            CHECK_UNTOUCHED(in + (size_t)test_size * len, GUARD);
        }
    free(in);
    free(out);
    return test_end();
}
