/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.6, §11.6.2: threads send in buffered mode at the same time, from one buffer, and wait for what is in it,
 * while others receive. With "comms" each thread has a communicator of its own (in Parley, each in another lane), and
 * at last frees one that still has a message in the buffer. */
#include "mpithread.h"

enum { ROUNDS = 15, BATCH = 6, LEN = 60000, SIZE = THREADS * BATCH * (LEN + MPI_BSEND_OVERHEAD) };

static MPI_Comm comms[THREADS];
static int is_apart;

static int len_of(int round, int i)
{
    return round % 3 == 0 ? i : round % 3 == 1 ? 1000 * i : LEN - i;
}

static void send_batch(unsigned char *buf, int thread, int round, int right)
{
    MPI_Request req;
    int i;

    for (i = 0; i < BATCH; i++) {
        const int len = len_of(round, i);
        test_fill(buf, (size_t)len, test_key((uint64_t)(test_rank * 100 + thread), (uint64_t)round, (uint64_t)i));
        if (i % 2) {
            CHECK_OK(MPI_Ibsend(buf, len, MPI_BYTE, right, thread, comms[thread], &req));
            CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Bsend(buf, len, MPI_BYTE, right, thread, comms[thread]));
        }
        memset(buf, 0xEE, (size_t)len);
    }
}

/* The message is on its way, or still in the buffer, when its communicator is freed. */
static void leave_one(unsigned char *buf, unsigned char *in, int thread, int right, int left)
{
    MPI_Comm child;
    MPI_Request req;

    CHECK_OK(MPI_Comm_dup(comms[thread], &child));
    test_fill(buf, LEN, test_key((uint64_t)(test_rank * 100 + thread), ROUNDS, 0));
    CHECK_OK(MPI_Bsend(buf, LEN, MPI_BYTE, right, thread, child));
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, thread, child, &req));
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key((uint64_t)(left * 100 + thread), ROUNDS, 0));
}

/* Nobody sends a batch before the last one has been received, so there is room. What is in the buffer while others send
 * is waited for at the end only: by then all has been received. */
static void body(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    unsigned char *buf = test_alloc(LEN), *in = test_alloc(LEN);
    MPI_Request flushes[ROUNDS];
    int round, i;

    for (round = 0; round < ROUNDS; round++) {
        send_batch(buf, thread, round, right);
        CHECK_OK(MPI_Buffer_iflush(&flushes[round]));
        for (i = 0; i < BATCH; i++) {
            CHECK_OK(MPI_Recv(buf, LEN, MPI_BYTE, left, thread, comms[thread], MPI_STATUS_IGNORE));
            CHECK_BYTES(buf, (size_t)len_of(round, i),
                        test_key((uint64_t)(left * 100 + thread), (uint64_t)round, (uint64_t)i));
        }
        CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, left, THREADS + thread, NULL, 0, MPI_BYTE, right, THREADS + thread,
                              comms[thread], MPI_STATUS_IGNORE));
    }
    if (is_apart)
        leave_one(buf, in, thread, right, left);
    CHECK_OK(MPI_Waitall(ROUNDS, flushes, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Buffer_flush());
    free(buf);
    free(in);
}

int main(int argc, char **argv)
{
    static unsigned char space[SIZE];
    void *detached;
    int size, i;

    is_apart = argc == 2 && strcmp(argv[1], "comms") == 0;
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    NEEDS(MPI_Buffer_attach(space, SIZE));
    for (i = 0; i < THREADS; i++) {
        comms[i] = MPI_COMM_WORLD;
        if (is_apart)
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    }
    run_threads(THREADS, body);
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
    CHECK_INT(size, SIZE);
    for (i = 0; is_apart && i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
