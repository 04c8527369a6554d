/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: communicators made from communicators made from communicators: halves of halves down to
 * single processes; all levels stay usable at the same time, parents may be freed before their children. */
#include "mpitest.h"

enum { LEVELS = 8 };

static void check(MPI_Comm comm, int first, int size)
{
    int n = -1, rank = -1, sum = -1, i, want = 0;

    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_INT(n, size);
    CHECK_INT(rank, test_rank - first);
    CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    for (i = first; i < first + size; i++)
        want += i;
    CHECK_INT(sum, want);
}

int main(int argc, char **argv)
{
    int first[LEVELS] = { 0 }, size[LEVELS], level = 0, i, half;
    MPI_Comm comms[LEVELS];

    test_begin(&argc, &argv);
    size[0] = test_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    while (size[level] > 1 && level + 1 < LEVELS) {
        half = (size[level] + 1) / 2;
        i = test_rank - first[level] >= half;
        CHECK_OK(MPI_Comm_split(comms[level], i, 0, &comms[level + 1]));
        first[level + 1] = first[level] + (i ? half : 0);
        size[level + 1] = i ? size[level] - half : half;
        level++;
    }
    for (i = 0; i <= level; i++)
        check(comms[i], first[i], size[i]);
    for (i = 0; i < level; i += 2)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    for (i = 1; i <= level; i += 2) {
        check(comms[i], first[i], size[i]);
        CHECK_OK(MPI_Comm_free(&comms[i]));
    }
    if (level % 2 == 0)
        CHECK_OK(MPI_Comm_free(&comms[level]));
    return test_end();
}
