/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.3: MPI_Comm_free only marks the communicator: operations that are pending on it complete
 * normally, short and long, receives posted before and messages not yet received. */
#include "mpitest.h"

enum { TAG = 1, N = 4, LONGEST = 300000 };

static const int sizes[N] = { 8, 5000, 40000, LONGEST };

static unsigned char out[N][LONGEST], in[N][LONGEST];

/* 0: receives first, 1: sends first */
static void run(int order)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    MPI_Request reqs[2 * N];
    MPI_Status st[2 * N];
    MPI_Comm comm;
    int i, k;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (k = 0; k < 2; k++)
        for (i = 0; i < N; i++) {
            if (k == order) {
                CHECK_OK(MPI_Irecv(in[i], LONGEST, MPI_BYTE, left, TAG, comm, &reqs[i]));
                continue;
            }
            test_fill(out[i], (size_t)sizes[i], test_key((uint64_t)test_rank, (uint64_t)i, 43));
            CHECK_OK(MPI_Isend(out[i], sizes[i], MPI_BYTE, right, TAG, comm, &reqs[N + i]));
        }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL, "MPI_Comm_free did not null the handle");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* may reuse what the first one left */
    CHECK_OK(MPI_Waitall(2 * N, reqs, st));
    for (i = 0; i < N; i++) {
        CHECK_STATUS(&st[i], left, TAG, (size_t)sizes[i]);
        CHECK_BYTES(in[i], (size_t)sizes[i], test_key((uint64_t)left, (uint64_t)i, 43));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Comm none = MPI_COMM_NULL, world = MPI_COMM_WORLD;

    test_begin(&argc, &argv);
    run(0);
    run(1);
    CHECK_CLASS(MPI_Comm_free(&none), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    return test_end();
}
