/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.3: no process leaves MPI_Barrier before all have entered it. In each round another rank comes
 * late; the times of entering and leaving are compared (one machine, one clock). */
#include "mpitest.h"

#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run(int late)
{
    const struct timespec pause = { 0, 3 * 1000 * 1000 };
    double entered, left, last_entered = 0, first_left = 0;

    if (test_rank == late)
        nanosleep(&pause, NULL);
    entered = now();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    left = now();
    CHECK_OK(MPI_Allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    CHECK(first_left >= last_entered, "a rank left %.6f s before the last (rank %d) had entered",
          last_entered - first_left, late);
}

int main(int argc, char **argv)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
    int len, is_other, any_other = 0, round;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Get_processor_name(mine, &len));
    memcpy(first, mine, sizeof first);
    CHECK_OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD));
    is_other = strcmp(first, mine) != 0;
    CHECK_OK(MPI_Allreduce(&is_other, &any_other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    if (any_other)
        test_skip("the clocks of several machines cannot be compared");
    for (round = 0; round < 2 * test_size; round++)
        run(round % test_size);
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF));
    return test_end();
}
