/* SPDX-License-Identifier: BSD-3-Clause */
/* For launch_test.py: prints what MPI_INFO_ENV has for the keys that are its arguments. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(NULL, NULL);
    for (int i = 1; i < argc; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        int len = sizeof value, flag;

        MPI_Info_get_string(MPI_INFO_ENV, argv[i], &len, value, &flag);
        printf("%s%s", flag ? value : "(none)", i + 1 < argc ? "|" : "\n");
    }
    fflush(stdout);
    return MPI_Finalize();
}
