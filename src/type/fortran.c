/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Fortran types by their properties (MPI 5.0 §19.1.9): by size, and by precision and range. The latter are
 * predefined types without a name: one object for each combination of values, made at the first question and there
 * until the end.
 * Knows: the predefined types. */
#include <float.h>
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "type/int_plan.h"

int type_match_size(int type_class, int size, struct type **out)
{
    static const struct {
        int type_class;
        MPI_Datatype type;
    } candidates[] = {
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER1 },  { MPI_TYPECLASS_INTEGER, MPI_INTEGER2 },
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER4 },  { MPI_TYPECLASS_INTEGER, MPI_INTEGER8 },
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER16 }, { MPI_TYPECLASS_REAL, MPI_REAL2 },
        { MPI_TYPECLASS_REAL, MPI_REAL4 },        { MPI_TYPECLASS_REAL, MPI_REAL8 },
        { MPI_TYPECLASS_REAL, MPI_REAL16 },       { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX4 },
        { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8 },  { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16 },
        { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32 },
    };
    bool has_class = false;

    for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
        struct type *const type = obj_type(candidates[i].type);

        if (candidates[i].type_class != type_class)
            continue;
        has_class = true;
        if (type->is_supported && type->size == size) {
            *out = type;
            return 0;
        }
    }
    if (!has_class)
        return err(MPI_ERR_ARG, "type class %d is none of MPI_TYPECLASS_INTEGER, _REAL, _COMPLEX",
                   type_class);
    return err(MPI_ERR_ARG, "no Fortran type of %d bytes in type class %d on this platform", size,
               type_class);
}

/* --- by precision and range --- */

/* What a compiler chooses: the first that is good enough. No Fortran compiler here has a REAL of 2 bytes. */
struct fortran_choice {
    int combiner;
    int digits, range; /* decimal; digits 0: an integer */
    MPI_Datatype type;
};

enum { LONG_DIGITS = LDBL_DIG, LONG_RANGE = 4931 };

static const struct fortran_choice choices[] = {
    { MPI_COMBINER_F90_REAL, 6, 37, MPI_REAL4 },
    { MPI_COMBINER_F90_REAL, 15, 307, MPI_REAL8 },
    { MPI_COMBINER_F90_REAL, LONG_DIGITS, LONG_RANGE, MPI_LONG_DOUBLE },
    { MPI_COMBINER_F90_REAL, 33, 4931, MPI_REAL16 },
    { MPI_COMBINER_F90_COMPLEX, 6, 37, MPI_COMPLEX8 },
    { MPI_COMBINER_F90_COMPLEX, 15, 307, MPI_COMPLEX16 },
    { MPI_COMBINER_F90_COMPLEX, LONG_DIGITS, LONG_RANGE, MPI_C_LONG_DOUBLE_COMPLEX },
    { MPI_COMBINER_F90_COMPLEX, 33, 4931, MPI_COMPLEX32 },
    { MPI_COMBINER_F90_INTEGER, 0, 2, MPI_INTEGER1 },
    { MPI_COMBINER_F90_INTEGER, 0, 4, MPI_INTEGER2 },
    { MPI_COMBINER_F90_INTEGER, 0, 9, MPI_INTEGER4 },
    { MPI_COMBINER_F90_INTEGER, 0, 18, MPI_INTEGER8 },
    { MPI_COMBINER_F90_INTEGER, 0, 38, MPI_INTEGER16 },
};

struct fortran_type {
    struct fortran_type *next;
    int combiner, p, r;
    struct type *type;
};

static struct {
    pthread_mutex_t lock;
    struct fortran_type *first; /* guarded by lock */
} made = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct type *choose(int combiner, int p, int r)
{
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        const struct type *const type = obj_type(choices[i].type);

        if (choices[i].combiner == combiner && type->is_supported && (p == MPI_UNDEFINED || p <= choices[i].digits) &&
            (r == MPI_UNDEFINED || r <= choices[i].range))
            return type;
    }
    return NULL;
}

static struct type_contents *keep_arguments(int combiner, int p, int r)
{
    const bool is_integer = combiner == MPI_COMBINER_F90_INTEGER;
    struct type_contents *c = contents_create(combiner, false, is_integer ? 1 : 2, 0, 0, 0);

    if (c && !is_integer)
        contents_put_int(c, p);
    if (c)
        contents_put_int(c, r);
    return c;
}

static struct type_part make_same(struct plan_builder *b, const void *args)
{
    return construct_part(b, args);
}

/* With the lock. */
static int make(int combiner, int p, int r, const struct type *base, struct type **out)
{
    struct fortran_type *entry = mem_alloc(sizeof *entry);
    int rc;

    if (!entry)
        return err(MPI_ERR_NO_MEM, "no memory for a datatype");
    rc = construct_type(keep_arguments(combiner, p, r), make_same, base, NULL, out);
    if (rc) {
        mem_free(entry);
        return rc;
    }
    type_set_committed(*out);
    (*out)->is_basic = (*out)->is_permanent = true;
    (*out)->kind = base->kind;
    (*out)->type_class = base->type_class;
    *entry = (struct fortran_type){ made.first, combiner, p, r, *out };
    made.first = entry;
    return 0;
}

static COLD int nothing_fits(int combiner, int p, int r)
{
    if (combiner == MPI_COMBINER_F90_INTEGER)
        return err(MPI_ERR_ARG, "no Fortran INTEGER with a decimal range of %d on this platform", r);
    if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        return err(MPI_ERR_ARG, "precision and range are both MPI_UNDEFINED");
    return err(MPI_ERR_ARG, "no Fortran %s with a precision of %d digits and a decimal range of %d on this platform",
               combiner == MPI_COMBINER_F90_REAL ? "REAL" : "COMPLEX", p, r);
}

int type_f90(int combiner, int p, int r, struct type **out)
{
    const bool is_integer = combiner == MPI_COMBINER_F90_INTEGER;
    const struct type *const base = choose(combiner, is_integer ? 0 : p, r);
    int rc = 0;

    if (!base || (r == MPI_UNDEFINED && (is_integer || p == MPI_UNDEFINED)))
        return nothing_fits(combiner, p, r);
    *out = NULL;
    pthread_mutex_lock(&made.lock);
    for (const struct fortran_type *t = made.first; t && !*out; t = t->next)
        if (t->combiner == combiner && (is_integer || t->p == p) && t->r == r)
            *out = t->type;
    if (!*out)
        rc = make(combiner, p, r, base, out);
    pthread_mutex_unlock(&made.lock);
    return rc;
}

void fortran_fini(void)
{
    while (made.first) {
        struct fortran_type *const next = made.first->next;
        type_unref(made.first->type);
        mem_free(made.first);
        made.first = next;
    }
}
