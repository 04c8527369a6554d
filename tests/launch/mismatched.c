/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends what rank 1 receives as something else, in each way that a message can take; or what is no mistake.
 *   mismatched [wrong|right] */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 100000 };

static int rank;
static char *data;

/* `late`: the message comes before its receive. */
static void pass(int tag, int late, int sent, MPI_Datatype as, int received, MPI_Datatype to)
{
    MPI_Request request;

    if (rank == 0) {
        if (!late)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(data, sent, as, 1, tag, MPI_COMM_WORLD, &request);
        if (late)
            MPI_Send(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        if (late)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(data, received, to, 0, tag, MPI_COMM_WORLD, &request);
        if (!late)
            MPI_Send(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void in_each_way(int tag, int count, MPI_Datatype as, int received, MPI_Datatype to)
{
    pass(tag, 0, count, as, received, to);
    pass(tag + 1, 1, count, as, received, to);
    pass(tag + 2, 0, count * LONG, as, received * LONG, to);
    pass(tag + 3, 1, count * LONG, as, received * LONG, to);
}

static MPI_Datatype pair_of(MPI_Datatype first, MPI_Datatype second)
{
    const int counts[] = { 1, 1 };
    const MPI_Aint displs[] = { 0, 8 };
    const MPI_Datatype types[] = { first, second };
    MPI_Datatype pair;

    MPI_Type_create_struct(2, counts, displs, types, &pair);
    MPI_Type_commit(&pair);
    return pair;
}

static void wrong(void)
{
    in_each_way(10, 2, MPI_INT, 1, MPI_DOUBLE);
    if (rank == 0) /* received by a blocking call, whether it has come or not */
        MPI_Send(data, 1, MPI_FLOAT, 1, 20, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 1, MPI_INT, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void right(void)
{
    MPI_Datatype pair = pair_of(MPI_INT, MPI_DOUBLE), four, begun;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    in_each_way(10, 4, MPI_INT, 1, four);
    in_each_way(20, 1, pair, 12, MPI_BYTE);
    in_each_way(30, 12, MPI_BYTE, 1, pair);
    in_each_way(40, 1, MPI_LONG, 1, MPI_INT64_T);
    begun = pair_of(MPI_INT, MPI_FLOAT);
    pass(50, 0, 1, MPI_INT, 1, begun); /* the beginning of an item */
    MPI_Type_free(&begun);
    MPI_Type_free(&four);
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data = calloc(LONG, 32);
    if (argc > 1 && !strcmp(argv[1], "wrong"))
        wrong();
    else
        right();
    free(data);
    MPI_Finalize();
    return 0;
}
