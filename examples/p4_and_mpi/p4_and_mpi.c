/* SPDX-License-Identifier: BSD-3-Clause */
/* Halfway from p4 to MPI: pi by the area under 4/(1+x^2). The pieces are dealt out by a master through p4_send and
 * p4_recv, as in the old program; the sums are added up by MPI_Reduce, as in the new one. Start it with mpiexec:
 *     cc p4_and_mpi.c $(pkg-config --cflags --libs p4 parley) && mpiexec -n 4 ./a.out */
#include <math.h>
#include <mpi.h>
#include <p4.h>
#include <stdio.h>

enum { PIECES = 200, STRIPES = 10000 }; /* pieces of the interval, stripes of a piece */
enum { WANT = 1, PIECE = 2 };           /* types of messages: a slave asks, the master answers; -1: no more */

static double area(int piece)
{
    const double width = 1.0 / PIECES / STRIPES;
    double sum = 0;

    for (int i = 0; i < STRIPES; i++) {
        const double x = ((double)piece * STRIPES + i + 0.5) * width;

        sum += 4 / (1 + x * x) * width;
    }
    return sum;
}

/* One answer for each question, until every slave has been told that there are no more. */
static void master(void)
{
    int next = 0, slaves = p4_num_total_slaves();

    while (slaves > 0) {
        int type = WANT, from = -1, len, piece = next < PIECES ? next++ : -1;
        char *question = NULL;

        p4_recv(&type, &from, &question, &len);
        p4_msg_free(question);
        p4_send(PIECE, from, &piece, sizeof piece);
        if (piece < 0)
            slaves--;
    }
}

static double slave(int *pieces)
{
    double sum = 0;

    for (;;) {
        int type = PIECE, from = 0, len, *piece = NULL;
        int is_last;

        p4_sendr(WANT, 0, NULL, 0);
        p4_recv(&type, &from, &piece, &len);
        is_last = *piece < 0;
        if (!is_last) {
            sum += area(*piece);
            ++*pieces;
        }
        p4_msg_free(piece);
        if (is_last)
            return sum;
    }
}

int main(int argc, char **argv)
{
    double sum = 0, pi = 0;
    int rank, pieces = 0, all_pieces = 0;

    MPI_Init(&argc, &argv);
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != p4_get_my_id())
        p4_error("rank and id differ", rank);

    if (p4_num_total_slaves() == 0) /* nobody to deal out to */
        for (pieces = 0; pieces < PIECES; pieces++)
            sum += area(pieces);
    else if (rank == 0)
        master();
    else
        sum = slave(&pieces);

    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&pieces, &all_pieces, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is %.10f, off by %.1e, from %d pieces\n", pi, fabs(pi - acos(-1)), all_pieces);
    p4_wait_for_end();
    MPI_Finalize();
    return rank == 0 && (fabs(pi - acos(-1)) > 1e-9 || all_pieces != PIECES);
}
