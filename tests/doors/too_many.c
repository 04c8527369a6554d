/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of more different functions than a door can lend: the last one ends the job (E0116). */
#include <mpi.h>

#define FUNCTION(n)                                  \
    static void on_error_##n(MPI_Comm *comm, int *code, ...) \
    {                                                \
        (void)comm, (void)code;                      \
    }
#define EIGHT(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define ALL(M) EIGHT(M, 0) EIGHT(M, 1) EIGHT(M, 2) EIGHT(M, 3) EIGHT(M, 4) EIGHT(M, 5) EIGHT(M, 6) EIGHT(M, 7) M(100)
#define NAME(n) on_error_##n,

ALL(FUNCTION)

static MPI_Comm_errhandler_function *const functions[] = { ALL(NAME) };

int main(int argc, char **argv)
{
    MPI_Errhandler handler;

    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 64; i++) {
            MPI_Comm_create_errhandler(functions[i], &handler);
            MPI_Errhandler_free(&handler);
        }
    MPI_Comm_create_errhandler(functions[64], &handler);
    MPI_Finalize();
    return 0;
}
