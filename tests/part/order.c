/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1: of several partitioned operations with the same communicator, tag and partner, the order of the
 * initialization calls decides who matches whom, not the order of the starts; also when some are never started. */
#include "mpipart.h"

enum { N = 6, LEN = 3000, TAG = 5 };

static unsigned char out[N][LEN], in[N][LEN];
static MPI_Request sends[N], recvs[N];

static void make(int i)
{
    NEEDS(MPI_Psend_init(out[i], 3, LEN / 3, MPI_BYTE, ring_right(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    CHECK_OK(MPI_Precv_init(in[i], 2, LEN / 2, MPI_BYTE, ring_left(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[i]));
}

static void drop(int i)
{
    CHECK_OK(MPI_Request_free(&sends[i]));
    CHECK_OK(MPI_Request_free(&recvs[i]));
}

static void transfer(const int *send_order, const int *recv_order, int n, int round)
{
    for (int i = 0; i < n; i++) {
        test_fill(out[send_order[i]], LEN, test_key((uint64_t)test_rank, (uint64_t)send_order[i], (uint64_t)round));
        memset(in[send_order[i]], TEST_CANARY, LEN);
    }
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Start(&sends[send_order[i]]));
        CHECK_OK(MPI_Pready_range(0, 2, sends[send_order[i]]));
    }
    for (int i = 0; i < n; i++)
        CHECK_OK(MPI_Start(&recvs[recv_order[i]]));
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Wait(&recvs[recv_order[i]], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&sends[send_order[i]], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < n; i++)
        CHECK_BYTES(in[send_order[i]], LEN, test_key((uint64_t)ring_left(), (uint64_t)send_order[i], (uint64_t)round));
}

/* One is made and dropped before the partner can have heard of it, then the next is made. */
static void made_in_vain(void)
{
    const int only = 1;

    make(0);
    drop(0);
    make(1);
    transfer(&only, &only, 1, 9);
    drop(1);
    for (int i = 0; i < 100; i++) {
        make(0);
        drop(0);
    }
    make(1);
    transfer(&only, &only, 1, 10);
    drop(1);
}

/* The receiver drops its request before the sender makes its own. */
static void dropped_early(void)
{
    const int only = 1;

    CHECK_OK(MPI_Precv_init(in[0], 2, LEN / 2, MPI_BYTE, ring_left(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[0]));
    CHECK_OK(MPI_Request_free(&recvs[0]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Psend_init(out[0], 3, LEN / 3, MPI_BYTE, ring_right(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[0]));
    CHECK_OK(MPI_Request_free(&sends[0]));
    make(1);
    transfer(&only, &only, 1, 11);
    drop(1);
}

int main(int argc, char **argv)
{
    uint64_t state;
    int a[N], b[N];

    test_begin(&argc, &argv);
    state = test_key((uint64_t)test_rank, 0, 4);
    for (int i = 0; i < N; i++)
        make(i);
    for (int round = 0; round < 5; round++) {
        ring_shuffle(a, N, &state);
        ring_shuffle(b, N, &state);
        transfer(a, b, N, round);
    }
    for (int i = 0; i < N; i++)
        drop(i);
    made_in_vain();
    dropped_early();
    return test_end();
}
