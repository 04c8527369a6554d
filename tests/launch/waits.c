/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: every rank blocks in a call of its own and stays there; the last one outside MPI.
 *   waits CALL...     rank i blocks in the call of the i-th argument
 * What nobody answers: receives have tag 7 and come from the next rank, sends are synchronous to it with tag 5. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, next;
static double data[4];

static int query(void *state, MPI_Status *status)
{
    (void)state;
    (void)status;
    return MPI_SUCCESS;
}

static int done(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void wait_for(const char *call)
{
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Comm comm;
    int index;

    MPI_Irecv(data, 4, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data, 4, MPI_DOUBLE, next, 8, MPI_COMM_WORLD, &requests[1]);
    if (!strcmp(call, "Recv"))
        MPI_Recv(data, 3, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Recv_any"))
        MPI_Recv(data, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Ssend"))
        MPI_Ssend(data, 2, MPI_DOUBLE, next, 5, MPI_COMM_WORLD);
    if (!strcmp(call, "Wait"))
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (!strcmp(call, "Start")) {
        MPI_Recv_init(data, 4, MPI_DOUBLE, next, 8, MPI_COMM_WORLD, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (!strcmp(call, "Startall")) {
        MPI_Ssend_init(data, 2, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Startall(1, requests);
        MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    }
    if (!strcmp(call, "Waitany"))
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Sendrecv"))
        MPI_Sendrecv(data, 1, MPI_DOUBLE, MPI_PROC_NULL, 5, data, 1, MPI_INT, next, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (!strcmp(call, "Sendrecv_replace"))
        MPI_Sendrecv_replace(data, 1, MPI_INT, MPI_PROC_NULL, 5, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Isendrecv")) {
        MPI_Isendrecv(data, 1, MPI_DOUBLE, MPI_PROC_NULL, 5, data, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (!strcmp(call, "Isendrecv_replace")) {
        MPI_Isendrecv_replace(data, 2, MPI_INT, next, 6, next, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (!strcmp(call, "Grequest")) {
        MPI_Grequest_start(query, done, cancel, NULL, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (!strcmp(call, "Probe"))
        MPI_Probe(next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Mprobe"))
        MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (!strcmp(call, "Precv"))
        MPI_Precv_init(data, 2, 2, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    if (!strcmp(call, "Psend"))
        MPI_Psend_init(data, 2, 2, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    if (!strcmp(call, "Precv") || !strcmp(call, "Psend")) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (!strcmp(call, "Barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(call, "Alltoall"))
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, malloc((size_t)size * 8), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    if (!strcmp(call, "Comm_dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(call, "Comm_split"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Comm_set_name(MPI_COMM_WORLD, "the ocean");
    puts("in MPI");
    fflush(stdout);
    /* A wait that ends leaves nothing in the status page. */
    if (rank == 0)
        usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank + 1 < argc)
        wait_for(argv[rank + 1]);
    for (;;)
        pause();
}
