/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. How items of a type lie in a file of another representation (MPI 5.0 §14.5.1): the type is made once more,
 * with as many bytes for each predefined type as it has in the file. Displacements that count extents follow; those in
 * bytes are the file's already.
 * Knows: types, and what they were made from. */
#include "base/err.h"
#include "base/mem.h"
#include "io/datarep.h"

/* The arguments of a constructor, in the order in which they are given back. */
struct arguments {
    bool is_large;         /* numbers and places come from `counts`, in one row */
    MPI_Count integers, addresses, counts, types;
    int combiner;
    int *integer;
    MPI_Aint *address;
    MPI_Count *count;
    MPI_Datatype *handle;
    struct type **made;    /* of each of them, as it lies in the file */
    MPI_Count next_integer, next_address, next_count;
    MPI_Count *numbers;    /* room for lengths and displacements */
};

static int next_int(struct arguments *a)
{
    return a->integer[a->next_integer++];
}

/* A count or a displacement in extents. */
static MPI_Count next_number(struct arguments *a)
{
    return a->is_large ? a->count[a->next_count++] : a->integer[a->next_integer++];
}

/* A displacement in bytes. */
static MPI_Count next_place(struct arguments *a)
{
    return a->is_large ? a->count[a->next_count++] : a->address[a->next_address++];
}

static struct type_numbers next_numbers(struct arguments *a, MPI_Count n, MPI_Count (*next)(struct arguments *a))
{
    MPI_Count *const first = a->numbers;

    for (MPI_Count i = 0; i < n; i++)
        first[i] = next(a);
    a->numbers += n;
    return TYPE_NUMBERS(first);
}

static const int *next_ints(struct arguments *a, int n)
{
    const int *const first = a->integer + a->next_integer;

    a->next_integer += n;
    return first;
}

/* --- making it once more --- */

static int make_vector(struct arguments *a, struct type **out)
{
    MPI_Count numbers[3];

    numbers[0] = next_number(a);
    numbers[1] = next_number(a);
    numbers[2] = a->combiner == MPI_COMBINER_VECTOR ? next_number(a) : next_place(a);
    return type_vector(a->combiner, numbers, a->made[0], true, out);
}

static int make_blocks(struct arguments *a, struct type **out)
{
    struct type_blocks blocks = { .combiner = a->combiner, .is_large = true };
    const bool is_even = a->combiner == MPI_COMBINER_INDEXED_BLOCK || a->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const bool is_in_extents = a->combiner == MPI_COMBINER_INDEXED || a->combiner == MPI_COMBINER_INDEXED_BLOCK;

    blocks.count = next_number(a);
    if (is_even)
        blocks.length = next_number(a);
    else
        blocks.lengths = next_numbers(a, blocks.count, next_number);
    blocks.disps = next_numbers(a, blocks.count, is_in_extents ? next_number : next_place);
    if (a->combiner != MPI_COMBINER_STRUCT)
        return type_indexed(&blocks, a->made[0], out);
    for (MPI_Count i = 0; i < a->types; i++) /* the old ones have been looked at */
        a->handle[i] = (MPI_Datatype)obj_handle(&a->made[i]->obj);
    return type_struct(&blocks, a->handle, out);
}

static int make_subarray(struct arguments *a, struct type **out)
{
    struct type_subarray args = { .is_large = true };

    args.ndims = next_int(a);
    args.sizes = next_numbers(a, args.ndims, next_number);
    args.subsizes = next_numbers(a, args.ndims, next_number);
    args.starts = next_numbers(a, args.ndims, next_number);
    args.order = next_int(a);
    return type_subarray(&args, a->made[0], out);
}

static int make_darray(struct arguments *a, struct type **out)
{
    struct type_darray args = { .is_large = true };

    args.size = next_int(a);
    args.rank = next_int(a);
    args.ndims = next_int(a);
    args.gsizes = next_numbers(a, args.ndims, next_number);
    args.distribs = next_ints(a, args.ndims);
    args.dargs = next_ints(a, args.ndims);
    args.psizes = next_ints(a, args.ndims);
    args.order = next_int(a);
    return type_darray(&args, a->made[0], out);
}

