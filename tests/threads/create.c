/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_create_group may be called by several threads at once on one communicator, kept apart by
 * their tags. Every thread makes communicators of changing groups, talks in them and frees them.
 *
 * Some members come late: then messages reach a process before it has made the communicator (in Parley, before it has
 * opened that communicator's lane), more of them than a queue between two processes holds. */
#include "mpithread.h"

#include <unistd.h>

enum { ROUNDS = 15, BURST = 100, LONG = 60000 };

/* Members of a round: all but one when there are enough, in another order each time. */
static int members(int thread, int round, int *ranks)
{
    const int left_out = test_size > 2 ? (thread + round) % test_size : -1;
    int n = 0, i;

    for (i = 0; i < test_size; i++) {
        const int rank = (i + thread * 3 + round) % test_size;
        if (rank != left_out)
            ranks[n++] = rank;
    }
    return n;
}

/* From the first member to all others, and a word back. */
static void talk(MPI_Comm comm, int thread, int round)
{
    unsigned char *data = test_alloc(LONG);
    MPI_Request reqs[BURST + 1];
    int values[BURST], rank, size, i, to, back;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    if (rank == 0) {
        test_fill(data, LONG, test_key((uint64_t)thread, (uint64_t)round, 3));
        for (to = 1; to < size; to++) {
            for (i = 0; i < BURST; i++) {
                values[i] = thread * 10000 + round * 100 + i;
                CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, to, i, comm, &reqs[i]));
            }
            CHECK_OK(MPI_Isend(data, LONG, MPI_BYTE, to, 0, comm, &reqs[BURST]));
            CHECK_OK(MPI_Waitall(BURST + 1, reqs, MPI_STATUSES_IGNORE));
        }
        for (to = 1; to < size; to++)
            CHECK_OK(MPI_Recv(&back, 1, MPI_INT, to, 1, comm, MPI_STATUS_IGNORE));
    } else {
        for (i = BURST - 1; i >= 0; i--) {
            CHECK_OK(MPI_Recv(&back, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
            CHECK_INT(back, thread * 10000 + round * 100 + i);
        }
        CHECK_OK(MPI_Recv(data, LONG, MPI_BYTE, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
        CHECK_BYTES(data, LONG, test_key((uint64_t)thread, (uint64_t)round, 3));
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, 0, 1, comm));
    }
    free(data);
}

static void body(int thread)
{
    int ranks[64], n, round, position;
    MPI_Group world, group;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (round = 0; round < ROUNDS; round++) {
        n = members(thread, round, ranks);
        CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
        CHECK_OK(MPI_Group_rank(group, &position));
        if (position != MPI_UNDEFINED) {
            if (position == n - 1 && round % 5 == 0)
                usleep(2000);
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, thread, &comm));
            talk(comm, thread, round);
            CHECK_OK(MPI_Comm_free(&comm));
        }
        CHECK_OK(MPI_Group_free(&group));
    }
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(test_size <= 64, "made for at most 64 ranks");
    run_threads(THREADS, body);
    return test_end();
}
