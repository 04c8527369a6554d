/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.2, §11.6.2: threads that take messages of unknown length by matched probe from the same
 * communicator with wildcards never get each other's message: each is received once, whole. */
#include "mpithread.h"

enum { MESSAGES = 400, LONGEST = 60000 };

static char seen[64][MESSAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int length_of(int sender, int i)
{
    static const int lengths[] = { 4, 8, 44, 164, 1000, 33000, LONGEST };
    uint64_t state = test_key((uint64_t)sender, (uint64_t)i, 51);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static void note(int sender, int i)
{
    pthread_mutex_lock(&lock);
    CHECK(i >= 0 && i < MESSAGES && !seen[sender][i], "message %d of rank %d came twice", i, sender);
    seen[sender][i] = 1;
    pthread_mutex_unlock(&lock);
}

/* Thread t of rank 0 takes its share of all messages. */
static void receiver(int thread)
{
    const int share = MESSAGES * (test_size - 1) / THREADS;
    unsigned char *in = test_alloc(LONGEST), *want = test_alloc(LONGEST);
    MPI_Message msg;
    MPI_Status st;
    int n, count, i;

    (void)thread;
    for (n = 0; n < share; n++) {
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &msg, &st));
        CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &count));
        CHECK_OK(MPI_Mrecv(in, count, MPI_BYTE, &msg, &st));
        memcpy(&i, in, sizeof i);
        note(st.MPI_SOURCE, i);
        CHECK_STATUS(&st, st.MPI_SOURCE, i % 10, (size_t)length_of(st.MPI_SOURCE, i));
        test_fill(want, (size_t)count, test_key((uint64_t)st.MPI_SOURCE, (uint64_t)i, 52));
        CHECK(memcmp(in + 4, want + 4, (size_t)count - 4) == 0, "message %d of rank %d is damaged", i,
              st.MPI_SOURCE);
    }
    free(in);
    free(want);
}

static void sender(int thread)
{
    unsigned char *out = test_alloc(LONGEST);
    int i;

    for (i = thread; i < MESSAGES; i += THREADS) {
        test_fill(out, (size_t)length_of(test_rank, i), test_key((uint64_t)test_rank, (uint64_t)i, 52));
        memcpy(out, &i, sizeof i);
        CHECK_OK(MPI_Send(out, length_of(test_rank, i), MPI_BYTE, 0, i % 10, MPI_COMM_WORLD));
    }
    free(out);
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    test_needs_ranks(2);
    CHECK(test_size <= 64, "made for at most 64 ranks");
    run_threads(THREADS, test_rank == 0 ? receiver : sender);
    return test_end();
}
