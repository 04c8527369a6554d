/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5: 30,000 small messages of changing length in one direction, then back and forth: every ring of
 * slots, queue and sequence number inside wraps many times, and nothing gets lost, doubled or out of order.
 */
#include "mpitest.h"

enum { STREAM = 30000, PING = 4000, MOST = 300 };

static int length_of(int i)
{
    return i * 7 % MOST;
}

static void check(const unsigned char *in, int i, int src, const MPI_Status *st)
{
    CHECK_STATUS(st, src, i & 0x7fff, (size_t)length_of(i));
    CHECK_BYTES(in, (size_t)length_of(i), test_key(src, i, 22));
}

static void send(int i, int dest)
{
    unsigned char out[MOST];

    test_fill(out, (size_t)length_of(i), test_key(test_rank, i, 22));
    CHECK_OK(MPI_Send(out, length_of(i), MPI_BYTE, dest, i & 0x7fff, MPI_COMM_WORLD));
}

static void receive(int i, int src)
{
    unsigned char in[MOST];
    MPI_Status st;

    CHECK_OK(MPI_Recv(in, MOST, MPI_BYTE, src, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
    check(in, i, src, &st);
}

int main(int argc, char **argv)
{
    int i, peer;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    peer = test_rank ^ 1;
    if (peer < test_size) {
        for (i = 0; i < STREAM; i++)
            if (test_rank < peer)
                send(i, peer);
            else
                receive(i, peer);
        for (i = 0; i < PING; i++) {
            if (test_rank < peer)
                send(i, peer);
            receive(i, peer);
            if (test_rank > peer)
                send(i, peer);
        }
    }
    return test_end();
}
