/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of debugger support: ranks with known things in their queues, blocked for ever.
 *
 *   rank 0   posted: from S tag 11, from any tag 12, on a copy of the world from S any tag and from any any tag;
 *            40 more of tags 100 to 139, if it is started with an argument: then they are hashed
 *            not asked for, from S: tag 21 (12 bytes), tag 22 (800000 bytes, offered), tag 23 (synchronous)
 *            in MPI_Recv of tag 99 from the last rank
 *   rank S   sends these; S is 1, or 0 if it is alone
 *   others   in MPI_Recv of tag 98 from rank 0 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { LONG = 100000, MANY = 40 };

static double data[LONG];
static int numbers[MANY + 4];
static MPI_Request requests[MANY + 4], sends[3];

static void post(MPI_Comm copy, int from, int more)
{
    int flag = 0;

    MPI_Irecv(data, 3, MPI_DOUBLE, from, 11, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&numbers[0], 1, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < more; i++)
        MPI_Irecv(&numbers[i + 4], 1, MPI_INT, from, 100 + i, MPI_COMM_WORLD, &requests[4 + i]);
    MPI_Irecv(&numbers[1], 1, MPI_INT, from, MPI_ANY_TAG, copy, &requests[2]);
    MPI_Irecv(&numbers[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &requests[3]);
    for (int tag = 21; tag <= 23; tag++)
        for (flag = 0; !flag;)
            MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, x = 0;
    MPI_Comm copy;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "the copy");
    if (rank == 1 % size) {
        MPI_Isend(data, 3, MPI_INT, 0, 21, MPI_COMM_WORLD, &sends[0]);
        MPI_Isend(data, LONG, MPI_DOUBLE, 0, 22, MPI_COMM_WORLD, &sends[1]);
        MPI_Issend(&rank, 1, MPI_INT, 0, 23, MPI_COMM_WORLD, &sends[2]);
    }
    if (rank == 0)
        post(copy, 1 % size, argc > 1 ? MANY : 0);
    printf("ready\n");
    fflush(stdout);
    MPI_Recv(&x, 1, MPI_INT, rank == 0 ? size - 1 : 0, rank == 0 ? 99 : 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
