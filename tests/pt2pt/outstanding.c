/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.2: many operations may be outstanding; posting order, not completion order, decides about
 * matching. 10,000 receives posted with distinct tags; the neighbour sends them in random order. */
#include "mpitest.h"

enum { MESSAGES = 10000 };

static void shuffle(int *order, int n, uint64_t state)
{
    int i, other, keep;

    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = n - 1; i > 0; i--) {
        other = (int)test_below(&state, (size_t)i + 1);
        keep = order[i];
        order[i] = order[other];
        order[other] = keep;
    }
}

int main(int argc, char **argv)
{
    static MPI_Request reqs[2 * MESSAGES];
    static MPI_Status st[2 * MESSAGES];
    static long in[MESSAGES], out[MESSAGES];
    static int order[MESSAGES];
    int i, right, left;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    for (i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_LONG, left, i, MPI_COMM_WORLD, &reqs[i]));
    shuffle(order, MESSAGES, test_key(test_rank, 0, 10));
    for (i = 0; i < MESSAGES; i++) {
        out[order[i]] = test_rank * 1000000L + order[i];
        CHECK_OK(
            MPI_Isend(&out[order[i]], 1, MPI_LONG, right, order[i], MPI_COMM_WORLD, &reqs[MESSAGES + i]));
    }
    CHECK_OK(MPI_Waitall(2 * MESSAGES, reqs, st));
    for (i = 0; i < MESSAGES; i++) {
        CHECK(in[i] == left * 1000000L + i, "receive %d: expected %ld, got %ld", i, left * 1000000L + i,
              in[i]);
        CHECK_STATUS(&st[i], left, i, sizeof(long));
    }
    for (i = 0; i < 2 * MESSAGES; i++)
        CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d is not null after MPI_Waitall", i);
    return test_end();
}
