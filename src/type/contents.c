/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. What a type was made from, kept as it came, and given back (MPI 5.0 §5.1.13).
 *
 * In the small form of a constructor, counts and displacements in extents are integers, displacements in bytes are
 * addresses; in the large form both are large counts. Everything else is an integer in both.
 * Knows: the arguments of constructors by their order. Does not know: what they mean. */
#include <assert.h>

#include "base/err.h"
#include "base/mem.h"
#include "type/int_plan.h"

struct type_contents *contents_create(int combiner, bool is_large, MPI_Count integers, MPI_Count numbers,
                                      MPI_Count places, MPI_Count types)
{
    const size_t ints = (size_t)integers + (is_large ? 0 : (size_t)numbers);
    const size_t addresses = is_large ? 0 : (size_t)places;
    const size_t larges = is_large ? (size_t)numbers + (size_t)places : 0;
    struct type_contents *c = mem_zalloc(sizeof *c);

    if (!c)
        return NULL;
    c->combiner = combiner;
    c->is_large = is_large;
    c->integer = ints ? mem_alloc(ints * sizeof *c->integer) : NULL;
    c->address = addresses ? mem_alloc(addresses * sizeof *c->address) : NULL;
    c->large = larges ? mem_alloc(larges * sizeof *c->large) : NULL;
    c->type = types ? mem_alloc((size_t)types * sizeof(struct type *)) : NULL;
    if ((ints && !c->integer) || (addresses && !c->address) || (larges && !c->large) || (types && !c->type)) {
        contents_destroy(c, NULL);
        return NULL;
    }
    return c;
}

void contents_put_int(struct type_contents *c, int value)
{
    c->integer[c->integers++] = value;
}

void contents_put_number(struct type_contents *c, MPI_Count value)
{
    if (c->is_large)
        c->large[c->counts++] = value;
    else
        c->integer[c->integers++] = (int)value;
}

void contents_put_place(struct type_contents *c, MPI_Count value)
{
    if (c->is_large)
        c->large[c->counts++] = value;
    else
        c->address[c->addresses++] = value;
}

void contents_put_type(struct type_contents *c, struct type *type)
{
    type_ref(type);
    c->type[c->types++] = type;
}

void contents_destroy(struct type_contents *c, struct type **unused)
{
    if (!c)
        return;
    for (MPI_Count i = 0; i < c->types; i++) {
        struct type *const old = c->type[i];
        if (!obj_unref(&old->obj))
            continue;
        assert(unused);
        old->how = *unused;
        *unused = old;
    }
    mem_free(c->integer);
    mem_free(c->address);
    mem_free(c->large);
    mem_free(c->type);
    mem_free(c);
}

/* --- queries --- */

/* The small forms have no place for large counts. */
static int check_form(const struct type *type, bool is_large)
{
    if (is_large || !type->contents || type->contents->counts == 0)
        return 0;
    return err(MPI_ERR_TYPE,
               "datatype %s was made by a large count function: ask with MPI_Type_get_envelope_c and _contents_c",
               type_name(type)[0] ? type_name(type) : "without a name");
}

int type_get_envelope(const struct type *type, bool is_large, MPI_Count *integers, MPI_Count *addresses,
                      MPI_Count *counts, MPI_Count *types, int *combiner)
{
    static const struct type_contents named = { .combiner = MPI_COMBINER_NAMED };
    const struct type_contents *const c = type->contents ? type->contents : &named;
    const int rc = check_form(type, is_large);

    if (rc)
        return rc;
    *integers = c->integers;
    *addresses = c->addresses;
    *types = c->types;
    if (counts)
        *counts = c->counts;
    *combiner = c->combiner;
    return 0;
}

static int check_room(MPI_Count max, MPI_Count needed, const char *name)
{
    if (max >= needed)
        return 0;
    return err(MPI_ERR_ARG, "%s is %lld, but the datatype was made from %lld", name, (long long)max,
               (long long)needed);
}

MPI_Datatype type_handle_again(struct type *type)
{
    if (!type->is_permanent) {
        type_ref(type);
        atomic_fetch_add_explicit(&type->handles, 1, memory_order_relaxed);
    }
    return (MPI_Datatype)obj_handle(&type->obj);
}

int type_get_contents(const struct type *type, const struct type_contents_out *out)
{
    const struct type_contents *const c = type->contents;
    int rc;

    if (!c)
        return err(MPI_ERR_TYPE, "%s is a named datatype and has no contents", type_name(type));
    if ((rc = check_form(type, out->is_large)) || (rc = check_room(out->max_integers, c->integers, "max_integers")) ||
        (rc = check_room(out->max_addresses, c->addresses, "max_addresses")) ||
        (rc = check_room(out->max_counts, c->counts, "max_large_counts")) ||
        (rc = check_room(out->max_types, c->types, "max_datatypes")))
        return rc;
    for (MPI_Count i = 0; i < c->integers; i++)
        out->integers[i] = c->integer[i];
    for (MPI_Count i = 0; i < c->addresses; i++)
        out->addresses[i] = c->address[i];
    for (MPI_Count i = 0; i < c->counts; i++)
        out->counts[i] = c->large[i];
    for (MPI_Count i = 0; i < c->types; i++)
        out->types[i] = type_handle_again(c->type[i]);
    return 0;
}
