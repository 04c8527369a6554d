/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: what MPI 3.0 has removed (MPI 5.0 §17.1; MPI 2.2 §15.1). Addresses, displacements and extents are INTEGER in
 * these; all else is as in the functions that replace them. Compiled twice, as the generated routines.
 * Knows: addresses.h, callbacks.h, routines.h. */
#include <limits.h>

#include "addresses.h"
#include "callbacks.h"
#include "routines.h"

/* Gives an address or extent that C has found, as an INTEGER. */
static int number_of(int *number, MPI_Aint value)
{
    static int code;

    if (value < INT_MIN || value > INT_MAX)
        return fortran_fail(&code, MPI_ERR_ARG,
                            "MPI_ERR_ARG: an extent or bound of this datatype does not fit an INTEGER: "
                            "use MPI_TYPE_GET_EXTENT");
    *number = (int)value;
    return MPI_SUCCESS;
}

void NAME(address_)(void *location, int *address, int *ierror);
void NAME(address_)(void *location, int *address, int *ierror)
{
    static int code;
    MPI_Aint found = 0;
    int rc = CALL(Get_address)(buffer_of(location), &found);

    if (!rc && !short_address_to(address, found))
        rc = fortran_fail(&code, MPI_ERR_ARG,
                          "MPI_ERR_ARG: MPI_ADDRESS: this address does not fit an INTEGER beside those told before, "
                          "more than 2 GB away: use MPI_GET_ADDRESS for all");
    give(ierror, rc);
}
OTHER_NAMES(address, ADDRESS)

void NAME(errhandler_create_)(fortran_fn function, int *errhandler, int *ierror);
void NAME(errhandler_create_)(fortran_fn function, int *errhandler, int *ierror)
{
    MPI_Comm_errhandler_function *c_function = comm_error_function(function);
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    const int rc = c_function ? CALL(Comm_create_errhandler)(c_function, &made) : too_many_functions();

    if (!rc)
        *errhandler = errhandler_to(made);
    give(ierror, rc);
}
OTHER_NAMES(errhandler_create, ERRHANDLER_CREATE)

void NAME(errhandler_get_)(int *comm, int *errhandler, int *ierror);
void NAME(errhandler_get_)(int *comm, int *errhandler, int *ierror)
{
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    const int rc = CALL(Comm_get_errhandler)(comm_of(*comm), &found);

    if (!rc)
        *errhandler = errhandler_to(found);
    give(ierror, rc);
}
OTHER_NAMES(errhandler_get, ERRHANDLER_GET)

void NAME(errhandler_set_)(int *comm, int *errhandler, int *ierror);
void NAME(errhandler_set_)(int *comm, int *errhandler, int *ierror)
{
    give(ierror, CALL(Comm_set_errhandler)(comm_of(*comm), errhandler_of(*errhandler)));
}
OTHER_NAMES(errhandler_set, ERRHANDLER_SET)

void NAME(type_extent_)(int *datatype, int *extent, int *ierror);
void NAME(type_extent_)(int *datatype, int *extent, int *ierror)
{
    MPI_Aint lb = 0, found = 0;
    const int rc = CALL(Type_get_extent)(type_of(*datatype), &lb, &found);

    give(ierror, rc ? rc : number_of(extent, found));
}
OTHER_NAMES(type_extent, TYPE_EXTENT)

void NAME(type_lb_)(int *datatype, int *displacement, int *ierror);
void NAME(type_lb_)(int *datatype, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    const int rc = CALL(Type_get_extent)(type_of(*datatype), &lb, &extent);

    give(ierror, rc ? rc : number_of(displacement, lb));
}
OTHER_NAMES(type_lb, TYPE_LB)

void NAME(type_ub_)(int *datatype, int *displacement, int *ierror);
void NAME(type_ub_)(int *datatype, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    const int rc = CALL(Type_get_extent)(type_of(*datatype), &lb, &extent);

    give(ierror, rc ? rc : number_of(displacement, lb + extent));
}
OTHER_NAMES(type_ub, TYPE_UB)

/* Displacements as C has them; NULL without memory. */
static MPI_Aint *displacements_of(struct room *room, const int *displacements, int count)
{
    MPI_Aint *wide = room_take(room, count, sizeof *wide);

    for (int i = 0; wide && i < count; i++)
        wide[i] = displacements[i];
    return wide;
}

void NAME(type_hindexed_)(int *count, int *blocklengths, int *displacements, int *oldtype, int *newtype, int *ierror);
void NAME(type_hindexed_)(int *count, int *blocklengths, int *displacements, int *oldtype, int *newtype, int *ierror)
{
    struct room room;
    const MPI_Aint *wide = displacements_of(&room, displacements, *count);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int rc = wide ? CALL(Type_create_hindexed)(*count, blocklengths, wide, type_of(*oldtype), &made)
                        : no_memory();

    if (!rc)
        *newtype = type_to(made);
    room_free(&room);
    give(ierror, rc);
}
OTHER_NAMES(type_hindexed, TYPE_HINDEXED)

void NAME(type_hvector_)(int *count, int *blocklength, int *stride, int *oldtype, int *newtype, int *ierror);
void NAME(type_hvector_)(int *count, int *blocklength, int *stride, int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int rc = CALL(Type_create_hvector)(*count, *blocklength, *stride, type_of(*oldtype), &made);

    if (!rc)
        *newtype = type_to(made);
    give(ierror, rc);
}
OTHER_NAMES(type_hvector, TYPE_HVECTOR)

void NAME(type_struct_)(int *count, int *blocklengths, int *displacements, int *types, int *newtype, int *ierror);
void NAME(type_struct_)(int *count, int *blocklengths, int *displacements, int *types, int *newtype, int *ierror)
{
    struct room room, types_room;
    const MPI_Aint *wide = displacements_of(&room, displacements, *count);
    const MPI_Datatype *c_types = types_of(&types_room, types, *count);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int rc = wide && c_types ? CALL(Type_create_struct)(*count, blocklengths, wide, c_types, &made) : no_memory();

    if (!rc)
        *newtype = type_to(made);
    room_free(&types_room);
    room_free(&room);
    give(ierror, rc);
}
OTHER_NAMES(type_struct, TYPE_STRUCT)
