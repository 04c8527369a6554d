/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6, §5.1.9: threads that share a datatype may all commit it, each before it uses it. Whoever comes second,
 * while the first one is still at it, can use it when its own call returns. */
#include "mpithread.h"

#include <stdatomic.h>

enum { ROUNDS = 2000, BLOCKS = 3, INTS = 4, PLACE = 8 };

static MPI_Datatype shared;
static pthread_barrier_t all;
static atomic_int here;
static int data[PLACE];

/* All at once, as nearly as can be. */
static void meet(int round)
{
    atomic_fetch_add(&here, 1);
    for (int i = 0; i < 10000 && atomic_load(&here) < THREADS * (round + 1); i++)
        ;
}

static void use(void)
{
    static const int places[INTS] = { 0, 2, 3, 7 };
    int packed[INTS] = { 0 }, position = 0, unpacked[PLACE] = { 0 };
    MPI_Datatype type = shared;

    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Pack(data, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK_INT(position, sizeof packed);
    for (int i = 0; i < INTS; i++)
        CHECK_INT(packed[i], 10 * places[i]);
    position = 0;
    CHECK_OK(MPI_Unpack(packed, sizeof packed, &position, unpacked, 1, type, MPI_COMM_SELF));
    for (int i = 0; i < INTS; i++)
        CHECK_INT(unpacked[places[i]], 10 * places[i]);
}

static void body(int thread)
{
    static const int lengths[BLOCKS] = { 1, 2, 1 }, disps[BLOCKS] = { 0, 2, 7 };

    for (int round = 0; round < ROUNDS; round++) {
        if (thread == 0)
            CHECK_OK(MPI_Type_indexed(BLOCKS, lengths, disps, MPI_INT, &shared));
        pthread_barrier_wait(&all);
        meet(round);
        use();
        pthread_barrier_wait(&all);
        if (thread == 0)
            CHECK_OK(MPI_Type_free(&shared));
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < PLACE; i++)
        data[i] = 10 * i;
    CHECK_INT(pthread_barrier_init(&all, NULL, THREADS), 0);
    run_threads(THREADS, body);
    CHECK_INT(pthread_barrier_destroy(&all), 0);
    return test_end();
}
