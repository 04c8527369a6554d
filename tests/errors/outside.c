/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI_Comm_rank where it must not be called: `outside before` or `outside after`. What may be called at any time
 * is called first, both times (MPI 5.0 §11.4.1). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what)
{
    printf("%s does not work here\n", what);
    return 0;
}

/* Returns 1 if all is well. */
static int call_what_is_allowed(void)
{
    MPI_Info info;
    MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int a, b, flag, code;

    if (MPI_Initialized(&flag) || MPI_Finalized(&flag) || MPI_Get_version(&a, &b) || MPI_Abi_get_version(&a, &b))
        return failed("a version or state query");
    if (MPI_Get_library_version(text, &a) || MPI_Abi_get_info(&info) || MPI_Info_get_nkeys(info, &a) || a != 3)
        return failed("MPI_Abi_get_info");
    if (MPI_Info_set(info, "key", "value") || MPI_Info_fromint(MPI_Info_toint(info)) != info)
        return failed("MPI_Info_toint");
    if (MPI_Info_free(&info) || MPI_Errhandler_free(&errhandler))
        return failed("MPI_Info_free or MPI_Errhandler_free");
    if (MPI_Add_error_code(MPI_ERR_OTHER, &code) || MPI_Add_error_string(code, "mine") ||
        MPI_Error_string(code, text, &a) || strcmp(text, "mine") != 0)
        return failed("MPI_Add_error_string");
    if (MPI_Error_class(code, &a) || a != MPI_ERR_OTHER || MPI_Remove_error_string(code) ||
        MPI_Remove_error_code(code))
        return failed("MPI_Remove_error_code");
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    int rank, count;

    MPI_Info_create(&info);
    if (argc > 1 && strcmp(argv[1], "after") == 0) {
        MPI_Init(NULL, NULL);
        MPI_Finalize();
    }
    if (MPI_Info_set(info, "old", "object") || MPI_Info_get_nkeys(info, &count) || count != 1 || MPI_Info_free(&info))
        return failed("an info object made before MPI_Init");
    if (!call_what_is_allowed())
        return 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("MPI_Comm_rank came back\n");
    return 0;
}
