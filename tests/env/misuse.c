/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2, §9.3: a call that needs MPI before MPI_Init or after MPI_Finalize is an error that goes to
 * the initial error handler: the program ends with a message that names the call, not by a crash. Argument:
 * before|after|init_after. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int value = 1;

    CHECK(argc == 2, "usage: misuse before|after|init_after");
    if (strcmp(argv[1], "before") != 0) {
        CHECK_OK(MPI_Init(NULL, NULL));
        CHECK_OK(MPI_Finalize());
    }
    if (strcmp(argv[1], "init_after") == 0)
        MPI_Init(NULL, NULL);
    else
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    printf("the call came back\n");
    return 0;
}
