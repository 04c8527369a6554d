/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2, on several machines, argv[1] of them, to which the ranks are dealt in rows (PARLEY_NODES): who shares
 * memory, parts of one machine, and the unguided split, which finds the machines first. */
#include <stdlib.h>
#include "mpitest.h"

static int nodes;

static int node_of(int rank)
{
    return (int)((long)rank * nodes / test_size);
}

static int first_of(int node)
{
    int rank = 0;

    while (rank < test_size && node_of(rank) < node)
        rank++;
    return rank;
}

/* That of this rank has the ranks of its machine, in their order. */
static void check_machine(MPI_Comm comm)
{
    const int first = first_of(node_of(test_rank)), end = first_of(node_of(test_rank) + 1);
    int size, rank, low, sum;

    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_INT(size, end - first);
    CHECK_INT(rank, test_rank - first);
    CHECK_OK(MPI_Allreduce(&test_rank, &low, 1, MPI_INT, MPI_MIN, comm));
    CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(low, first);
    CHECK_INT(sum, (first + end - 1) * (end - first) / 2);
}

static MPI_Comm split(int type, const char *resource)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm;

    if (resource) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", resource));
    }
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm));
    if (resource)
        CHECK_OK(MPI_Info_free(&info));
    return comm;
}

/* MPI_Comm_split_type(…SHARED) of what shares memory already gives all of it again. */
static void check_again(MPI_Comm machine)
{
    MPI_Comm again;
    int result;

    CHECK_OK(MPI_Comm_split_type(machine, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &again));
    CHECK_OK(MPI_Comm_compare(machine, again, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&again));
}

int main(int argc, char **argv)
{
    const char *const resources[] = { "mpi_shared_memory", "hwloc://Machine" };
    MPI_Comm comm;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("others have no PARLEY_NODES");
    nodes = atoi(argv[1]) < test_size ? atoi(argv[1]) : test_size;
    comm = split(MPI_COMM_TYPE_SHARED, NULL);
    check_machine(comm);
    check_again(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 2; i++) {
        comm = split(MPI_COMM_TYPE_HW_GUIDED, resources[i]);
        check_machine(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (nodes > 1) {
        comm = split(MPI_COMM_TYPE_HW_UNGUIDED, NULL);
        check_machine(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return test_end();
}
