/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages over clients of IMPI; run by client_test.py. Prints nothing if all is well.
 *
 *   parts ring     each process to the next one that is half of all further on: other partitions on both sides, types
 *                  with gaps, lengths that differ in external32, a message of more than a packet, an empty one
 *   parts unfit    a number that does not fit: an error on both sides, and the next round is well again
 *   parts longer   the sender has more than the receiver asks for: an error on both sides */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { TAG = 77 };

static int size, to, from;

static long value_of(int source, int round, int i)
{
    return source * 1000003L + round * 7919 + i;
}

/* `parts` of `count` longs each go out, every other one of an array if `step` is 2; they come as one row, in
 * `parts_in`. */
static void ring(int parts, int count, int step, int parts_in)
{
    const int total = parts * count;
    long *out = calloc((size_t)(total * step + 1), sizeof *out), *in = calloc((size_t)total + 1, sizeof *in);
    MPI_Datatype spread;
    MPI_Request reqs[2];
    MPI_Status status[2];
    int got, flag;

    MPI_Type_create_resized(MPI_LONG, 0, step * (MPI_Aint)sizeof(long), &spread);
    MPI_Type_commit(&spread);
    MPI_Precv_init(in, parts_in, total / parts_in, MPI_LONG, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]);
    MPI_Psend_init(out, parts, count, spread, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[1]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < total; i++)
            out[i * step] = value_of(rank, round, i);
        MPI_Startall(2, reqs);
        for (int i = 0; i < parts; i++)
            MPI_Pready((i * 5 + 3) % parts, reqs[1]);
        if (round == 1) {
            do
                MPI_Parrived(reqs[0], parts_in - 1, &flag);
            while (!flag);
            expect("the end of the last partition", !total || in[total - 1] == value_of(from, 1, total - 1), 1);
        }
        MPI_Waitall(2, reqs, status);
        MPI_Get_count(&status[0], MPI_LONG, &got);
        expect("count", got, total);
        expect("source", status[0].MPI_SOURCE, from);
        for (int i = 0; i < total; i++)
            expect("value", in[i] == value_of(from, round, i), 1);
    }
    MPI_Request_free(&reqs[0]);
    MPI_Request_free(&reqs[1]);
    MPI_Type_free(&spread);
    free(out);
    free(in);
}

static int wait_class(MPI_Request *request)
{
    return class_of(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void unfit(void)
{
    long out[4] = { 1, 2, 3, 4 }, in[4] = { 0 };
    MPI_Request reqs[2];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Psend_init(out, 2, 2, MPI_LONG, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[1]);
    MPI_Precv_init(in, 4, 1, MPI_LONG, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]);
    for (int round = 0; round < 3; round++) {
        out[2] = round == 1 ? 1L << 40 : 3;
        MPI_Startall(2, reqs);
        MPI_Pready_range(0, 1, reqs[1]);
        expect("class of the send", wait_class(&reqs[1]), round == 1 ? MPI_ERR_CONVERSION : MPI_SUCCESS);
        expect("class of the receive", wait_class(&reqs[0]), round == 1 ? MPI_ERR_CONVERSION : MPI_SUCCESS);
    }
    expect("value", (int)in[3], 4);
    MPI_Request_free(&reqs[0]);
    MPI_Request_free(&reqs[1]);
}

static void longer(void)
{
    int out[6] = { 0 }, in[6] = { 0 };
    MPI_Request reqs[2];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Psend_init(out, 3, 2, MPI_INT, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[1]);
    MPI_Precv_init(in, 2, 2, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]);
    MPI_Startall(2, reqs);
    MPI_Pready_range(0, 2, reqs[1]);
    expect("class of the send", wait_class(&reqs[1]), MPI_ERR_COUNT);
    expect("class of the receive", wait_class(&reqs[0]), MPI_ERR_TRUNCATE);
    MPI_Request_free(&reqs[0]);
    MPI_Request_free(&reqs[1]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ring";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + size / 2) % size;
    from = (rank + size - size / 2) % size;
    if (!strcmp(what, "unfit")) {
        unfit();
    } else if (!strcmp(what, "longer")) {
        longer();
    } else {
        ring(4, 3, 1, 2);
        ring(7, 300, 2, 21);
        ring(7, 1, 2, 1);
        ring(3, 0, 1, 3);
        ring(2, 10000, 1, 40);
    }
    MPI_Finalize();
    return 0;
}
