/* SPDX-License-Identifier: BSD-3-Clause */
/* A root that only sends gets ahead of the others by as much as the library lets it: very many broadcasts, in which it
 * waits for nobody, while the others only look for something else, so that its messages come in. Then one of them
 * waits in a call before all those, for the others: what lies there belongs to calls to come. */
#include <unistd.h>
#include "mpitest.h"

enum { CALLS = 12000, DONE = 1 };

/* Until the root has made all its calls, or, where the library does not let it, half a second. */
static void look_away(void)
{
    const double end = MPI_Wtime() + 0.5;
    int is_done = 0;

    while (!is_done && MPI_Wtime() < end)
        CHECK_OK(MPI_Iprobe(0, DONE, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE));
}

static void gather(void)
{
    int all[16] = { 0 };

    if (test_rank > 1)
        usleep(20000); /* rank 1 waits */
    CHECK_OK(MPI_Gather(&test_rank, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; test_rank == 1 && i < test_size; i++)
        CHECK_INT(all[i], i);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    if (test_size < 3 || test_size > 16)
        test_skip("needs 3 to 16 ranks");
    if (test_rank)
        look_away();
    gather();
    for (int i = 0; i < CALLS; i++) {
        long value = test_rank ? -1 : i;

        CHECK_OK(MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD));
        CHECK_INT(value, i);
    }
    for (int rank = 1; !test_rank && rank < test_size; rank++)
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, rank, DONE, MPI_COMM_WORLD));
    if (test_rank)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return test_end();
}
