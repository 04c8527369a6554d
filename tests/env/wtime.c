/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.6: MPI_Wtime never runs backwards, advances in seconds, and MPI_Wtick is the resolution:
 * positive and small. */
#include "mpitest.h"

#include <time.h>

static double system_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const struct timespec pause = { 0, 20 * 1000 * 1000 };
    double last, now, tick, wall, ours;
    int i;

    test_begin(&argc, &argv);
    last = MPI_Wtime();
    for (i = 0; i < 100000; i++) {
        now = MPI_Wtime();
        CHECK(now >= last, "the clock went back from %.9f to %.9f", last, now);
        last = now;
    }
    tick = MPI_Wtick();
    CHECK(tick > 0 && tick <= 1e-3, "MPI_Wtick is %g", tick);
    wall = system_clock();
    ours = MPI_Wtime();
    nanosleep(&pause, NULL);
    ours = MPI_Wtime() - ours;
    wall = system_clock() - wall;
    CHECK(ours >= 0.0199 && ours <= wall + tick, "%.6f s by MPI_Wtime, %.6f s on the wall", ours, wall);
    return test_end();
}
