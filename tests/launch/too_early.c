/* SPDX-License-Identifier: BSD-3-Clause */
/* For the test of valgrind: rank 0 receives by MPI_Irecv, short and long, into memory that has never been written.
 *   too_early write   writes into the buffer before the message is there
 *   too_early beyond  decides by a number that was not received
 * Without an argument it is a right program. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

enum { SHORT = 4, LONG = 100000 };

static void receive(int *numbers, double *data, const char *how)
{
    MPI_Request request;

    MPI_Irecv(numbers, 100, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    if (!strcmp(how, "write"))
        numbers[1] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (numbers[SHORT - 1] != SHORT)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (!strcmp(how, "beyond") && numbers[SHORT] == 12345)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Irecv(data, LONG, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < LONG; i++)
        if (data[i] != i)
            MPI_Abort(MPI_COMM_WORLD, 4);
}

int main(int argc, char **argv)
{
    int rank, *numbers = malloc(100 * sizeof *numbers), sent[SHORT] = { 1, 2, 3, SHORT };
    double *data = malloc(LONG * sizeof *data);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        receive(numbers, data, argc > 1 ? argv[1] : "");
    } else if (rank == 1) {
        for (int i = 0; i < LONG; i++)
            data[i] = i;
        MPI_Send(sent, SHORT, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(data, LONG, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(numbers);
    free(data);
    return 0;
}
