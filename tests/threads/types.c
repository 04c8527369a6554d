/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6, §5.1.9: threads share datatypes and operators. In each round one thread makes a type, all threads
 * send and receive with it and make types of it, and while that goes on the handle is freed. */
#include "mpithread.h"

enum { ROUNDS = 20, BLOCKS = 60, LENGTH = 300, STRIDE = 400, INTS = BLOCKS * LENGTH, PLACE = BLOCKS * STRIDE };

static MPI_Datatype shared;
static MPI_Op shared_op;
static pthread_barrier_t all;
static int out[THREADS][PLACE], in[THREADS][PLACE];

static void larger(void *a, void *b, int *len, MPI_Datatype *type)
{
    const int *x = a;
    int *y = b, i;

    (void)type;
    for (i = 0; i < *len; i++)
        y[i] = x[i] > y[i] ? x[i] : y[i];
}

/* Even rounds: long blocks, which may be copied as they lie; odd ones: short blocks. */
static void make_shared(int round)
{
    const int shorter = round % 2 ? LENGTH / 3 : 1;
    MPI_Datatype vector;

    CHECK_OK(MPI_Type_vector(BLOCKS * shorter, LENGTH / shorter, STRIDE / shorter, MPI_INT, &vector));
    CHECK_OK(MPI_Type_create_resized(vector, 0, 4 * PLACE, &shared));
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Type_commit(&shared));
    CHECK_OK(MPI_Type_set_name(shared, "shared"));
    CHECK_OK(MPI_Op_create(larger, 1, &shared_op));
}

/* Types of the shared one, and questions about it, at the same time in all threads. */
static void derive(int thread)
{
    const int lengths[] = { 1, 1 };
    const MPI_Aint disps[] = { 0, 4 * PLACE };
    const MPI_Datatype types[] = { shared, shared };
    MPI_Datatype both, copy, inner, real;
    int ni, na, nt, combiner, len, values[4];
    MPI_Aint places[4];
    char name[MPI_MAX_OBJECT_NAME];

    CHECK_OK(MPI_Type_create_struct(2, lengths, disps, types, &both));
    CHECK_OK(MPI_Type_commit(&both));
    CHECK_OK(MPI_Type_dup(shared, &copy));
    CHECK_OK(MPI_Type_get_envelope(shared, &ni, &na, &nt, &combiner));
    CHECK_INT(combiner, MPI_COMBINER_RESIZED);
    CHECK_OK(MPI_Type_get_contents(shared, ni, na, nt, values, places, &inner));
    CHECK_OK(MPI_Type_get_name(shared, name, &len));
    CHECK(strcmp(name, "shared") == 0, "the name is \"%s\"", name);
    CHECK_OK(MPI_Type_create_f90_real(5 + thread, 10, &real));
    CHECK_OK(MPI_Type_free(&inner));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_free(&both));
}

static void check_data(int thread, int round)
{
    const int left = (test_rank + test_size - 1) % test_size;
    int packed[INTS], at = 0, i, size;

    CHECK_OK(MPI_Type_size(shared, &size));
    CHECK_INT(size, (int)sizeof packed);
    CHECK_OK(MPI_Pack(in[thread], 1, shared, packed, sizeof packed, &at, MPI_COMM_WORLD));
    for (i = 0; i < INTS; i++)
        CHECK(packed[i] == i + left + thread + round, "thread %d, round %d: item %d is %d, expected %d", thread, round,
              i, packed[i], i + left + thread + round);
}

static void play(int thread)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    int packed[INTS], round, at, i, best[4], mine[4] = { thread, -thread, 2, 3 };
    MPI_Request reqs[2];
    MPI_Datatype own;

    for (round = 0; round < ROUNDS; round++) {
        if (thread == round % THREADS)
            make_shared(round);
        pthread_barrier_wait(&all);
        CHECK_OK(MPI_Type_dup(shared, &own));
        for (i = 0; i < INTS; i++)
            packed[i] = i + test_rank + thread + round;
        at = 0;
        CHECK_OK(MPI_Unpack(packed, sizeof packed, &at, out[thread], 1, shared, MPI_COMM_WORLD));
        CHECK_OK(MPI_Irecv(in[thread], 1, shared, left, thread, MPI_COMM_WORLD, &reqs[0]));
        CHECK_OK(MPI_Isend(out[thread], 1, own, right, thread, MPI_COMM_WORLD, &reqs[1]));
        CHECK_OK(MPI_Type_free(&own));
        derive(thread);
        memset(best, 0, sizeof best);
        CHECK_OK(MPI_Reduce_local(mine, best, 4, MPI_INT, shared_op));
        CHECK_INT(best[0], thread);
        CHECK_INT(best[1], 0);
        CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
        check_data(thread, round);
        CHECK_OK(MPI_Irecv(in[thread], 1, shared, left, thread, MPI_COMM_WORLD, &reqs[0]));
        pthread_barrier_wait(&all);
        if (thread == (round + 1) % THREADS) { /* the receives go on */
            CHECK_OK(MPI_Type_free(&shared));
            CHECK_OK(MPI_Op_free(&shared_op));
        }
        CHECK_OK(MPI_Send(packed, INTS, MPI_INT, right, thread, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE));
        CHECK_INT(in[thread][0], left + thread + round);
        pthread_barrier_wait(&all);
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(pthread_barrier_init(&all, NULL, THREADS) == 0, "pthread_barrier_init");
    run_threads(THREADS, play);
    return test_end();
}
