/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: a program in a language whose decimal point is a comma. What it hands to MPI, and what MPI
 * writes, has points all the same. Prints what 1.5 looks like and the class of an error. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int code, error_class;
    MPI_Info info;
    MPI_Comm comm;

    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "0.25");
    code = MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &comm);
    MPI_Error_class(code, &error_class);
    MPI_Info_free(&info);
    MPI_Close_port(port);
    printf("%.1f %s\n", 1.5, error_class == MPI_ERR_PORT ? "MPI_ERR_PORT" : "another class");
    MPI_Finalize();
    return 0;
}
