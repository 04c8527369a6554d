/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.1: collective operations work on every communicator, however many there are, also at the same time, and
 * after others have been freed. */
#include "mpitest.h"

enum { COMMS = 300, LONG = 3000, TURNS = 2 };

static MPI_Comm comms[COMMS];

/* Few bytes and many, with counts and without. */
static void use(MPI_Comm comm, int number)
{
    static int in[LONG], out[LONG];
    int value = test_rank ? -1 : number, counts[64], places[64], all[64], i;

    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    CHECK_INT(value, number);
    for (i = 0; i < LONG; i++)
        in[i] = number + test_rank + i;
    CHECK_OK(MPI_Allreduce(in, out, LONG, MPI_INT, MPI_SUM, comm));
    CHECK_INT(out[LONG - 1], test_size * (number + LONG - 1) + test_size * (test_size - 1) / 2);
    for (i = 0; i < test_size; i++) {
        counts[i] = i % 2;
        places[i] = test_size - i;
        all[places[i]] = -1;
    }
    CHECK_OK(MPI_Allgatherv(&number, counts[test_rank], MPI_INT, all, counts, places, MPI_INT, comm));
    for (i = 0; i < test_size; i++)
        CHECK_INT(all[places[i]], i % 2 ? number : -1);
}

int main(int argc, char **argv)
{
    int turn, i;

    test_begin(&argc, &argv);
    for (turn = 0; turn < TURNS; turn++) {
        for (i = 0; i < COMMS; i++) {
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
            use(comms[i], i);
        }
        for (i = COMMS - 1; i >= 0; i--)
            use(comms[i], i + turn);
        for (i = 0; i < COMMS; i++)
            CHECK_OK(MPI_Comm_free(&comms[i]));
    }
    return test_end();
}
