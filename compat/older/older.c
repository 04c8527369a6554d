/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpi_older: names of MPI that the standard ABI leaves out (mpi_older.h), by functions of the ABI. An edge: it knows
 * mpi.h only, and has no state. MPI_LB and MPI_UB are datatypes of the library; MPI_Attr_* and MPI_Keyval_* are
 * functions of it. */
#include <mpi_older.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
/* A tool may replace the name without P, as of any other function (§15.2). */
#define WEAK(name) extern EXPORTED __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))

/* --- C and Fortran in one program (§19.3.4, §19.3.5) --- */

#define PAIR(Class, Type)                                   \
    EXPORTED MPI_Fint PMPI_##Class##_c2f(Type handle)       \
    {                                                       \
        return MPI_##Class##_toint(handle);                 \
    }                                                       \
    EXPORTED Type PMPI_##Class##_f2c(MPI_Fint handle)       \
    {                                                       \
        return MPI_##Class##_fromint(handle);               \
    }                                                       \
    WEAK(Class##_c2f);                                      \
    WEAK(Class##_f2c);
MPI_FINT_HANDLES(PAIR)

#define STATUS(name, From, To)                              \
    EXPORTED int PMPI_##name(const From *from, To *to)      \
    {                                                       \
        memcpy(to, from, sizeof(MPI_Status));               \
        return MPI_SUCCESS;                                 \
    }                                                       \
    WEAK(name);
MPI_FINT_STATUSES(STATUS)

/* --- removed by MPI 3.0 --- */

EXPORTED int PMPI_Address(const void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}
WEAK(Address);

EXPORTED int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(function, errhandler);
}
WEAK(Errhandler_create);

EXPORTED int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_get_errhandler(comm, errhandler);
}
WEAK(Errhandler_get);

EXPORTED int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
WEAK(Errhandler_set);

EXPORTED int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    return PMPI_Type_get_extent(datatype, &lb, extent);
}
WEAK(Type_extent);

EXPORTED int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;

    return PMPI_Type_get_extent(datatype, displacement, &extent);
}
WEAK(Type_lb);

EXPORTED int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    const int rc = PMPI_Type_get_extent(datatype, displacement, &extent); /* the lower bound; NULL is its error */

    if (!rc)
        *displacement += extent;
    return rc;
}
WEAK(Type_ub);

EXPORTED int PMPI_Type_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                                MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}
WEAK(Type_hindexed);

EXPORTED int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                               MPI_Datatype *newtype)
{
    return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
WEAK(Type_hvector);

EXPORTED int PMPI_Type_struct(int count, const int blocklengths[], const MPI_Aint displacements[],
                              const MPI_Datatype types[], MPI_Datatype *newtype)
{
    return PMPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}
WEAK(Type_struct);
