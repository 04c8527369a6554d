/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the Open MPI ABI: variables and functions that Open MPI has beyond the standard ABI. */
#include "door.h"

/* --- variables that programs refer to --- */

/* Those that abi.h declares. */
#define PREDEFINED_HERE(symbol, value, number) \
    union symbol##_variable symbol = { { PREDEFINED_KIND, 0, value, number } }
PREDEFINED_HERE(ompi_mpi_lb, 0, 4);
PREDEFINED_HERE(ompi_mpi_ub, 0, 3);
PREDEFINED(ompi_mpi_c_complex, 512, 530, 69); /* MPI_C_FLOAT_COMPLEX under another name */
/* Datatypes that the standard ABI has not: no handle of the library. */
PREDEFINED_HERE(ompi_mpi_2cplex, 0, 26);
PREDEFINED_HERE(ompi_mpi_2dblcplex, 0, 27);
PREDEFINED(ompi_mpi_ldblcplex, 512, 0, -1);
PREDEFINED(ompi_mpi_unavailable, 512, 0, -1);

EXPORTED extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

/* --- functions for attributes --- */

#define COPY(kind)                                                                                                   \
    EXPORTED int OMPI_C_MPI_##kind##NULL_COPY_FN(void *, int, void *, void *, void *, int *);                        \
    int OMPI_C_MPI_##kind##NULL_COPY_FN(void *object, int keyval, void *extra_state, void *in, void *out, int *flag) \
    {                                                                                                                \
        (void)object, (void)keyval, (void)extra_state, (void)in, (void)out;                                          \
        *flag = 0;                                                                                                   \
        return MPI_SUCCESS;                                                                                          \
    }                                                                                                                \
    EXPORTED int OMPI_C_MPI_##kind##DUP_FN(void *, int, void *, void *, void *, int *);                              \
    int OMPI_C_MPI_##kind##DUP_FN(void *object, int keyval, void *extra_state, void *in, void *out, int *flag)       \
    {                                                                                                                \
        (void)object, (void)keyval, (void)extra_state;                                                               \
        *(void **)out = in;                                                                                          \
        *flag = 1;                                                                                                   \
        return MPI_SUCCESS;                                                                                          \
    }                                                                                                                \
    EXPORTED int OMPI_C_MPI_##kind##NULL_DELETE_FN(void *, int, void *, void *);                                     \
    int OMPI_C_MPI_##kind##NULL_DELETE_FN(void *object, int keyval, void *value, void *extra_state)                  \
    {                                                                                                                \
        (void)object, (void)keyval, (void)value, (void)extra_state;                                                  \
        return MPI_SUCCESS;                                                                                          \
    }
COPY()
COPY(COMM_)
COPY(TYPE_)
COPY(WIN_)

/* --- handles as numbers for Fortran --- */

/* Predefined handles have numbers of that ABI, all others those of the library, which are larger. */
#define NUMBERS(Name, f_type, object)                                                                                \
    DOOR(int, Name##_c2f, f_type handle)                                                                             \
    {                                                                                                                \
        const struct predefined *const p = (const void *)handle;                                                     \
        if ((uintptr_t)handle >= 4096 && p->kind == PREDEFINED_KIND && p->number >= 0)                               \
            return p->number;                                                                                        \
        return parley_calls_1.Name##_toint(in_##object(handle));                                                     \
    }                                                                                                                \
    DOOR(f_type, Name##_f2c, int number)                                                                             \
    {                                                                                                                \
        void *const handle = (unsigned)number < FORTRAN_NUMBERS ? fortran_##object##_table[number] : NULL;           \
        return handle ? (f_type)handle : out_##object(parley_calls_1.Name##_fromint(number));                        \
    }
NUMBERS(Comm, F_Comm, comm)
NUMBERS(Errhandler, F_Errhandler, errhandler)
NUMBERS(File, F_File, file)
NUMBERS(Group, F_Group, group)
NUMBERS(Info, F_Info, info)
NUMBERS(Message, F_Message, message)
NUMBERS(Op, F_Op, op)
NUMBERS(Request, F_Request, request)
NUMBERS(Session, F_Session, session)
NUMBERS(Type, F_Datatype, type)
NUMBERS(Win, F_Win, win)

static int copy_status(const void *from, void *to, const int *ignored, const int *all_ignored)
{
    if (!from || (from == ignored && ignored) || (from == all_ignored && all_ignored))
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

/* --- what Open MPI 5.0 has besides --- */

/* A status of mpi_f08 has the bytes of the two other forms. */
DOOR(int, Status_c2f08, const F_Status *from, void *to)
{
    return copy_status(from, to, NULL, NULL);
}

DOOR(int, Status_f082c, const void *from, F_Status *to)
{
    return copy_status(from, to, MPI_F08_STATUS_IGNORE, MPI_F08_STATUSES_IGNORE);
}

DOOR(int, Status_f2f08, const int *from, void *to)
{
    return copy_status(from, to, MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE);
}

DOOR(int, Status_f082f, const void *from, int *to)
{
    return copy_status(from, to, MPI_F08_STATUS_IGNORE, MPI_F08_STATUSES_IGNORE);
}

/* No hint changes a session once it is made; wrong handles are errors. */
DOOR(int, Session_set_info, F_Session session, F_Info info)
{
    MPI_Info used = MPI_INFO_NULL;
    int count = 0, rc = parley_calls_1.Info_get_nkeys(in_info(info), &count);

    if (rc == MPI_SUCCESS)
        rc = parley_calls_1.Session_get_info(in_session(session), &used);
    if (rc == MPI_SUCCESS)
        rc = parley_calls_1.Info_free(&used);
    return out_code(rc);
}

/* --- extensions --- */

EXPORTED int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return 0;
}

/* --- what the bindings of Open MPI for C++ refer to --- */

PREDEFINED(ompi_mpi_errors_throw_exceptions, 1024, 0, -1);
EXPORTED extern char ompi_errcodes_intern[120], ompi_registered_datareps[120];
char ompi_errcodes_intern[120], ompi_registered_datareps[120];
EXPORTED extern int ompi_errcode_intern_lastused;
int ompi_errcode_intern_lastused;

#define NO_CXX(name)                                                                                                  \
    EXPORTED void name(void);                                                                                         \
    void name(void)                                                                                                   \
    {                                                                                                                 \
        door_die("E0116: the program uses operators, error handlers or attributes of the C++ bindings of MPI, which " \
                 "this door has not; they were removed with MPI 3.0");                                                \
    }
NO_CXX(ompi_attr_create_keyval)
NO_CXX(ompi_errhandler_create)
NO_CXX(ompi_errhandler_invoke)
NO_CXX(ompi_op_set_cxx_callback)
