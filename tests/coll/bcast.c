/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.4: MPI_Bcast gives everybody what the root has: every root, all lengths, several types, int and
 * large-count form; the root's buffer and what lies behind the data stay as they were. */
#include "mpitest.h"

enum { GUARD = 16, LONGEST = 3 << 20 };

static const int sizes[] = { 0, 8, 40, 160, 168, 4096, 32768, 32776, 65544, 1 << 20, LONGEST };

static unsigned char *buf;

static int bcast(int len, int root, int way)
{
    switch (way) {
    case 0: return MPI_Bcast(buf, len, MPI_BYTE, root, MPI_COMM_WORLD);
    case 1: return MPI_Bcast(buf, len / 8, MPI_DOUBLE, root, MPI_COMM_WORLD);
    default:
#if MPI_VERSION >= 4
        return MPI_Bcast_c(buf, len / 4, MPI_INT, root, MPI_COMM_WORLD);
#else
        return MPI_Bcast(buf, len / 4, MPI_INT, root, MPI_COMM_WORLD);
#endif
    }
}

int main(int argc, char **argv)
{
    int root, way;
    size_t k;

    test_begin(&argc, &argv);
    buf = test_alloc(LONGEST + GUARD);
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (root = 0; root<test_size; root += sizes[k]> 100000 ? 2 : 1)
            for (way = 0; way < (sizes[k] > 100000 ? 1 : 3); way++) {
                const uint64_t key = test_key((uint64_t)root, k, (uint64_t)way);

                memset(buf, TEST_CANARY, (size_t)sizes[k] + GUARD);
                if (test_rank == root)
                    test_fill(buf, (size_t)sizes[k], key);
                CHECK_OK(bcast(sizes[k], root, way));
                CHECK_BYTES(buf, (size_t)sizes[k], key);
                CHECK_UNTOUCHED(buf + sizes[k], GUARD);
            }
    free(buf);
    return test_end();
}
