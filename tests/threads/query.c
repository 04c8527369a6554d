/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1: MPI_Is_thread_main is true in the thread that called MPI_Init_thread and false in others;
 * MPI_Query_thread and the functions that may be called at any time answer in every thread.
 * `query single` asks for MPI_THREAD_SINGLE, where a setting of this project gives it more. */
#include "mpithread.h"

static void body(int thread)
{
    int is_main = -1, level = -1, is_up = -1, version, subversion;

    (void)thread;
    CHECK_OK(MPI_Is_thread_main(&is_main));
    CHECK_INT(is_main, 0);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Initialized(&is_up));
    CHECK_INT(is_up, 1);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK_INT(version, MPI_VERSION);
}

int main(int argc, char **argv)
{
    int is_main = -1;
    const int is_single = argc > 1 && !strcmp(argv[1], "single");

    test_begin_threads(&argc, &argv, is_single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Is_thread_main(&is_main));
    CHECK_INT(is_main, 1);
    run_threads(THREADS, body);
    return test_end();
}
