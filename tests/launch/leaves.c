/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves `all` or `nothing` at MPI_Finalize, for diagnostics_test.py. */
#include <mpi.h>
#include <string.h>

static int rank, value;

static void leave_messages(void)
{
    for (int tag = 0; rank == 0 && tag < 5; tag++)
        MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

/* One that nobody waits for, and a persistent one; and a receive. */
static void leave_requests(MPI_Comm comm)
{
    static double never[3];
    MPI_Request request;

    if (rank)
        return;
    MPI_Isend(&value, 1, MPI_INT, 0, 1, comm, &request);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, comm, &request);
    MPI_Send(&value, 1, MPI_INT, 0, 1, comm);
    MPI_Send_init(&value, 1, MPI_INT, 0, 2, comm, &request);
    MPI_Irecv(never, 3, MPI_DOUBLE, 1, MPI_ANY_TAG, comm, &request);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "my pair");
    if (argc > 1 && !strcmp(argv[1], "all")) {
        leave_messages();
        leave_requests(comm);
    } else {
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
