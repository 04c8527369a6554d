/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.3: MPI_Win_lock_all starts an access epoch to all processes "with a lock type of MPI_LOCK_SHARED". In
 * which order it locks them is told nowhere, so no program can heed it: those who hold one target exclusively and want
 * another one get it, whatever others lock at once. */
#include <mpi.h>

#include "mpitest.h"

enum { ROUNDS = 20 };

static int *memory; /* one number for those who have it alone, and one for those who share it */
static int rank, size;

/* All targets, the last one first. */
static void lock_downwards(MPI_Win win)
{
    int found;

    for (int target = size - 1; target >= 0; target--)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    for (int target = 0; target < size; target++) {
        MPI_Get(&found, 1, MPI_INT, target, 0, 1, MPI_INT, win);
        MPI_Win_flush(target, win);
        found++;
        MPI_Put(&found, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    }
    for (int target = 0; target < size; target++)
        MPI_Win_unlock(target, win);
}

static void lock_at_once(MPI_Win win)
{
    const int one = 1;

    MPI_Win_lock_all(0, win);
    for (int target = 0; target < size; target++)
        MPI_Accumulate(&one, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    MPI_Win win;

    test_begin(&argc, &argv);
    rank = test_rank;
    size = test_size;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memory[0] = memory[1] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank % 2)
            lock_downwards(win);
        else
            lock_at_once(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_INT(memory[0], ROUNDS * (size / 2));
    CHECK_INT(memory[1], ROUNDS * ((size + 1) / 2));
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    return test_end();
}
