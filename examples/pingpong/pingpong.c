/* SPDX-License-Identifier: BSD-3-Clause */
/* Example pingpong: a first look at how fast messages are. Ranks 0 and 1 throw a message to and fro and
 * rank 0 prints, for each size, half the time of a round trip and the bytes per second; further ranks wait
 * at the end. For figures that are to be compared take the programs in bench/.
 *
 *     mpiexec -n 2 pingpong [largest size in bytes] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 20 };

#define MOST_SECONDS 0.25 /* for one size; a busy machine needs more for all batches */

/* Seconds for one way, taken over `rounds` round trips; the same on both ranks but for the clock. */
static double play(char *ball, int size, int rounds, int rank)
{
    const int other = 1 - rank;
    const double start = MPI_Wtime();

    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            MPI_Send(ball, size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(ball, size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(ball, size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (2.0 * rounds);
}

/* Rank 0 looks at its clock, and both go on or stop. */
static int is_time_left(double start, int rank)
{
    int is_left = MPI_Wtime() - start < MOST_SECONDS;

    if (rank == 0)
        MPI_Send(&is_left, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&is_left, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return is_left;
}

/* The best of several batches: whatever else the machine does only makes it slower. */
static double best_of(char *ball, int size, int rank)
{
    const int rounds = size < 10000 ? 1000 : size < 200000 ? 100 : 5;
    const double start = MPI_Wtime();
    double best = play(ball, size, rounds, rank);

    for (int i = 0; i < BATCHES && is_time_left(start, rank); i++) {
        const double seconds = play(ball, size, rounds, rank);

        best = seconds < best ? seconds : best;
    }
    return best;
}

/* Rank 0 throws a pattern that must come back from rank 1. */
static void look_at(const char *ball, int size)
{
    for (int i = 0; i < size; i++)
        if (ball[i] != (char)(i % 101)) {
            fprintf(stderr, "pingpong: byte %d of %d came back as %d\n", i, size, ball[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void table(int largest, int rank)
{
    char *ball = malloc((size_t)largest + 1);

    if (!ball) {
        fprintf(stderr, "pingpong: no memory for %d bytes\n", largest);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    for (int i = 0; i < largest; i++)
        ball[i] = (char)(rank == 0 ? i % 101 : -1);
    if (rank == 0)
        printf("%10s %12s %12s\n", "bytes", "us one way", "MB/s");
    for (long size = 0; size <= largest; size = size ? 4 * size : 1) {
        const double seconds = best_of(ball, (int)size, rank);

        look_at(ball, (int)size);
        if (rank == 0)
            printf("%10ld %12.3f %12.1f\n", size, 1e6 * seconds, 1e-6 * (double)size / seconds);
    }
    free(ball);
}

int main(int argc, char **argv)
{
    int rank, ranks, code = 0;
    char *end = NULL;
    long largest;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    largest = argc > 1 ? strtol(argv[1], &end, 10) : 4 << 20;
    if (ranks < 2 || (end && *end) || largest < 0 || largest > 1 << 30) {
        if (rank == 0)
            fprintf(stderr, "pingpong: needs at least 2 ranks and a largest size from 0 to %d\n", 1 << 30);
        code = 2;
    } else if (rank < 2) {
        table((int)largest, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
