/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of messages to whom nobody expects them from, each ended by MPI_Ibarrier, all with one tag: what programs do
 * that find out who sends to whom. Each looks for messages first and tests the barrier afterwards, as many of them do.
 * That is right only if no message of the next round is found while the end of this one has not been told; on one
 * machine Parley sees to it (src/p2p/probe.c). Also: a message is not put off for ever. */
#include "mpitest.h"

enum { ROUNDS = 400, TAG = 7 };

static int rank, size;

/* Does one segment hold all processes, and do collective calls share it? */
static int is_one_node(void)
{
    const char *shared = getenv("PARLEY_SHARED_COLL");
    MPI_Comm node;
    int here;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == size && !(shared && !atoi(shared));
}

static void take(MPI_Comm comm, int round, int source)
{
    int got;

    MPI_Recv(&got, 1, MPI_INT, source, TAG, comm, MPI_STATUS_IGNORE);
    CHECK_INT(got, round);
}

/* Takes a message by a matched probe in every other round. */
static int take_one(MPI_Comm comm, int round)
{
    MPI_Message message;
    MPI_Status status;
    int has, got;

    if (round % 2) {
        MPI_Improbe(MPI_ANY_SOURCE, TAG, comm, &has, &message, &status);
        if (has) {
            MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            CHECK_INT(got, round);
        }
    } else {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &has, &status);
        if (has)
            take(comm, round, status.MPI_SOURCE);
    }
    return has;
}

/* To some of the others, by a pattern that only the sender knows. Returns how many have come. */
static int exchange(MPI_Comm comm, int round)
{
    MPI_Request sends[8], barrier = MPI_REQUEST_NULL;
    int count = 0, is_over = 0, has_begun = 0, taken = 0;

    for (int i = 0; i < size && count < 8; i++) {
        if ((i * 7 + rank * 3 + round) % 3 == 0)
            MPI_Issend(&round, 1, MPI_INT, i, TAG, comm, &sends[count++]);
    }
    while (!is_over) {
        taken += take_one(comm, round);
        if (has_begun) {
            MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(count, sends, &has_begun, MPI_STATUSES_IGNORE);
            if (has_begun)
                MPI_Ibarrier(comm, &barrier);
        }
    }
    return taken;
}

static int expected(int round)
{
    int count = 0;

    for (int from = 0; from < size; from++) {
        int before = 0;
        for (int i = 0; i < rank; i++)
            before += (i * 7 + from * 3 + round) % 3 == 0;
        count += (rank * 7 + from * 3 + round) % 3 == 0 && before < 8;
    }
    return count;
}

static void rounds(MPI_Comm comm, int is_safe)
{
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_INT(exchange(comm, round), expected(round));
        if (!is_safe)
            MPI_Barrier(comm);
    }
}

/* Nobody asks for the barrier, and the message is found all the same; one that has been told of stays. */
static void not_for_ever(MPI_Comm comm)
{
    MPI_Request barrier, send;
    int has = 0, value = 5;

    MPI_Ibarrier(comm, &barrier);
    MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, TAG, comm, &send);
    while (!has)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &has, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &has, MPI_STATUS_IGNORE);
    CHECK_INT(has, 1);
    take(comm, 5, (rank - 1 + size) % size);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

/* Many at once, told in any order; the one begun last is over last. */
static void many(MPI_Comm comm)
{
    MPI_Request barriers[20];
    int flag;

    for (int i = 0; i < 20; i++)
        MPI_Ibarrier(comm, &barriers[i]);
    MPI_Wait(&barriers[19], MPI_STATUS_IGNORE);
    for (int i = 18; i >= 0; i--) {
        MPI_Test(&barriers[i], &flag, MPI_STATUS_IGNORE);
        if (!flag)
            MPI_Wait(&barriers[i], MPI_STATUS_IGNORE);
    }
}

/* None is over before all have begun it. */
static void in_time(MPI_Comm comm)
{
    for (int late = 0; late < size; late++) {
        MPI_Request barrier;
        int flag = 0, ready = 0;

        if (rank == late) {
            for (int i = 0; i < size - 1; i++)
                MPI_Recv(&ready, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
            MPI_Ibarrier(comm, &barrier);
        } else {
            MPI_Ibarrier(comm, &barrier);
            for (int i = 0; i < 10; i++) {
                MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
                CHECK_INT(flag, 0);
            }
            MPI_Send(&ready, 1, MPI_INT, late, 1, comm);
        }
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int is_safe;

    test_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_safe = is_one_node();
    rounds(MPI_COMM_WORLD, is_safe);
    not_for_ever(MPI_COMM_WORLD);
    many(MPI_COMM_WORLD);
    in_time(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) { /* a shelf again that others had, and a communicator without one at first */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        many(comm);
        MPI_Barrier(comm);
        in_time(comm);
        many(comm);
        rounds(comm, is_safe);
        MPI_Comm_free(&comm);
    }
    return test_end();
}
