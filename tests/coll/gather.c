/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.5: MPI_Gather puts the parts in rank order at the root: every root, all lengths, in place, int
 * and large-count form; the receive arguments mean nothing elsewhere. */
#include "mpitest.h"

enum { GUARD = 16, LONGEST = 300000 };

static const int sizes[] = { 0, 4, 8, 40, 164, 4096, 32772, 65540, LONGEST };

static unsigned char *in, *out;

static int gather(const void *part, int len, int root, int is_large_form)
{
#if MPI_VERSION >= 4
    if (is_large_form && test_rank == root)
        return MPI_Gather_c(part, len / 4, MPI_INT, in, len / 4, MPI_INT, root, MPI_COMM_WORLD);
    if (is_large_form)
        return MPI_Gather_c(part, len / 4, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
#endif
    (void)is_large_form;
    if (test_rank == root)
        return MPI_Gather(part, len, MPI_BYTE, in, len, MPI_BYTE, root, MPI_COMM_WORLD);
    return MPI_Gather(part, len, MPI_BYTE, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
}

static void run(int len, int root, int way)
{
    const uint64_t what = (uint64_t)root * 4 + (uint64_t)way;
    const void *part = out;
    int rank;

    memset(in, TEST_CANARY, (size_t)len * (size_t)test_size + GUARD);
    test_fill(out, (size_t)len, test_key((uint64_t)test_rank, (uint64_t)len, what));
    if (way == 1 && test_rank == root) {
        memcpy(in + (size_t)root * (size_t)len, out, (size_t)len);
        part = MPI_IN_PLACE;
    }
    CHECK_OK(gather(part, len, root, way == 2));
    if (test_rank != root) {
        CHECK_UNTOUCHED(in, (size_t)len * (size_t)test_size + GUARD);
        return;
    }
    for (rank = 0; rank < test_size; rank++)
        CHECK_BYTES(in + (size_t)rank * (size_t)len, (size_t)len,
                    test_key((uint64_t)rank, (uint64_t)len, what));
    CHECK_UNTOUCHED(in + (size_t)test_size * (size_t)len, GUARD);
}

int main(int argc, char **argv)
{
    int root, way;
    size_t k;

    test_begin(&argc, &argv);
    in = test_alloc((size_t)LONGEST * (size_t)test_size + GUARD);
    out = test_alloc(LONGEST);
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (root = 0; root < test_size; root++)
            for (way = 0; way < 3; way++)
                run(sizes[k], root, way);
    free(in);
    free(out);
    return test_end();
}
