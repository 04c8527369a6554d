/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.3, §7.1.2: communicators are separate message universes: equal source and tag on another
 * communicator never match, wildcards neither; the status gives the rank within the communicator. */
#include "mpitest.h"

enum { COMMS = 5, TAG = 1, MESSAGES = 20 };

static MPI_Comm comms[COMMS];

/* 0 the world, 1 a duplicate, 2 the world backwards, 3 the halves, 4 a duplicate of the duplicate. */
static void make(void)
{
    comms[0] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_dup(comms[0], &comms[1]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, test_size - test_rank, &comms[2]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &comms[3]));
    CHECK_OK(MPI_Comm_dup(comms[1], &comms[4]));
}

/* Everyone sends on all communicators to its right neighbour there; the receives go through the communicators
 * in another order than the sends, with wildcards. */
static void run(void)
{
    MPI_Request reqs[COMMS * MESSAGES];
    static int out[COMMS][MESSAGES][3];
    int in[3], c, i, rank, size, left;
    MPI_Status st;

    for (i = 0; i < MESSAGES; i++)
        for (c = 0; c < COMMS; c++) {
            CHECK_OK(MPI_Comm_rank(comms[c], &rank));
            CHECK_OK(MPI_Comm_size(comms[c], &size));
            out[c][i][0] = c;
            out[c][i][1] = rank;
            out[c][i][2] = i;
            CHECK_OK(
                MPI_Isend(out[c][i], 3, MPI_INT, (rank + 1) % size, TAG, comms[c], &reqs[c * MESSAGES + i]));
        }
    for (c = COMMS - 1; c >= 0; c--) {
        CHECK_OK(MPI_Comm_rank(comms[c], &rank));
        CHECK_OK(MPI_Comm_size(comms[c], &size));
        left = (rank + size - 1) % size;
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(in, 3, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, i % 3 ? MPI_ANY_TAG : TAG,
                              comms[c], &st));
            CHECK_STATUS(&st, left, TAG, sizeof in);
            CHECK_INT(in[0], c);
            CHECK_INT(in[1], left);
            CHECK_INT(in[2], i);
        }
    }
    CHECK_OK(MPI_Waitall(COMMS * MESSAGES, reqs, MPI_STATUSES_IGNORE));
}

/* A receive on one communicator stays open while messages pass on the others; a probe does not see them. */
static void open_receive(void)
{
    MPI_Request req;
    int in = -1, got = -1, is_there = 1, is_done = 1, value, c, rank;

    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[1], &req));
    for (value = 0; value < 5 * COMMS; value++) {
        c = value % COMMS;
        if (c == 1)
            continue;
        CHECK_OK(MPI_Comm_rank(comms[c], &rank));
        CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, rank, TAG, &got, 1, MPI_INT, rank, TAG, comms[c],
                              MPI_STATUS_IGNORE));
        CHECK_INT(got, value);
    }
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[4], &is_there, MPI_STATUS_IGNORE));
    CHECK_INT(is_there, 0);
    CHECK_OK(MPI_Test(&req, &is_done, MPI_STATUS_IGNORE));
    CHECK_INT(is_done, 0);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, test_rank, TAG, comms[1]));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_INT(in, value);
}

int main(int argc, char **argv)
{
    int c;

    test_begin(&argc, &argv);
    make();
    run();
    open_receive();
    for (c = 1; c < COMMS; c++)
        CHECK_OK(MPI_Comm_free(&comms[c]));
    return test_end();
}
