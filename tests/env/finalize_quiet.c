/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.2: MPI_Finalize ends MPI but not the program: code after it runs on every rank and sees
 * finalized; ranks may come to it at very different times. */
#include "mpitest.h"

#include <time.h>

int main(int argc, char **argv)
{
    struct timespec pause = { 0, 0 };
    int is_down = 0;

    test_begin(&argc, &argv);
    pause.tv_nsec = test_rank * 10 * 1000 * 1000;
    nanosleep(&pause, NULL);
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Finalized(&is_down));
    CHECK_INT(is_down, 1);
    pause.tv_nsec = (test_size - test_rank) * 10 * 1000 * 1000;
    nanosleep(&pause, NULL);
    return 0;
}
