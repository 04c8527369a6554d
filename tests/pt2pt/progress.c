/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5 Progress, §3.7.4: programs that are legal only if progress is made: exchanges of long
 * nonblocking sends, sends that cross on different communicators, a process blocked in one call serving
 * another, completion by tests alone, waiting for the requests in an unlucky order. */
#include "mpitest.h"

enum { TAG = 1, LEN = 300000 };

static unsigned char *out, *in;
static int right, left;

static void fill(int what)
{
    test_fill(out, LEN, test_key(test_rank, what, 21));
    memset(in, TEST_CANARY, LEN);
}

static void check(int src, int what)
{
    CHECK_BYTES(in, LEN, test_key(src, what, 21));
}

/* Everybody starts a long send, then receives. */
static void exchange(void)
{
    MPI_Request req;

    fill(1);
    CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check(left, 1);
}

/* The send is waited for first, although only the receive that is posted lets the neighbour go on. */
static void unlucky_order(void)
{
    MPI_Request reqs[2];

    fill(2);
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Issend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE));
    check(left, 2);
}

/* Messages of two communicators, received in the other order than sent. */
static void cross(MPI_Comm other)
{
    MPI_Request reqs[2];

    fill(3);
    CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, right, TAG, other, &reqs[1]));
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, left, TAG, other, MPI_STATUS_IGNORE));
    check(left, 3);
    memset(in, TEST_CANARY, LEN);
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(left, 3);
    CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
}

/* Rank 0 is blocked in a receive that only ends after rank 1 got the long message of rank 0. */
static void blocked_but_serving(void)
{
    MPI_Request req;

    fill(4);
    if (test_rank == 0) {
        CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(0, 4);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
}

/* The same, blocked in a barrier and in a probe. */
static void blocked_in_barrier(void)
{
    MPI_Request req = MPI_REQUEST_NULL;

    fill(5);
    if (test_rank == 0)
        CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &req));
    if (test_rank == 1) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(0, 5);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));

    if (test_rank == 0) {
        CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Probe(1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
}

/* Nobody ever waits; an unrelated test also makes progress (§2.9). */
static void only_tests(void)
{
    MPI_Request reqs[3];
    int is_done, n = 0, value = -1, mine = test_rank;

    fill(6);
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, left, TAG + 1, MPI_COMM_WORLD, &reqs[2]));
    while (n < 2) {
        CHECK_OK(MPI_Test(&reqs[n], &is_done, MPI_STATUS_IGNORE));
        n += is_done;
    }
    check(left, 6);
    CHECK_OK(MPI_Send(&mine, 1, MPI_INT, right, TAG + 1, MPI_COMM_WORLD));
    for (is_done = 0; !is_done;)
        CHECK_OK(MPI_Test(&reqs[2], &is_done, MPI_STATUS_IGNORE));
    CHECK_INT(value, left);
}

/* A loop of MPI_Iprobe for a message that comes after a long one has been served by the prober. */
static void only_iprobe(void)
{
    MPI_Request req = MPI_REQUEST_NULL;
    int is_there = 0;

    fill(7);
    if (test_rank == 0) {
        CHECK_OK(MPI_Isend(out, LEN, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &req));
        while (!is_there)
            CHECK_OK(MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(0, 7);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    out = test_alloc(LEN);
    in = test_alloc(LEN);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    exchange();
    unlucky_order();
    cross(other);
    blocked_but_serving();
    blocked_in_barrier();
    only_tests();
    only_iprobe();
    CHECK_OK(MPI_Comm_free(&other));
    free(out);
    free(in);
    return test_end();
}
