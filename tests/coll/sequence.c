/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.1, §6.14: collectives on one communicator match by their order, whatever they are: a long random
 * sequence without pauses, roots and lengths changing, on the world, halves of it and a duplicate, all
 * results checked. */
#include "mpitest.h"

enum { STEPS = 400, MOST = 3000 };

static int in[MOST * 64], out[MOST * 64];

static int value_of(int rank, int step, int i)
{
    return (int)(test_key((uint64_t)rank, (uint64_t)step, (uint64_t)i) % 1000);
}

static void fill(int rank, int step, int n)
{
    int i;

    for (i = 0; i < n; i++)
        in[i] = value_of(rank, step, i);
}

static void reduction(MPI_Comm comm, int rank, int size, int root, int n, int step)
{
    int i, r, sum;

    fill(rank, step, n);
    if (root < 0)
        CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm));
    else
        CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, comm));
    if (root >= 0 && rank != root)
        return;
    for (i = 0; i < n; i += 1 + n / 7) {
        for (r = sum = 0; r < size; r++)
            sum += value_of(r, step, i);
        CHECK(out[i] == sum, "step %d, element %d of %d: expected %d, got %d", step, i, n, sum, out[i]);
    }
}

static void collection(MPI_Comm comm, int rank, int size, int root, int n, int step)
{
    int i, r;

    fill(rank, step, n);
    if (root < 0)
        CHECK_OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm));
    else
        CHECK_OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm));
    if (root >= 0 && rank != root)
        return;
    for (r = 0; r < size; r++)
        for (i = 0; i < n; i += 1 + n / 7)
            CHECK_INT(out[r * n + i], value_of(r, step, i));
}

static void spread(MPI_Comm comm, int rank, int root, int n, int step)
{
    int i;

    fill(rank, step, n);
    CHECK_OK(MPI_Bcast(in, n, MPI_INT, root, comm));
    for (i = 0; i < n; i += 1 + n / 7)
        CHECK_INT(in[i], value_of(root, step, i));
}

static void exchange(MPI_Comm comm, int rank, int size, int n, int step)
{
    int i, r;

    n = n / size + 1;
    fill(rank, step, n * size);
    CHECK_OK(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm));
    for (r = 0; r < size; r++)
        for (i = 0; i < n; i += 1 + n / 7)
            CHECK_INT(out[r * n + i], value_of(r, step, rank * n + i));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[3] = { MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL }, comm;
    uint64_t state;
    int step, rank, size, root, n;

    test_begin(&argc, &argv);
    CHECK(test_size <= 64, "made for at most 64 ranks");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &comms[2]));
    state = test_key(0, 0, 32);
    for (step = 0; step < STEPS; step++) {
        comm = comms[test_below(&state, 3)];
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_OK(MPI_Comm_size(comm, &size));
        root = (int)(test_below(&state, 1000) % (size_t)size);
        n = (int)(test_below(&state, 4) ? test_below(&state, 30) : test_below(&state, MOST));
        switch (test_below(&state, 7)) {
        case 0: CHECK_OK(MPI_Barrier(comm)); break;
        case 1: spread(comm, rank, root, n, step); break;
        case 2: reduction(comm, rank, size, root, n, step); break;
        case 3: reduction(comm, rank, size, -1, n, step); break;
        case 4: collection(comm, rank, size, root, n, step); break;
        case 5: collection(comm, rank, size, -1, n, step); break;
        default: exchange(comm, rank, size, n, step); break;
        }
    }
    CHECK_OK(MPI_Comm_free(&comms[1]));
    CHECK_OK(MPI_Comm_free(&comms[2]));
    return test_end();
}
