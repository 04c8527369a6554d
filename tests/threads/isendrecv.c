/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.2, §11.6.2: sends and receives in one request from all threads at once, round the ring, short and long,
 * with one buffer and two; one thread completes what another has started. */
#include "mpithread.h"

enum { EACH = 12, LONGEST = 70000, ROUNDS = 3 };

static unsigned char *out[THREADS][EACH], *in[THREADS][EACH];
static MPI_Request reqs[THREADS][EACH];
static int now;

static size_t length(int i)
{
    static const size_t lengths[] = { 4, 300, 9000, LONGEST };

    return lengths[i % 4];
}

static void start(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int i;

    for (i = 0; i < EACH; i++) {
        const int len = (int)length(i), tag = 100 * thread + i;

        test_fill(out[thread][i], (size_t)len, test_key(test_rank, tag, now));
        if (i % 3) {
            CHECK_OK(MPI_Isendrecv(out[thread][i], len, MPI_BYTE, right, tag, in[thread][i], len, MPI_BYTE, left, tag,
                                   MPI_COMM_WORLD, &reqs[thread][i]));
        } else {
            memcpy(in[thread][i], out[thread][i], (size_t)len);
            CHECK_OK(MPI_Isendrecv_replace(in[thread][i], len, MPI_BYTE, right, tag, left, tag, MPI_COMM_WORLD,
                                           &reqs[thread][i]));
        }
    }
}

static void finish(int thread)
{
    const int other = (thread + 1) % THREADS, left = (test_rank + test_size - 1) % test_size;
    int done, i;
    MPI_Status st;

    for (done = 0; done < EACH; done++) {
        CHECK_OK(MPI_Waitany(EACH, reqs[other], &i, &st));
        CHECK_STATUS(&st, left, 100 * other + i, length(i));
        CHECK_BYTES(in[other][i], length(i), test_key(left, 100 * other + i, now));
    }
}

int main(int argc, char **argv)
{
    int thread, i;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (thread = 0; thread < THREADS; thread++)
        for (i = 0; i < EACH; i++) {
            out[thread][i] = test_alloc(LONGEST);
            in[thread][i] = test_alloc(LONGEST);
        }
    for (now = 0; now < ROUNDS; now++) {
        run_threads(THREADS, start);
        run_threads(THREADS, finish);
    }
    for (thread = 0; thread < THREADS; thread++)
        for (i = 0; i < EACH; i++) {
            free(out[thread][i]);
            free(in[thread][i]);
        }
    return test_end();
}
