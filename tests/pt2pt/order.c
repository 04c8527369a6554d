/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5 Order: two messages of one sender that match the same receive are received in the order in
 * which they were sent, whatever their lengths (short, buffered and rendezvous mixed), send modes and kinds
 * of receive. Every rank sends to its right neighbour and to itself. */
#include "mpitest.h"

enum { ROUNDS = 6, MESSAGES = 60, LONGEST = 200000 };

static const int lengths[] = { 8, 40, 44, 160, 164, 4096, 32768, 32772, 65536, 65540, 131072, LONGEST };

static int length_of(int sender, int round, int i)
{
    uint64_t state = test_key(sender, round, i);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static void start_send(unsigned char *buf, int sender, int round, int i, int dest, MPI_Comm comm,
                       MPI_Request *req)
{
    const int len = length_of(sender, round, i);
    const int tag = i % 3;

    test_fill(buf, (size_t)len, test_key(sender, round, i));
    if (i % 4 == 1)
        CHECK_OK(MPI_Issend(buf, len, MPI_BYTE, dest, tag, comm, req));
    else
        CHECK_OK(MPI_Isend(buf, len, MPI_BYTE, dest, tag, comm, req));
}

static void receive(unsigned char *buf, int round, int src, int tag, MPI_Comm comm, MPI_Status *st)
{
    MPI_Message msg;
    MPI_Request req;

    if (round % 3 == 0) {
        CHECK_OK(MPI_Recv(buf, LONGEST, MPI_BYTE, src, tag, comm, st));
    } else if (round % 3 == 1) {
        CHECK_OK(MPI_Irecv(buf, LONGEST, MPI_BYTE, src, tag, comm, &req));
        CHECK_OK(MPI_Wait(&req, st));
    } else {
        CHECK_OK(MPI_Mprobe(src, tag, comm, &msg, st));
        CHECK_OK(MPI_Mrecv(buf, LONGEST, MPI_BYTE, &msg, st));
    }
}

static void check_message(unsigned char *buf, int sender, int round, int i, const MPI_Status *st)
{
    const int len = length_of(sender, round, i);

    CHECK_STATUS(st, sender, i % 3, (size_t)len);
    CHECK_BYTES(buf, (size_t)len, test_key(sender, round, i));
}

/* All with MPI_ANY_TAG: exactly the sending order. */
static void receive_any_tag(unsigned char *buf, int round, int src, MPI_Comm comm)
{
    MPI_Status st;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        receive(buf, round, src, MPI_ANY_TAG, comm, &st);
        check_message(buf, src, round, i, &st);
    }
}

/* One tag after the other: in order within the tag. */
static void receive_by_tag(unsigned char *buf, int round, int src, MPI_Comm comm)
{
    MPI_Status st;
    int tag, i;

    for (tag = 2; tag >= 0; tag--)
        for (i = tag; i < MESSAGES; i += 3) {
            receive(buf, round, src, tag, comm, &st);
            check_message(buf, src, round, i, &st);
        }
}

static void run(unsigned char *out, unsigned char *in, int round, int dest, int src, MPI_Comm comm)
{
    MPI_Request reqs[MESSAGES];
    size_t at = 0;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        start_send(out + at, test_rank, round, i, dest, comm, &reqs[i]);
        at += (size_t)length_of(test_rank, round, i);
    }
    if (round < ROUNDS / 2)
        receive_any_tag(in, round, src, comm);
    else
        receive_by_tag(in, round, src, comm);
    CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    unsigned char *out, *in;
    int round, right, left;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    out = test_alloc((size_t)MESSAGES * LONGEST);
    in = test_alloc(LONGEST);
    for (round = 0; round < ROUNDS; round++) {
        run(out, in, round, right, left, MPI_COMM_WORLD);
        run(out, in, round, test_rank, test_rank, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    return test_end();
}
