/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.4: a process may send to itself. All lengths, receive posted before and after, nonblocking
 * sends of any length do not wait (§3.7), also on MPI_COMM_SELF. */
#include "mpitest.h"

enum { TAG = 4, GUARD = 32 };

static const size_t sizes[] = { 0,    1,    8,     39,    40,    41,    159,     160,           161,
                                1024, 4096, 32768, 32769, 65536, 65537, 1 << 20, (1 << 20) + 3, 17 << 20 };

typedef int start_function(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *req);

static unsigned char *out, *in;

static void check(size_t len, int rank, uint64_t key, const MPI_Status *st)
{
    CHECK_STATUS(st, rank, TAG, len);
    CHECK_BYTES(in, len, key);
    CHECK_UNTOUCHED(in + len, GUARD);
    memset(in, TEST_CANARY, len);
}

static void receive_first(size_t len, int rank, MPI_Comm comm, start_function *start)
{
    const uint64_t key = test_key(test_rank, len, 1);
    MPI_Request reqs[2];
    MPI_Status st[2];

    test_fill(out, len, key);
    CHECK_OK(MPI_Irecv(in, (int)len + GUARD, MPI_BYTE, rank, TAG, comm, &reqs[0]));
    CHECK_OK(start(out, (int)len, MPI_BYTE, rank, TAG, comm, &reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, st));
    check(len, rank, key, &st[0]);
}

static void send_first(size_t len, int rank, MPI_Comm comm, start_function *start)
{
    const uint64_t key = test_key(test_rank, len, 2);
    MPI_Request req;
    MPI_Status st = test_dirty_status();

    test_fill(out, len, key);
    CHECK_OK(start(out, (int)len, MPI_BYTE, rank, TAG, comm, &req));
    CHECK_OK(MPI_Recv(in, (int)len + GUARD, MPI_BYTE, rank, TAG, comm, &st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check(len, rank, key, &st);
}

static void probed(size_t len, int rank, MPI_Comm comm)
{
    const uint64_t key = test_key(test_rank, len, 3);
    MPI_Message msg;
    MPI_Request req;
    MPI_Status st;

    test_fill(out, len, key);
    CHECK_OK(MPI_Isend(out, (int)len, MPI_BYTE, rank, TAG, comm, &req));
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &st));
    CHECK_STATUS(&st, rank, TAG, len);
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &msg, &st));
    CHECK_OK(MPI_Mrecv(in, (int)len, MPI_BYTE, &msg, &st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check(len, rank, key, &st);
}

/* Blocking calls towards oneself are legal when the receive is posted. */
static void blocking(size_t len, int rank, MPI_Comm comm)
{
    const uint64_t key = test_key(test_rank, len, 4);
    MPI_Request req;
    MPI_Status st;
    int mode;

    for (mode = 0; mode < 3; mode++) {
        test_fill(out, len, key);
        CHECK_OK(MPI_Irecv(in, (int)len, MPI_BYTE, MPI_ANY_SOURCE, TAG, comm, &req));
        if (mode == 0)
            CHECK_OK(MPI_Send(out, (int)len, MPI_BYTE, rank, TAG, comm));
        else if (mode == 1)
            CHECK_OK(MPI_Ssend(out, (int)len, MPI_BYTE, rank, TAG, comm));
        else
            CHECK_OK(MPI_Rsend(out, (int)len, MPI_BYTE, rank, TAG, comm));
        CHECK_OK(MPI_Wait(&req, &st));
        check(len, rank, key, &st);
    }
    test_fill(out, len, key);
    CHECK_OK(MPI_Sendrecv(out, (int)len, MPI_BYTE, rank, TAG, in, (int)len, MPI_BYTE, rank, TAG, comm, &st));
    check(len, rank, key, &st);
}

static void run(MPI_Comm comm)
{
    start_function *const starts[] = { MPI_Isend, MPI_Issend };
    int rank;
    size_t i, k;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (k = 0; k < 2; k++) {
            receive_first(sizes[i], rank, comm, starts[k]);
            send_first(sizes[i], rank, comm, starts[k]);
        }
        receive_first(sizes[i], rank, comm, MPI_Irsend);
        probed(sizes[i], rank, comm);
        blocking(sizes[i], rank, comm);
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    out = test_alloc((17 << 20) + GUARD);
    in = test_alloc((17 << 20) + GUARD);
    run(MPI_COMM_WORLD);
    run(MPI_COMM_SELF);
    free(out);
    free(in);
    return test_end();
}
