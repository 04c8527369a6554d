/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1: MPI_Init brings up a world in which every process has another rank from 0 to size - 1; the
 * program's arguments are left as they were; null arguments are allowed. §11.8.2: who was not spawned has no parent.
 * Arguments: "null" or any words. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int is_null = argc > 1 && strcmp(argv[1], "null") == 0, size = -1, rank = -1, *seen, i;
    MPI_Comm parent = MPI_COMM_WORLD;

    if (is_null) {
        CHECK_OK(MPI_Init(NULL, NULL));
        test_ready();
    } else {
        test_begin(&argc, &argv);
        CHECK_INT(argc, 3);
        CHECK(strcmp(argv[1], "some") == 0 && strcmp(argv[2], "two words") == 0, "arguments changed: %s, %s",
              argv[1], argv[2]);
        CHECK(argv[argc] == NULL, "argv does not end with a null pointer");
    }
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(size > 0 && rank >= 0 && rank < size, "rank %d of %d", rank, size);
    seen = calloc((size_t)size, sizeof *seen);
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, seen, 1, MPI_INT, MPI_COMM_WORLD));
    for (i = 0; i < size; i++)
        CHECK_INT(seen[i], i);
    free(seen);
    CHECK_OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
    CHECK_INT(size, 1);
    CHECK_INT(rank, 0);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL, "processes that nobody has spawned have a parent");
    return test_end();
}
