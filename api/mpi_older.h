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
#include <mpi_fint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- C and Fortran in one program --- */

#define MPI_OLDER_PAIR(Class, Type)                 \
    MPI_Fint MPI_##Class##_c2f(Type handle);        \
    MPI_Fint PMPI_##Class##_c2f(Type handle);       \
    Type MPI_##Class##_f2c(MPI_Fint handle);        \
    Type PMPI_##Class##_f2c(MPI_Fint handle);
MPI_FINT_HANDLES(MPI_OLDER_PAIR)

/* A status has the same bytes in all three forms. */
#define MPI_OLDER_STATUS(name, From, To)         \
    int MPI_##name(const From *from, To *to);    \
    int PMPI_##name(const From *from, To *to);
MPI_FINT_STATUSES(MPI_OLDER_STATUS)

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
