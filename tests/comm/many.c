/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4: thousands of communicators, one after the other and hundreds at a time: contexts do not run
 * out, and a new one never sees messages of an old one. Memory that they took is given back. */
#include "mpitest.h"

#include <sys/resource.h>

enum { CYCLES = 3000, AT_ONCE = 400, ALLOWED_KB = 20 * 1024 };

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void use(MPI_Comm comm, int i)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int in = -1;

    CHECK_OK(MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in, i);
}

static void cycles(int n)
{
    MPI_Comm comm;
    int i;

    for (i = 0; i < n; i++) {
        if (i % 2)
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        else
            CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &comm));
        if (i % 10 == 0)
            use(comm, i);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[AT_ONCE];
    int i, n;
    long before, grown;

    test_begin(&argc, &argv);
    n = test_is_parley() ? CYCLES : 300; /* others are slow when ranks outnumber cores */
    cycles(n / 3);
    before = peak_kb();
    cycles(n - n / 3);
    grown = peak_kb() - before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    grown = 0; /* a sanitizer keeps what is freed */
#endif
    CHECK(grown < ALLOWED_KB, "%d cycles of dup and free took %ld KB more", n, grown);
    n = test_is_parley() ? AT_ONCE : 50;
    for (i = 0; i < n; i++)
        CHECK_OK(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    for (i = n - 1; i >= 0; i -= 7)
        use(comms[i], i);
    for (i = 0; i < n; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
