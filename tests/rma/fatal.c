/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3: the errors of windows are fatal at first, and what is said names the window, the rank, the
 * displacement and the sizes. The last argument says what to do wrong. */
#include <sys/mman.h>

#include "mpitest.h"

int main(int argc, char **argv)
{
    int *base, value = 0;
    MPI_Win win;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Win_allocate(40, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_set_name(win, "field"));
    if (!strcmp(argv[1], "epoch"))
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    if (!strcmp(argv[1], "order"))
        MPI_Win_unlock(0, win);
    MPI_Win_fence(0, win);
    if (!strcmp(argv[1], "range"))
        MPI_Put(&value, 1, MPI_INT, test_size - 1, 10, 1, MPI_INT, win);
    if (!strcmp(argv[1], "sides"))
        MPI_Put(&value, 1, MPI_INT, 0, 0, 2, MPI_INT, win);
    if (!strcmp(argv[1], "attach")) {
        MPI_Win other;

        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        MPI_Win_detach(other, &value);
    }
    if (!strcmp(argv[1], "gone")) {
        void *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MPI_Win other;

        MPI_Win_create(mem, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        munmap(mem, 4096);
        MPI_Win_fence(0, other);
        if (test_rank == 0)
            MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_fence(0, other);
    }
    if (!strcmp(argv[1], "detached")) { /* whoever is asked on another machine says so */
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        if (test_rank == 0)
            MPI_Put(&value, 1, MPI_INT, 1, 4096, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    if (!strcmp(argv[1], "memory")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Win_allocate_shared((MPI_Aint)1 << 55, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    return test_end();
}
