/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: datatypes where a conversion needs to know more than one argument: what a datatype was made from, structures
 * with the markers MPI_LB and MPI_UB, and the functions of MPI 1 for datatypes, removed since MPI 3.0. */
#include "door.h"

/* --- what a datatype was made from (MPI 5.0 §5.1.13) --- */

/* The integers of subarrays and distributed arrays have constants among them. The order is last. Distributions and
 * their arguments follow size, rank and dimensions, and in the form with small counts the sizes of the array. */
static void convert_integers(int combiner, int n, bool is_large, int *integers)
{
    if ((combiner != MPI_COMBINER_SUBARRAY && combiner != MPI_COMBINER_DARRAY) || n < 1)
        return;
    integers[n - 1] = out_order(integers[n - 1]);
    if (combiner == MPI_COMBINER_SUBARRAY)
        return;
    const int dims = integers[2], first = is_large ? 3 : 3 + dims;
    for (int i = 0; i < dims; i++) {
        integers[first + i] = out_distrib(integers[first + i]);
        integers[first + dims + i] = out_darg(integers[first + dims + i]);
    }
}

DOOR(int, Type_get_contents, F_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
     int integers[], MPI_Aint addresses[], F_Datatype datatypes[])
{
    const int n = door_length(datatypes, max_datatypes);
    const MPI_Datatype type = in_type(datatype);
    MPI_Datatype near[DOOR_NEAR], *const found = door_room(near, n, sizeof *found);
    int n_integers = 0, n_addresses, n_datatypes = 0, combiner = MPI_COMBINER_NAMED;
    const int rc = parley_calls_1.Type_get_contents(type, max_integers, max_addresses, max_datatypes, integers,
                                                    addresses, datatypes ? found : NULL);

    if (!rc) {
        parley_calls_1.Type_get_envelope(type, &n_integers, &n_addresses, &n_datatypes, &combiner);
        convert_integers(combiner, n_integers, false, integers);
    }
    for (int i = 0; !rc && i < n_datatypes; i++)
        datatypes[i] = out_type(found[i]);
    door_room_done(found, near);
    return out_code(rc);
}

DOOR(int, Type_get_contents_c, F_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
     MPI_Count max_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[], MPI_Count counts[],
     F_Datatype datatypes[])
{
    const int n = door_length(datatypes, max_datatypes > INT_MAX ? INT_MAX : (int)max_datatypes);
    const MPI_Datatype type = in_type(datatype);
    MPI_Datatype near[DOOR_NEAR], *const found = door_room(near, n, sizeof *found);
    MPI_Count n_integers = 0, n_addresses, n_counts = 0, n_datatypes = 0;
    int combiner = MPI_COMBINER_NAMED;
    const int rc = parley_calls_1.Type_get_contents_c(type, max_integers, max_addresses, max_counts, max_datatypes,
                                                      integers, addresses, counts, datatypes ? found : NULL);

    if (!rc) {
        parley_calls_1.Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_datatypes, &combiner);
        convert_integers(combiner, (int)n_integers, n_counts > 0, integers);
    }
    for (int i = 0; !rc && i < n_datatypes; i++)
        datatypes[i] = out_type(found[i]);
    door_room_done(found, near);
    return out_code(rc);
}

/* --- structures --- */

/* A structure without the markers, and the bounds that they give. */
struct marked {
    int count;
    int *lengths;
    MPI_Aint *displacements;
    MPI_Datatype *types;
    bool has_lb, has_ub;
    MPI_Aint lb, ub;
};

/* Several markers: the lowest and the highest count (MPI 1.1 §3.12.3). */
static void add_member(struct marked *m, int length, MPI_Aint displacement, F_Datatype type)
{
    if (is_marker_lb(type)) {
        m->lb = m->has_lb && m->lb < displacement ? m->lb : displacement;
        m->has_lb = true;
    } else if (is_marker_ub(type)) {
        m->ub = m->has_ub && m->ub > displacement ? m->ub : displacement;
        m->has_ub = true;
    } else {
        m->lengths[m->count] = length;
        m->displacements[m->count] = displacement;
        m->types[m->count++] = in_type(type);
    }
}

