/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5: a blocking receive while others are posted, few or many, for the same and other tags: it gets the first
 * message of its tag that none of them takes, and each of them what it would get if all had been posted. */
#include "mpitest.h"

enum { ROUNDS = 300, MOST = 40, TAGS = 6 };

static int tags[MOST + 1], values[MOST + 1], tag_sent[MOST + 1], want[MOST + 1];

/* What is posted in a round, the blocking receive last, and which messages are sent: those that somebody takes. */
static int plan(int round, int from)
{
    uint64_t state = test_key(round, from, 5);
    const int count = (int)test_below(&state, round % 3 ? MOST : 5);
    int left[MOST + 1], n = count + 1, i, k;

    for (i = 0; i <= count; i++) {
        tags[i] = i < count && !test_below(&state, 8) ? MPI_ANY_TAG : (int)test_below(&state, TAGS);
        left[i] = i;
    }
    for (i = 0; i <= count; i++, n--) {
        const int aim = tags[left[test_below(&state, (size_t)n)]];

        tag_sent[i] = aim == MPI_ANY_TAG ? (int)test_below(&state, TAGS) : aim;
        for (k = 0; tags[left[k]] != MPI_ANY_TAG && tags[left[k]] != tag_sent[i]; k++) { }
        want[left[k]] = i;
        memmove(left + k, left + k + 1, (size_t)(n - k - 1) * sizeof *left);
    }
    return count;
}

static void receive(int round, int from)
{
    MPI_Status st = test_dirty_status();
    MPI_Request reqs[MOST];
    const int count = plan(round, from);
    int i, go = round;

    for (i = 0; i < count; i++)
        CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, i % 5 ? from : MPI_ANY_SOURCE, tags[i], MPI_COMM_WORLD, &reqs[i]));
    if (round % 4 != 1)
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, from, TAGS, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&values[count], 1, MPI_INT, from, tags[count], MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, from, tags[count], sizeof(int));
    CHECK_OK(MPI_Waitall(count, reqs, MPI_STATUSES_IGNORE));
    for (i = 0; i <= count; i++)
        CHECK_INT(values[i], want[i]);
    if (round % 4 == 1)
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, from, TAGS, MPI_COMM_WORLD));
}

/* Before the receives are posted or afterwards. */
static void send(int round, int to)
{
    const int count = plan(round, test_rank);
    int i, go = -1;

    if (round % 4 != 1)
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, to, TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (i = 0; i <= count; i++)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, to, tag_sent[i], MPI_COMM_WORLD));
    if (round % 4 == 1)
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, to, TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(go, round);
}

int main(int argc, char **argv)
{
    int round, other;

    test_begin(&argc, &argv);
    other = test_rank ^ 1;
    for (round = 0; round < ROUNDS && other < test_size; round++) {
        if ((round + test_rank) % 2)
            send(round, other);
        else
            receive(round, other);
    }
    return test_end();
}
