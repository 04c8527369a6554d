/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8: children start children of their own; a communicator of some of the processes, or of one, starts
 * others; many worlds one after the other; each is told apart by what it says. */
#include "mpitest.h"

enum { DEPTH = 3, ROUNDS = 8 };

static char *program;

/* `comm` starts `count` processes that have `depth` generations after them; each says its number. */
static void start(MPI_Comm comm, int count, int depth, int number)
{
    char words[2][16], *arguments[] = { words[0], words[1], NULL };
    int rank, size, sum = 0, own = 0;
    MPI_Comm children;

    snprintf(words[0], sizeof words[0], "%d", depth);
    snprintf(words[1], sizeof words[1], "%d", number);
    CHECK_OK(MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Comm_rank(children, &rank));
    CHECK_OK(MPI_Comm_remote_size(children, &size));
    CHECK_INT(size, count);
    CHECK_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, children));
    CHECK_INT(sum, count * number);
    CHECK_OK(MPI_Comm_disconnect(&children));
}

static void be_child(MPI_Comm parent, int depth, int number)
{
    int zero;

    if (depth > 0)
        start(depth % 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, 2, depth - 1, number + 1);
    CHECK_OK(MPI_Allreduce(&number, &zero, 1, MPI_INT, MPI_SUM, parent));
    CHECK_INT(zero, 0);
    CHECK_OK(MPI_Comm_disconnect(&parent));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, half;

    test_begin(&argc, &argv);
    program = argv[0];
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        be_child(parent, atoi(argv[1]), atoi(argv[2]));
        return test_end();
    }
    start(MPI_COMM_WORLD, 1, DEPTH, 1);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &half));
    start(half, 2, 0, 5 + test_rank % 2);
    CHECK_OK(MPI_Comm_free(&half));
    start(MPI_COMM_SELF, 1, 0, 10 + test_rank);
    for (int i = 0; i < ROUNDS; i++)
        start(MPI_COMM_WORLD, 1 + i % 2, 0, 100 + i);
    return test_end();
}
