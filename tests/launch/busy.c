/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of dying: comes up, exchanges messages of all kinds for MILLISECONDS, goes down, says "done".
 *   busy MILLISECONDS [sleep MARK]     with "sleep" every rank has a child that sleeps for MARK seconds */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 20, KINDS = 4 };

static const int lengths[KINDS] = { 4, 1000, 30000, LONGEST };
static char from[LONGEST], to[LONGEST];

static void exchange(int rank, int size, int round)
{
    const int length = lengths[round % KINDS], next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int sum;

    MPI_Sendrecv(from, length, MPI_CHAR, next, round % 3, to, length, MPI_CHAR, previous, round % 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (round % 16 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) / 1000 : 0;
    int rank, size, goes_on = 1;
    double end;

    if (argc > 3 && !fork()) {
        execlp("sleep", "sleep", argv[3], (char *)NULL);
        _exit(127);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    end = MPI_Wtime() + seconds;
    for (int round = 0; goes_on; round++) {
        exchange(rank, size, round);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return write(STDOUT_FILENO, "done\n", 5) != 5;
}
