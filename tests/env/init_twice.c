/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1: MPI_Init or MPI_Init_thread may be called once; a second call is an error, which goes to
 * the handler of MPI_COMM_SELF (§9.3). The world stays usable. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int provided = -1;

    test_begin(&argc, &argv);
    CHECK_CLASS(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided), MPI_ERR_OTHER);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return test_end();
}