static int make_again(struct arguments *a, struct type **out)
{
    MPI_Count lb;

    switch (a->combiner) {
    case MPI_COMBINER_DUP:
        *out = a->made[0];
        type_ref(*out);
        return 0;
    case MPI_COMBINER_CONTIGUOUS:
        return type_contiguous(next_number(a), a->made[0], true, out);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return make_vector(a, out);
    case MPI_COMBINER_SUBARRAY:
        return make_subarray(a, out);
    case MPI_COMBINER_DARRAY:
        return make_darray(a, out);
    case MPI_COMBINER_RESIZED:
        lb = next_place(a);
        return type_resized(a->made[0], lb, next_place(a), true, out);
    default:
        return make_blocks(a, out);
    }
}

/* --- arguments --- */

static void close_arguments(struct arguments *a, MPI_Count *room)
{
    for (MPI_Count i = 0; a->made && i < a->types; i++)
        if (a->made[i])
            type_unref(a->made[i]);
    mem_free(a->integer);
    mem_free(a->address);
    mem_free(a->count);
    mem_free(a->handle);
    mem_free(a->made);
    mem_free(room);
}

/* Gives the types back that type_get_contents has given as handles of the user. */
static void drop_handles(struct arguments *a)
{
    for (MPI_Count i = 0; i < a->types; i++) {
        struct type *type = obj_type(a->handle[i]);

        if (!type->is_permanent)
            type_free(type);
    }
}

static int open_arguments(struct arguments *a, const struct type *type, MPI_Count **room)
{
    const struct type_contents_out out = {
        true, a->integers, a->addresses, a->counts, a->types,
        a->integer = mem_alloc(((size_t)a->integers + 1) * sizeof *a->integer),
        a->address = mem_alloc(((size_t)a->addresses + 1) * sizeof *a->address),
        a->count = mem_alloc(((size_t)a->counts + 1) * sizeof *a->count),
        a->handle = mem_alloc(((size_t)a->types + 1) * sizeof *a->handle),
    };

    a->made = mem_zalloc(((size_t)a->types + 1) * sizeof *a->made);
    *room = a->numbers =
        mem_alloc(((size_t)(a->integers + a->addresses + a->counts) + 1) * sizeof *a->numbers);
    if (!a->integer || !a->address || !a->count || !a->handle || !a->made || !a->numbers)
        return err(MPI_ERR_NO_MEM, "no memory for what a datatype was made from");
    return type_get_contents(type, &out);
}

static int make_parts(const struct io_datarep *datarep, struct arguments *a)
{
    int rc = 0;

    for (MPI_Count i = 0; i < a->types && !rc; i++)
        rc = io_datarep_layout(datarep, obj_type(a->handle[i]), &a->made[i]);
    drop_handles(a);
    return rc;
}

static int layout_of_derived(const struct io_datarep *datarep, const struct type *type, struct arguments *a,
                             struct type **out)
{
    MPI_Count *room = NULL;
    int rc = open_arguments(a, type, &room);

    a->is_large = a->counts > 0;
    if (!rc)
        rc = make_parts(datarep, a);
    if (!rc)
        rc = make_again(a, out);
    close_arguments(a, room);
    return rc;
}

static int layout_of_leaf(const struct io_datarep *datarep, struct type *type, struct type **out)
{
    MPI_Aint extent = 0;
    int code;

    if (datarep->kind == IO_EXTERNAL32) {
        extent = (MPI_Aint)external_bytes(type, 1);
    } else {
        code = datarep->extent((MPI_Datatype)obj_handle(&type->obj), &extent, datarep->state);
        if (code || extent < 0)
            return err(MPI_ERR_CONVERSION, "E0910: the extent function of data representation \"%.100s\" has returned "
                       "%d, extent %lld for %s", datarep->name, code, (long long)extent, type_name(type));
    }
    return type_contiguous(extent, obj_type(MPI_BYTE), true, out);
}

int io_datarep_layout(const struct io_datarep *datarep, struct type *type, struct type **out)
{
    struct arguments a = { 0 };
    int rc;

    if (datarep->kind == IO_NATIVE) {
        *out = type;
        type_ref(type);
        return 0;
    }
    rc = type_get_envelope(type, true, &a.integers, &a.addresses, &a.counts, &a.types, &a.combiner);
    if (rc)
        return rc;
    if (a.types && a.combiner != MPI_COMBINER_VALUE_INDEX)
        return layout_of_derived(datarep, type, &a, out);
    return layout_of_leaf(datarep, type, out);
}
