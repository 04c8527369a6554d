/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.1, §6.12: a call that repeats another one, with its buffers in other places, is a call like any other; so
 * are several of one shape that are outstanding at once, and those after them. */
#include "mpitest.h"

enum { MOST = 700, PLACES = 3, ROUNDS = 4 };

enum operation { BCAST, REDUCE, ALLREDUCE, IN_PLACE, ALLGATHER, ALLTOALL, GATHER, SCATTER, SCAN, BLOCKS, OPERATIONS };

static int in[PLACES][MOST * 16], out[PLACES][MOST * 16];

static int value_of(int rank, int step, int i)
{
    return (int)(test_key((uint64_t)rank, (uint64_t)step, (uint64_t)i) % 1000);
}

/* Start it if there is a request, else do it. `a` and `b` are at these places, `n` items a block. */
static void call(enum operation operation, int *a, int *b, int n, int root, MPI_Request *r)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_INT;
    const MPI_Op sum = MPI_SUM;
    int rc = MPI_ERR_OTHER;

    switch (operation) {
    case BCAST: rc = r ? MPI_Ibcast(a, n, type, root, comm, r) : MPI_Bcast(a, n, type, root, comm); break;
    case REDUCE:
        rc = r ? MPI_Ireduce(a, b, n, type, sum, root, comm, r) : MPI_Reduce(a, b, n, type, sum, root, comm);
        break;
    case ALLREDUCE:
        rc = r ? MPI_Iallreduce(a, b, n, type, sum, comm, r) : MPI_Allreduce(a, b, n, type, sum, comm);
        break;
    case IN_PLACE:
        rc = r ? MPI_Iallreduce(MPI_IN_PLACE, a, n, type, sum, comm, r)
               : MPI_Allreduce(MPI_IN_PLACE, a, n, type, sum, comm);
        break;
    case ALLGATHER:
        rc = r ? MPI_Iallgather(a, n, type, b, n, type, comm, r) : MPI_Allgather(a, n, type, b, n, type, comm);
        break;
    case ALLTOALL:
        rc = r ? MPI_Ialltoall(a, n, type, b, n, type, comm, r) : MPI_Alltoall(a, n, type, b, n, type, comm);
        break;
    case GATHER:
        rc = r ? MPI_Igather(a, n, type, b, n, type, root, comm, r)
               : MPI_Gather(a, n, type, b, n, type, root, comm);
        break;
    case SCATTER:
        rc = r ? MPI_Iscatter(a, n, type, b, n, type, root, comm, r)
               : MPI_Scatter(a, n, type, b, n, type, root, comm);
        break;
    case SCAN: rc = r ? MPI_Iscan(a, b, n, type, sum, comm, r) : MPI_Scan(a, b, n, type, sum, comm); break;
    case BLOCKS:
        rc = r ? MPI_Ireduce_scatter_block(a, b, n, type, sum, comm, r)
               : MPI_Reduce_scatter_block(a, b, n, type, sum, comm);
        break;
    case OPERATIONS: break;
    }
    CHECK_OK(rc);
}

static int sum_of(int ranks, int step, int i)
{
    int rank, sum = 0;

    for (rank = 0; rank < ranks; rank++)
        sum += value_of(rank, step, i);
    return sum;
}

/* Item `i` of what must be there. */
static int expected(enum operation operation, int n, int root, int step, int i)
{
    switch (operation) {
    case BCAST: return value_of(root, step, i);
    case ALLGATHER:
    case GATHER: return value_of(i / n, step, i % n);
    case ALLTOALL: return value_of(i / n, step, test_rank * n + i % n);
    case SCATTER: return value_of(root, step, test_rank * n + i);
    case SCAN: return sum_of(test_rank + 1, step, i);
    case BLOCKS: return sum_of(test_size, step, test_rank * n + i);
    default: return sum_of(test_size, step, i);
    }
}

static void check(enum operation operation, const int *result, int n, int root, int step)
{
    const int is_at_root = operation == REDUCE || operation == GATHER;
    const int has_blocks = operation == ALLGATHER || operation == ALLTOALL || operation == GATHER;
    int i;

    if (is_at_root && test_rank != root)
        return;
    for (i = 0; i < n * (has_blocks ? test_size : 1); i++)
        CHECK(result[i] == expected(operation, n, root, step, i),
              "operation %d, step %d, item %d of %d: %d instead of %d", (int)operation, step, i, n, result[i],
              expected(operation, n, root, step, i));
}

static void fill(int place, int n, int step)
{
    int i;

    for (i = 0; i < n * test_size; i++) {
        in[place][i] = value_of(test_rank, step, i);
        out[place][i] = -1;
    }
}

static const int *result_at(enum operation operation, int place)
{
    return operation == BCAST || operation == IN_PLACE ? in[place] : out[place];
}

/* One after the other, each elsewhere; then all at once; then one more. */
static void repeat(enum operation operation, int n, int root)
{
    static int step;
    MPI_Request requests[PLACES];
    int round, place;

    for (round = 0; round < ROUNDS; round++) {
        for (place = 0; place < PLACES; place++) {
            fill(place, n, step + place);
            call(operation, in[place], out[place], n, root, NULL);
            check(operation, result_at(operation, place), n, root, step + place);
        }
        for (place = 0; place < PLACES; place++)
            fill(place, n, step + place);
        for (place = 0; place < PLACES; place++)
            call(operation, in[place], out[place], n, root, &requests[place]);
        for (place = PLACES; place-- > 0;) {
            CHECK_OK(MPI_Wait(&requests[place], MPI_STATUS_IGNORE));
            check(operation, result_at(operation, place), n, root, step + place);
        }
        step += PLACES;
    }
}

int main(int argc, char **argv)
{
    const int lengths[] = { 1, 0, 1, 40, 41, MOST };
    int operation, i, root;

    test_begin(&argc, &argv);
    CHECK(test_size <= 16, "made for at most 16 ranks");
    for (operation = 0; operation < OPERATIONS; operation++) {
        for (i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
            for (root = 0; root < test_size; root += 3)
                repeat((enum operation)operation, lengths[i], root);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return test_end();
}
