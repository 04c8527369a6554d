/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3, §9.3: in a program with sessions only there is no MPI_COMM_WORLD and nothing for MPI_Finalize; such an
 * error belongs to no object and meets the initial error handler, which ends the program. Argument: world, finalize. */
#include "mpisession.h"

int main(int argc, char **argv)
{
    MPI_Session session = session_open();
    int rank;

    if (argc > 1 && !strcmp(argv[1], "finalize"))
        MPI_Finalize();
    else
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("still there\n");
    session_close(&session);
    return 0;
}
