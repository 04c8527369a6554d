/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.2, §3.8.3: a matched probe takes the message out of matching: later probes and receives see
 * only the following messages; matched receives may come in any order and get the message of their handle. */
#include "mpitest.h"

enum { MESSAGES = 60, LONGEST = 150000, TAG = 2 };

static int length_of(int sender, int i)
{
    static const int lengths[] = { 4, 40, 44, 164, 4000, 32772, 65540, LONGEST };
    uint64_t state = test_key(sender, i, 13);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

/* Takes the next message by a matched probe, blocking or polling. */
static void take(int is_blocking, int source, int tag, MPI_Message *msg, MPI_Status *st)
{
    int is_there = 0;

    *st = test_dirty_status();
    *msg = MPI_MESSAGE_NULL;
    if (is_blocking) {
        CHECK_OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, msg, st));
    } else {
        while (!is_there)
            CHECK_OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &is_there, msg, st));
    }
    CHECK(*msg != MPI_MESSAGE_NULL && *msg != MPI_MESSAGE_NO_PROC, "the probe gave no message");
}

static void check(const unsigned char *in, int src, int i, const MPI_Status *st)
{
    CHECK_STATUS(st, src, TAG, (size_t)length_of(src, i));
    CHECK_BYTES(in, (size_t)length_of(src, i), test_key(src, i, 14));
}

/* Half of the messages are held by handles, the other half are received while the handles are held; then the
 * held ones are received backwards. */
static void receive_from(int src, unsigned char *in)
{
    MPI_Message held[MESSAGES];
    MPI_Request req;
    MPI_Status st;
    int i;

    for (i = 0; i < MESSAGES; i += 2) {
        take(i % 4 == 0, i % 3 ? src : MPI_ANY_SOURCE, i % 6 ? TAG : MPI_ANY_TAG, &held[i], &st);
        CHECK_STATUS(&st, src, TAG, (size_t)length_of(src, i));
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, src, TAG, MPI_COMM_WORLD, &st));
        check(in, src, i + 1, &st);
    }
    for (i = MESSAGES - 2; i >= 0; i -= 2) {
        st = test_dirty_status();
        if (i % 4) {
            CHECK_OK(MPI_Mrecv(in, LONGEST, MPI_BYTE, &held[i], &st));
        } else {
            CHECK_OK(MPI_Imrecv(in, LONGEST, MPI_BYTE, &held[i], &req));
            CHECK_OK(MPI_Wait(&req, &st));
        }
        CHECK(held[i] == MPI_MESSAGE_NULL, "the message handle is not null after the matched receive");
        check(in, src, i, &st);
    }
}

static void send_to(int dest, unsigned char *out)
{
    MPI_Request reqs[MESSAGES];
    int i;

    for (i = 0; i < MESSAGES; i++) {
        unsigned char *buf = out + (size_t)i * LONGEST;

        test_fill(buf, (size_t)length_of(test_rank, i), test_key(test_rank, i, 14));
        if (i % 5)
            CHECK_OK(MPI_Isend(buf, length_of(test_rank, i), MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &reqs[i]));
        else
            CHECK_OK(MPI_Issend(buf, length_of(test_rank, i), MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &reqs[i]));
    }
    if (dest == test_rank)
        receive_from(test_rank, out + (size_t)MESSAGES * LONGEST);
    CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    unsigned char *room;
    int is_there = 1, src;
    MPI_Message msg;

    test_begin(&argc, &argv);
    room = test_alloc((size_t)(MESSAGES + 1) * LONGEST);
    CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, &msg, MPI_STATUS_IGNORE));
    CHECK_INT(is_there, 0);
    send_to(test_rank, room);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (src = 1; src < test_size; src++) {
        if (test_rank == src)
            send_to(0, room);
        if (test_rank == 0)
            receive_from(src, room);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(room);
    return test_end();
}
