/* SPDX-License-Identifier: BSD-3-Clause */
/* A root that only sends gets ahead of the others by as much as the library lets it: very many broadcasts, in which
 * nobody waits for those below him. The others come late. */
#include <unistd.h>
#include "mpitest.h"

enum { CALLS = 60000 };

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int i = 0; i < CALLS; i++) {
        long value = test_rank ? -1 : i;

        if (test_rank && i % (CALLS / 3) == 10)
            usleep(50000);
        CHECK_OK(MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD));
        CHECK_INT(value, i);
    }
    return test_end();
}
