/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5 Order: holds for blocking sends of mixed lengths, received in pre-posted wildcard receives:
 * the first posted receive gets the first message. */
#include "mpitest.h"

enum { MESSAGES = 200, LONGEST = 100000, TAG_GO = 9 };

static int length_of(int sender, int i)
{
    static const int lengths[] = { 0, 8, 40, 41, 160, 161, 5000, 32768, 32769, 65537, LONGEST };
    uint64_t state = test_key(sender, i, 1);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static void send_all(int dest)
{
    unsigned char *buf = test_alloc(LONGEST);
    int i;

    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, dest, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (i = 0; i < MESSAGES; i++) {
        test_fill(buf, (size_t)length_of(test_rank, i), test_key(test_rank, i, 2));
        CHECK_OK(MPI_Send(buf, length_of(test_rank, i), MPI_BYTE, dest, i % 5, MPI_COMM_WORLD));
    }
    free(buf);
}

/* Some receives name the sender, some the tag, some neither: all match the message whose turn it is. */
static void recv_all(int src)
{
    unsigned char *bufs = test_alloc((size_t)MESSAGES * LONGEST);
    MPI_Request reqs[MESSAGES];
    MPI_Status st[MESSAGES];
    int i;

    for (i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Irecv(bufs + (size_t)i * LONGEST, LONGEST, MPI_BYTE, src, MPI_ANY_TAG, MPI_COMM_WORLD,
                           &reqs[i]));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, src, TAG_GO, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(MESSAGES, reqs, st));
    for (i = 0; i < MESSAGES; i++) {
        CHECK_STATUS(&st[i], src, i % 5, (size_t)length_of(src, i));
        CHECK_BYTES(bufs + (size_t)i * LONGEST, (size_t)length_of(src, i), test_key(src, i, 2));
    }
    free(bufs);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (test_rank == 0) {
        send_all(1);
        recv_all(1);
    } else if (test_rank == 1) {
        recv_all(0);
        send_all(0);
    }
    return test_end();
}
