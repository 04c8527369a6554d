/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5: a process that is flooded with 150 MB in messages of 1 KB that it does not receive yet still
 * gets all of them, here backwards. Under the library of this project its memory stays bounded meanwhile;
 * under others there are fewer messages, because their queues are linear. */
#include "mpitest.h"

#include <sys/resource.h>

enum { LEN = 1024, KINDS = 61, ALLOWED_KB = 128 * 1024 };

static int messages;

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void flood(unsigned char *bufs, MPI_Request *reqs)
{
    int i;

    for (i = 0; i < KINDS; i++)
        test_fill(bufs + i * LEN, LEN, test_key(0, i, 24));
    for (i = 0; i < messages; i++)
        CHECK_OK(MPI_Isend(bufs + i % KINDS * LEN, LEN, MPI_BYTE, 1, i, MPI_COMM_WORLD, &reqs[i]));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, messages, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(messages, reqs, MPI_STATUSES_IGNORE));
}

static void drain(unsigned char *in)
{
    const long before = peak_kb();
    long grown;
    int i;

    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, messages, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (i = messages - 1; i >= 0; i--) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_BYTES(in, LEN, test_key(0, i % KINDS, 24));
    }
    grown = peak_kb() - before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    grown = 0; /* a sanitizer keeps what is freed */
#endif
    CHECK(!test_is_parley() || grown < ALLOWED_KB,
          "the flood made the receiver grow by %ld KB, allowed are %d", grown, ALLOWED_KB);
}

int main(int argc, char **argv)
{
    unsigned char *bufs;
    MPI_Request *reqs;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    messages = test_is_parley() ? 150000 : 8000;
    bufs = test_alloc(KINDS * LEN);
    if (test_rank == 0) {
        reqs = test_alloc((size_t)messages * sizeof *reqs);
        flood(bufs, reqs);
        free(reqs);
    } else if (test_rank == 1) {
        drain(bufs);
    }
    free(bufs);
    return test_end();
}
