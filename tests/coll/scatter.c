/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.6: MPI_Scatter hands out the parts in rank order from the root: every root, all lengths, in
 * place at the root; the send arguments mean nothing elsewhere. */
#include "mpitest.h"

enum { GUARD = 16, LONGEST = 200000 };

static const int sizes[] = { 0, 4, 40, 164, 4096, 32772, 65540, LONGEST };

static unsigned char *in, *out;

static uint64_t key_of(int rank, int len, int root)
{
    return test_key((uint64_t)rank, (uint64_t)len, (uint64_t)root);
}

static void run(int len, int root, int is_in_place)
{
    int rank;

    memset(in, TEST_CANARY, (size_t)len + GUARD);
    if (test_rank != root) {
        NEEDS(MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, in, len, MPI_BYTE, root, MPI_COMM_WORLD));
    } else {
        for (rank = 0; rank < test_size; rank++)
            test_fill(out + (size_t)rank * (size_t)len, (size_t)len, key_of(rank, len, root));
        NEEDS(MPI_Scatter(out, len, MPI_BYTE, is_in_place ? MPI_IN_PLACE : in, len, MPI_BYTE, root,
                          MPI_COMM_WORLD));
    }
    if (test_rank == root && is_in_place) {
        CHECK_UNTOUCHED(in, (size_t)len);
        CHECK_BYTES(out + (size_t)root * (size_t)len, (size_t)len, key_of(root, len, root));
    } else {
        CHECK_BYTES(in, (size_t)len, key_of(test_rank, len, root));
    }
    CHECK_UNTOUCHED(in + len, GUARD);
}

int main(int argc, char **argv)
{
    size_t k;
    int root;

    test_begin(&argc, &argv);
    in = test_alloc(LONGEST + GUARD);
    out = test_alloc((size_t)LONGEST * (size_t)test_size);
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (root = 0; root < test_size; root++) {
            run(sizes[k], root, 0);
            run(sizes[k], root, 1);
        }
    free(in);
    free(out);
    return test_end();
}
