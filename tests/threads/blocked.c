/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6.2: a blocked call blocks only its thread: while one thread waits in MPI_Recv (or MPI_Probe)
 * for a message that this process will send itself at the very end, the other goes on communicating. */
#include "mpithread.h"

enum { ROUNDS = 300, TAG_LAST = 77 };

static int is_probing;

static void waiter(void)
{
    int value = 0;

    if (is_probing)
        CHECK_OK(MPI_Probe(test_rank, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, test_rank, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(value, ROUNDS);
}

static void worker(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int round, in, sum;

    for (round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        CHECK_INT(in, round);
        if (round % 20 == 0) {
            CHECK_OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK_INT(sum, round * test_size);
        }
    }
    CHECK_OK(MPI_Send(&round, 1, MPI_INT, test_rank, TAG_LAST, MPI_COMM_WORLD));
}

static void body(int thread)
{
    if (thread == 0)
        waiter();
    else
        worker();
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(2, body);
    is_probing = 1;
    run_threads(2, body);
    return test_end();
}