/* The members' datatype with the bounds of the markers. */
static int bounded(const struct marked *m, MPI_Datatype *made)
{
    MPI_Datatype plain = *made;
    MPI_Aint lb = 0, extent = 0;
    int rc = parley_calls_1.Type_get_extent(plain, &lb, &extent);

    if (!rc) {
        const MPI_Aint ub = m->has_ub ? m->ub : lb + extent;
        lb = m->has_lb ? m->lb : lb;
        rc = parley_calls_1.Type_create_resized(plain, lb, ub - lb, made);
    }
    parley_calls_1.Type_free(&plain);
    return rc;
}

DOOR(int, Type_create_struct, int count, const int lengths[], const MPI_Aint displacements[], const F_Datatype types[],
     F_Datatype *newtype)
{
    const int n = lengths && displacements ? door_length(types, count) : 0;
    int lengths_near[DOOR_NEAR];
    MPI_Aint displacements_near[DOOR_NEAR];
    MPI_Datatype types_near[DOOR_NEAR], made = MPI_DATATYPE_NULL;
    struct marked m = {
        .lengths = door_room(lengths_near, n, sizeof *m.lengths),
        .displacements = door_room(displacements_near, n, sizeof *m.displacements),
        .types = door_room(types_near, n, sizeof *m.types),
    };

    for (int i = 0; i < n; i++)
        add_member(&m, lengths[i], displacements[i], types[i]);
    int rc = parley_calls_1.Type_create_struct(count < 0 ? count : m.count, lengths ? m.lengths : NULL,
                                               displacements ? m.displacements : NULL, types ? m.types : NULL,
                                               newtype ? &made : NULL);
    if (!rc && (m.has_lb || m.has_ub))
        rc = bounded(&m, &made);
    if (!rc)
        *newtype = out_type(made);
    door_room_done(m.types, types_near);
    door_room_done(m.displacements, displacements_near);
    door_room_done(m.lengths, lengths_near);
    return out_code(rc);
}

/* --- removed functions --- */

DOOR(int, Type_struct, int count, int lengths[], MPI_Aint displacements[], F_Datatype types[], F_Datatype *newtype)
{
    return PMPI_Type_create_struct(count, lengths, displacements, types, newtype);
}

DOOR(int, Type_hindexed, int count, int lengths[], MPI_Aint displacements[], F_Datatype oldtype, F_Datatype *newtype)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int rc = parley_calls_1.Type_create_hindexed(count, lengths, displacements, in_type(oldtype),
                                                       newtype ? &made : NULL);

    if (!rc)
        *newtype = out_type(made);
    return out_code(rc);
}

DOOR(int, Type_hvector, int count, int length, MPI_Aint stride, F_Datatype oldtype, F_Datatype *newtype)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int rc = parley_calls_1.Type_create_hvector(count, length, stride, in_type(oldtype), newtype ? &made : NULL);

    if (!rc)
        *newtype = out_type(made);
    return out_code(rc);
}

/* Lower bound and extent; either may be NULL. */
static int bounds(F_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    MPI_Aint values[2] = { 0, 0 };
    const int rc = parley_calls_1.Type_get_extent(in_type(datatype), &values[0], &values[1]);

    if (lb)
        *lb = values[0];
    if (extent)
        *extent = values[1];
    return out_code(rc);
}

DOOR(int, Type_extent, F_Datatype datatype, MPI_Aint *extent)
{
    return bounds(datatype, NULL, extent);
}

DOOR(int, Type_lb, F_Datatype datatype, MPI_Aint *displacement)
{
    return bounds(datatype, displacement, NULL);
}

DOOR(int, Type_ub, F_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb, extent;
    const int rc = bounds(datatype, &lb, &extent);

    *displacement = lb + extent;
    return rc;
}

DOOR(int, Address, void *location, MPI_Aint *address)
{
    return out_code(parley_calls_1.Get_address(location, address));
}
