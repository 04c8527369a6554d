/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6: with MPI_THREAD_MULTIPLE, threads talk at the same time, on communicators of their own or on
 * one communicator with tags of their own: every thread gets its messages, in order, whole. Argument:
 * comms|tags. */
#include "mpithread.h"

enum { ROUNDS = 150, LONGEST = 100000 };

static MPI_Comm comms[THREADS];
static int has_own_comm;

static int length_of(int thread, int round)
{
    static const int lengths[] = { 0, 8, 8, 40, 200, 5000, 8, 33000, 8, LONGEST };
    uint64_t state = test_key((uint64_t)thread, (uint64_t)round, 50);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static void body(int thread)
{
    MPI_Comm comm = has_own_comm ? comms[thread] : MPI_COMM_WORLD;
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    const int tag = has_own_comm ? 0 : thread;
    unsigned char *out = test_alloc(LONGEST), *in = test_alloc(LONGEST);
    MPI_Status st;
    int round, len;

    for (round = 0; round < ROUNDS; round++) {
        len = length_of(thread, round);
        test_fill(out, (size_t)len, test_key((uint64_t)test_rank, (uint64_t)thread, (uint64_t)round));
        CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, right, tag, in, LONGEST, MPI_BYTE, left,
                              has_own_comm ? MPI_ANY_TAG : tag, comm, &st));
        CHECK_STATUS(&st, left, tag, (size_t)len);
        CHECK_BYTES(in, (size_t)len, test_key((uint64_t)left, (uint64_t)thread, (uint64_t)round));
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int i;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(argc == 2, "usage: pingpong comms|tags");
    has_own_comm = strcmp(argv[1], "comms") == 0;
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, body);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
