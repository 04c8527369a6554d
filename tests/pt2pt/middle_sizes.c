/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2: messages of 1 to 100 KB, which an implementation may hand over while they are still being written,
 * arrive whole and in order, whichever way they are received and whether they come before or after their receive: by a
 * blocking receive, one with more room than needed, from any source, with any tag, by a nonblocking one, after a probe,
 * and by MPI_Sendrecv. Each pair of neighbours (0 and 1, 2 and 3 …) plays, both ways. */
#include "mpitest.h"

enum { MESSAGES = 400, SHORTEST = 1000, LONGEST = 100000, WAYS = 6, IN_TURN = 40 };

static int length_of(int sender, int i)
{
    uint64_t state = test_key(sender, i, 1);

    return SHORTEST + (int)test_below(&state, LONGEST - SHORTEST);
}

static void check_message(unsigned char *buf, const MPI_Status *st, int src, int i)
{
    CHECK_STATUS(st, src, i % 5, (size_t)length_of(src, i));
    CHECK_BYTES(buf, (size_t)length_of(src, i), test_key(src, i, 2));
}

/* The same way for a while, then another one. */
static void receive(unsigned char *buf, int src, int i)
{
    const int way = i / IN_TURN % WAYS, len = length_of(src, i), tag = i % 5;
    MPI_Status st = test_dirty_status();
    MPI_Request req;

    memset(buf, TEST_CANARY, LONGEST);
    if (way == 0) {
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, src, tag, MPI_COMM_WORLD, &st));
    } else if (way == 1) {
        CHECK_OK(MPI_Recv(buf, LONGEST, MPI_BYTE, src, tag, MPI_COMM_WORLD, &st));
    } else if (way == 2) {
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &st));
    } else if (way == 3) {
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, src, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
    } else if (way == 4) {
        CHECK_OK(MPI_Irecv(buf, len, MPI_BYTE, src, tag, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Wait(&req, &st));
    } else {
        CHECK_OK(MPI_Probe(src, tag, MPI_COMM_WORLD, &st));
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, src, tag, MPI_COMM_WORLD, &st));
    }
    check_message(buf, &st, src, i);
}

static void send(unsigned char *buf, int dest, int i)
{
    test_fill(buf, (size_t)length_of(test_rank, i), test_key(test_rank, i, 2));
    CHECK_OK(MPI_Send(buf, length_of(test_rank, i), MPI_BYTE, dest, i % 5, MPI_COMM_WORLD));
    memset(buf, TEST_CANARY, LONGEST); /* ours again */
}

/* To and fro; then rows of messages, of which some come before their receives. */
static void play(int other)
{
    unsigned char *out = test_alloc(LONGEST), *in = test_alloc(LONGEST);
    int i, k;

    for (i = 0; i < MESSAGES; i++) {
        if (test_rank < other)
            send(out, other, i);
        receive(in, other, i);
        if (test_rank > other)
            send(out, other, i);
    }
    for (i = 0; i < MESSAGES; i += 8) {
        for (k = i; k < i + 8 && test_rank < other; k++)
            send(out, other, k);
        for (k = i; k < i + 8; k++)
            receive(in, other, k);
        for (k = i; k < i + 8 && test_rank > other; k++)
            send(out, other, k);
    }
    free(in);
    free(out);
}

/* Both at once. */
static void exchange(int other)
{
    unsigned char *out = test_alloc(LONGEST), *in = test_alloc(LONGEST);
    MPI_Status st;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        test_fill(out, (size_t)length_of(test_rank, i), test_key(test_rank, i, 2));
        st = test_dirty_status();
        CHECK_OK(MPI_Sendrecv(out, length_of(test_rank, i), MPI_BYTE, other, i % 5, in, LONGEST, MPI_BYTE, other, i % 5,
                              MPI_COMM_WORLD, &st));
        check_message(in, &st, other, i);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int other;

    test_begin(&argc, &argv);
    other = test_rank ^ 1;
    if (other < test_size) {
        play(other);
        exchange(other);
    }
    return test_end();
}
