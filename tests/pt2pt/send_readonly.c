/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.1, §3.7.2: the send buffer is only read: it may lie in memory that cannot be written, and
 * several outstanding sends may use it at the same time, also with the process's own receives. */
#include "mpitest.h"

#include <sys/mman.h>

enum { LEN = 1 << 20, SENDS = 8 };

static const int sizes[SENDS] = { 8, 40, 161, 5000, 32768, 32769, 300000, LEN };

int main(int argc, char **argv)
{
    MPI_Request reqs[2 * SENDS];
    unsigned char *out, *in;
    int i, right, left;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    out = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(out != MAP_FAILED, "mmap");
    test_fill(out, LEN, test_key(test_rank, 0, 23));
    CHECK(mprotect(out, LEN, PROT_READ) == 0, "mprotect");
    in = test_alloc((size_t)SENDS * LEN);
    for (i = 0; i < SENDS; i++) {
        CHECK_OK(MPI_Irecv(in + (size_t)i * LEN, LEN, MPI_BYTE, left, i, MPI_COMM_WORLD, &reqs[2 * i]));
        if (i % 2)
            CHECK_OK(MPI_Isend(out, sizes[i], MPI_BYTE, right, i, MPI_COMM_WORLD, &reqs[2 * i + 1]));
        else
            CHECK_OK(MPI_Issend(out, sizes[i], MPI_BYTE, right, i, MPI_COMM_WORLD, &reqs[2 * i + 1]));
    }
    CHECK_OK(MPI_Waitall(2 * SENDS, reqs, MPI_STATUSES_IGNORE));
    for (i = 0; i < SENDS; i++) {
        CHECK_BYTES(in + (size_t)i * LEN, (size_t)sizes[i] / 8 * 8, test_key(left, 0, 23));
        CHECK_UNTOUCHED(in + (size_t)i * LEN + sizes[i], (size_t)(LEN - sizes[i]));
    }
    munmap(out, LEN);
    free(in);
    return test_end();
}
