/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI programs of all ages may use, and the mpi.h of the standard ABI leaves out:
 *
 *   - handles and statuses for Fortran (MPI 5.0 §19.3.4, §19.3.5), which depend on the size of an INTEGER (§20.4); here
 *     an INTEGER is an int;
 *   - functions deprecated since MPI 2.0 (§16.1);
 *   - functions, types and constants removed by MPI 3.0 (§17.1), as in MPI 2.2 §15.1.
 *
 * mpi.h includes this header if PARLEY_OLDER_NAMES is defined, as mpicc and mpicxx do; mpicc_abi and mpicxx_abi do not.
 * Link with -lmpi_older. Errors, blocking and thread safety are those of the functions that replace these. */
#ifndef MPI_OLDER_H
#define MPI_OLDER_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- C and Fortran in one program --- */

typedef int MPI_Fint;
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;

#define MPI_OLDER_PAIR(Class, Type)                 \
    MPI_Fint MPI_##Class##_c2f(Type handle);        \
    MPI_Fint PMPI_##Class##_c2f(Type handle);       \
    Type MPI_##Class##_f2c(MPI_Fint handle);        \
    Type PMPI_##Class##_f2c(MPI_Fint handle);
#define MPI_OLDER_PAIRS(PAIR)          \
    PAIR(Comm, MPI_Comm)               \
    PAIR(Errhandler, MPI_Errhandler)   \
    PAIR(File, MPI_File)               \
    PAIR(Group, MPI_Group)             \
    PAIR(Info, MPI_Info)               \
    PAIR(Message, MPI_Message)         \
    PAIR(Op, MPI_Op)                   \
    PAIR(Request, MPI_Request)         \
    PAIR(Session, MPI_Session)         \
    PAIR(Type, MPI_Datatype)           \
    PAIR(Win, MPI_Win)
MPI_OLDER_PAIRS(MPI_OLDER_PAIR)

/* A status has the same bytes in all three forms. */
#define MPI_OLDER_STATUS(name, From, To)         \
    int MPI_##name(const From *from, To *to);    \
    int PMPI_##name(const From *from, To *to);
#define MPI_OLDER_STATUSES(STATUS)                       \
    STATUS(Status_f2c, MPI_Fint, MPI_Status)             \
    STATUS(Status_c2f, MPI_Status, MPI_Fint)             \
    STATUS(Status_f082c, MPI_F08_status, MPI_Status)     \
    STATUS(Status_c2f08, MPI_Status, MPI_F08_status)     \
    STATUS(Status_f2f08, MPI_Fint, MPI_F08_status)       \
    STATUS(Status_f082f, MPI_F08_status, MPI_Fint)
MPI_OLDER_STATUSES(MPI_OLDER_STATUS)

/* Variables of modules mpi and mpi_f08: these four need libmpifort_abi, with which mpifort links. */
extern MPI_Fint mpifort_status_ignore[], mpifort_statuses_ignore[];
extern MPI_F08_status mpifort_f08_status_ignore, mpifort_f08_statuses_ignore[];
#define MPI_F_STATUS_IGNORE mpifort_status_ignore
#define MPI_F_STATUSES_IGNORE mpifort_statuses_ignore
#define MPI_F08_STATUS_IGNORE (&mpifort_f08_status_ignore)
#define MPI_F08_STATUSES_IGNORE mpifort_f08_statuses_ignore

/* --- attributes, deprecated since MPI 2.0 --- */

typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
#define MPI_DUP_FN MPI_COMM_DUP_FN
#define MPI_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN

int MPI_Attr_delete(MPI_Comm comm, int keyval);
int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state);
int MPI_Keyval_free(int *keyval);
int PMPI_Attr_delete(MPI_Comm comm, int keyval);
int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state);
int PMPI_Keyval_free(int *keyval);

/* --- removed by MPI 3.0 --- */

typedef MPI_Comm_errhandler_function MPI_Handler_function;

int MPI_Address(const void *location, MPI_Aint *address);
int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_struct(int count, const int blocklengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                    MPI_Datatype *newtype);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);
int PMPI_Address(const void *location, MPI_Aint *address);
int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int PMPI_Type_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                       MPI_Datatype *newtype);
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int PMPI_Type_struct(int count, const int blocklengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                     MPI_Datatype *newtype);
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);

/* Markers for MPI_Type_struct, MPI_Type_create_struct and all others: a type begins at the lowest MPI_LB and ends at
 * the highest MPI_UB in it, whatever else it holds (as MPI 5.0 §5.1.6 has it for resized types). */
#define MPI_LB ((MPI_Datatype)0x000002fe)
#define MPI_UB ((MPI_Datatype)0x000002ff)

/* Never returned by MPI_Type_get_envelope; for the cases of a switch. */
#define MPI_COMBINER_HVECTOR_INTEGER (-2001)
#define MPI_COMBINER_HINDEXED_INTEGER (-2002)
#define MPI_COMBINER_STRUCT_INTEGER (-2003)

#ifdef __cplusplus
}
#endif

#endif
