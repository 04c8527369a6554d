/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the MPICH ABI: variables and functions that MPICH has beyond the standard ABI. */
#include "door.h"

/* --- variables that programs read --- */

EXPORTED int *const MPI_UNWEIGHTED_variable __asm__("MPI_UNWEIGHTED") = MPI_UNWEIGHTED;
EXPORTED int *const MPI_WEIGHTS_EMPTY_variable __asm__("MPI_WEIGHTS_EMPTY") = MPI_WEIGHTS_EMPTY;
EXPORTED MPI_T_pvar_handle const all_handles __asm__("MPI_T_PVAR_ALL_HANDLES") = MPI_T_PVAR_ALL_HANDLES;
/* What Fortran programs call MPI_STATUS_IGNORE; libraries of Fortran set the first two. */
EXPORTED extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
EXPORTED extern F_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
F_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
EXPORTED extern F_Status *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
F_Status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
F_Status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
EXPORTED extern int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;

/* --- functions --- */

/* MPI_COMM_DUP_FN and its like: the value as it is. */
EXPORTED int MPIR_Dup_fn(int, int, void *, void *, void *, int *);
int MPIR_Dup_fn(int object, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)object, (void)keyval, (void)extra_state;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* A file is an address over there, too; all other handles are ints already. */
DOOR(int, File_c2f, F_File file)
{
    return file ? parley_calls_1.File_toint(in_file(file)) : 0;
}

DOOR(F_File, File_f2c, int file)
{
    return file ? out_file(parley_calls_1.File_fromint(file)) : NULL;
}

/* A status is the same ints in both languages. */
static int copy_status(const void *from, void *to, const int *ignored, const int *all_ignored)
{
    if (F_IS_IGNORED(from) || from == ignored || from == all_ignored)
        return out_code(MPI_ERR_ARG);
    memcpy(to, from, sizeof(F_Status));
    return MPI_SUCCESS;
}

DOOR(int, Status_c2f, const F_Status *from, int *to)
{
    return copy_status(from, to, NULL, NULL);
}

DOOR(int, Status_f2c, const int *from, F_Status *to)
{
    return copy_status(from, to, MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE);
}

/* --- extensions --- */

/* Names with MPIX_, which tools may replace, too. */
#define EXTENSION(name, ...)                                                                           \
    EXPORTED int PMPIX_##name(__VA_ARGS__);                                                            \
    extern EXPORTED __typeof__(PMPIX_##name) MPIX_##name __attribute__((weak, alias("PMPIX_" #name))); \
    int PMPIX_##name(__VA_ARGS__)
/* ... that are not there. */
#define NO_EXTENSION(name, comm, ...)                 \
    EXTENSION(name, __VA_ARGS__)                      \
    {                                                 \
        return door_unsupported(comm, "MPIX_" #name); \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"

EXTENSION(Delete_error_class, int error_class)
{
    return out_code(parley_calls_1.Remove_error_class(in_code(error_class)));
}

EXTENSION(Delete_error_code, int code)
{
    return out_code(parley_calls_1.Remove_error_code(in_code(code)));
}

EXTENSION(Delete_error_string, int code)
{
    return out_code(parley_calls_1.Remove_error_string(in_code(code)));
}

EXTENSION(GPU_query_support, int gpu_type, int *is_supported)
{
    *is_supported = 0;
    return MPI_SUCCESS;
}

EXTENSION(Query_cuda_support, void)
{
    return 0;
}

EXTENSION(Query_ze_support, void)
{
    return 0;
}

EXTENSION(Query_hip_support, void)
{
    return 0;
}

NO_EXTENSION(Comm_revoke, in_comm(comm), F_Comm comm)
NO_EXTENSION(Comm_shrink, in_comm(comm), F_Comm comm, F_Comm *newcomm)
NO_EXTENSION(Comm_failure_ack, in_comm(comm), F_Comm comm)
NO_EXTENSION(Comm_failure_get_acked, in_comm(comm), F_Comm comm, F_Group *group)
NO_EXTENSION(Comm_agree, in_comm(comm), F_Comm comm, int *flag)
NO_EXTENSION(Grequest_start, MPI_COMM_SELF, void *query, void *free, void *cancel, void *poll, void *wait,
             void *extra_state, F_Request *request)
NO_EXTENSION(Grequest_class_create, MPI_COMM_SELF, void *query, void *free, void *cancel, void *poll, void *wait,
             int *greq_class)
NO_EXTENSION(Grequest_class_allocate, MPI_COMM_SELF, int greq_class, void *extra_state, F_Request *request)

/* --- the bindings of MPICH for C++ --- */

#define NO_CXX(name)                                                                                                  \
    EXPORTED void name(void);                                                                                         \
    void name(void)                                                                                                   \
    {                                                                                                                 \
        door_die("E0116: the program uses operators, error handlers or attributes of the C++ bindings of MPI, which " \
                 "this door has not; they were removed with MPI 3.0");                                                \
    }
NO_CXX(MPII_Op_set_cxx)
NO_CXX(MPII_Errhandler_set_cxx)
