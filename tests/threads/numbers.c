/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §20.4.5, §11.6: threads turn handles into integers and back at the same time. Some are handles of one thread,
 * so that the table grows meanwhile; some are common to all, and all must get the same number. */
#include "mpithread.h"

enum { OWN = 300, SHARED = 50, ROUNDS = 5 };

static MPI_Datatype shared[SHARED];
static int numbers[THREADS][SHARED];

static void convert(int thread)
{
    MPI_Datatype own[OWN];
    int own_numbers[OWN], i, k;

    for (i = 0; i < OWN; i++) {
        CHECK_OK(MPI_Type_contiguous(1 + i, MPI_INT, &own[i]));
        own_numbers[i] = MPI_Type_toint(own[i]);
        CHECK(own_numbers[i] >= 4096, "number %d of an own handle", own_numbers[i]);
        if (i % (OWN / SHARED) == 0)
            numbers[thread][i / (OWN / SHARED)] = MPI_Type_toint(shared[i / (OWN / SHARED)]);
    }
    for (k = 0; k < ROUNDS; k++)
        for (i = 0; i < OWN; i++) {
            CHECK_INT(MPI_Type_toint(own[i]), own_numbers[i]);
            CHECK(MPI_Type_fromint(own_numbers[i]) == own[i], "number %d leads to another handle", own_numbers[i]);
        }
    for (i = 0; i < OWN; i++)
        CHECK_OK(MPI_Type_free(&own[i]));
}

int main(int argc, char **argv)
{
    int i, t;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (i = 0; i < SHARED; i++)
        CHECK_OK(MPI_Type_contiguous(2 + i, MPI_DOUBLE, &shared[i]));
    run_threads(THREADS, convert);
    for (i = 0; i < SHARED; i++) {
        for (t = 1; t < THREADS; t++)
            CHECK_INT(numbers[t][i], numbers[0][i]);
        CHECK(MPI_Type_fromint(numbers[0][i]) == shared[i], "number %d leads to another handle", numbers[0][i]);
        CHECK_OK(MPI_Type_free(&shared[i]));
    }
    return test_end();
}
