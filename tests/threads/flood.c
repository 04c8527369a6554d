/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5, §11.6: a process that is flooded receives in several threads, each from the last message back and on a
 * communicator of its own, while another thread sends as much to itself. None keeps another from what it waits for. */
#include "mpithread.h"

enum { MESSAGES = 300, LEN = 700 };

static MPI_Comm comms[THREADS];
static unsigned char out[LEN];

static void send_all(int dest, MPI_Comm comm, MPI_Request *reqs)
{
    int tag;

    for (tag = 0; tag < MESSAGES; tag++)
        CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, dest, tag, comm, &reqs[tag]));
}

static void receive_all(int src, MPI_Comm comm)
{
    unsigned char in[LEN];
    int tag;

    for (tag = MESSAGES - 1; tag >= 0; tag--) {
        if (tag % 3 == 0)
            CHECK_OK(MPI_Probe(src, tag, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, src, tag, comm, MPI_STATUS_IGNORE));
        CHECK_BYTES(in, LEN, test_key(0, 0, 42));
    }
}

/* Rank 0 receives, the others send; the last thread of each does both with itself. */
static void body(int me)
{
    MPI_Request *reqs = test_alloc(MESSAGES * sizeof *reqs);
    int src;

    if (me == THREADS - 1) {
        send_all(test_rank, comms[me], reqs);
        receive_all(test_rank, comms[me]);
        CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
    } else if (test_rank) {
        send_all(0, comms[me], reqs);
        CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
    } else {
        for (src = test_size - 1; src > 0; src--)
            receive_all(src, comms[me]);
    }
    free(reqs);
}

int main(int argc, char **argv)
{
    int i;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    test_fill(out, LEN, test_key(0, 0, 42));
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, body);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
