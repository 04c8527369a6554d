/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The pairs of a value and an index for MPI_MAXLOC and MPI_MINLOC (MPI 5.0 §6.9.4): those that have a name,
 * and predefined ones without a name, made at the first question and there until the end. In memory they are what C
 * makes of a struct of the two.
 * Knows: the predefined types. */
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "type/int_plan.h"

static const struct {
    MPI_Datatype value, index, pair;
} named[] = {
    { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
    { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
    { MPI_LONG, MPI_INT, MPI_LONG_INT },
    { MPI_INT, MPI_INT, MPI_2INT },
    { MPI_SHORT, MPI_INT, MPI_SHORT_INT },
    { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
    { MPI_REAL, MPI_REAL, MPI_2REAL },
    { MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
    { MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
};

static struct type *find_named(const struct type *value, const struct type *index)
{
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (obj_type(named[i].value) == value && obj_type(named[i].index) == index)
            return obj_type(named[i].pair);
    return NULL;
}

/* What reduces a pair, by the kind of its value: with an index of 4 bytes, of 8 bytes. */
static const uint8_t kinds[TYPE_KINDS][2] = {
    [TYPE_INT8] = { TYPE_INT8_INT, TYPE_INT8_LONG },
    [TYPE_INT16] = { TYPE_SHORT_INT, TYPE_INT16_LONG },
    [TYPE_INT32] = { TYPE_INT_INT, TYPE_INT32_LONG },
    [TYPE_INT64] = { TYPE_LONG_INT, TYPE_INT64_LONG },
    [TYPE_UINT8] = { TYPE_UINT8_INT, TYPE_UINT8_LONG },
    [TYPE_UINT16] = { TYPE_UINT16_INT, TYPE_UINT16_LONG },
    [TYPE_UINT32] = { TYPE_UINT32_INT, TYPE_UINT32_LONG },
    [TYPE_UINT64] = { TYPE_UINT64_INT, TYPE_UINT64_LONG },
    [TYPE_FLOAT] = { TYPE_FLOAT_INT, TYPE_FLOAT_LONG },
    [TYPE_DOUBLE] = { TYPE_DOUBLE_INT, TYPE_DOUBLE_LONG },
    [TYPE_LONG_DOUBLE] = { TYPE_LONG_DOUBLE_INT, TYPE_LONG_DOUBLE_LONG },
};

static bool is_integer(const struct type *type)
{
    return type->type_class == TYPE_CLASS_C_INTEGER || type->type_class == TYPE_CLASS_FORTRAN_INTEGER ||
           type->type_class == TYPE_CLASS_MULTI_LANGUAGE;
}

/* TYPE_OTHER: nothing reduces such pairs. */
static enum type_kind kind_of(const struct type *value, const struct type *index)
{
    if (!value->is_basic || !index->is_basic || !is_integer(index) ||
        (!is_integer(value) && value->type_class != TYPE_CLASS_FLOATING))
        return TYPE_OTHER;
    return index->kind == TYPE_INT32   ? (enum type_kind)kinds[value->kind][0]
           : index->kind == TYPE_INT64 ? (enum type_kind)kinds[value->kind][1]
                                       : TYPE_OTHER;
}

/* --- those without a name --- */

struct unnamed_pair {
    struct unnamed_pair *next;
    const struct type *value, *index;
    struct type *type;
};

static struct {
    pthread_mutex_t lock;
    struct unnamed_pair *first; /* guarded by lock */
} made = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct pair_args {
    const struct type *value, *index;
};

static struct type_part make_pair(struct plan_builder *b, const void *args)
{
    const struct pair_args *const pair = args;
    const MPI_Count align = pair->index->map.plan->align;
    struct plan_entries list = { .p = NULL };

    plan_add(b, &list, 0, construct_part(b, pair->value));
    plan_add(b, &list, (pair->value->size + align - 1) / align * align, construct_part(b, pair->index));
    return plan_list(b, &list);
}

/* With the lock. */
static int make(struct type *value, struct type *index, struct type **out)
{
    const struct pair_args args = { value, index };
    struct unnamed_pair *entry = mem_alloc(sizeof *entry);
    struct type_contents *c = contents_create(MPI_COMBINER_VALUE_INDEX, false, 0, 0, 0, 2);
    int rc;

    if (!entry) {
        contents_destroy(c, NULL);
        return err(MPI_ERR_NO_MEM, "no memory for a datatype");
    }
    if (c) {
        contents_put_type(c, value);
        contents_put_type(c, index);
    }
    rc = construct_type(c, make_pair, &args, NULL, out);
    if (rc) {
        mem_free(entry);
        return rc;
    }
    type_set_committed(*out);
    (*out)->is_permanent = true;
    (*out)->kind = (uint8_t)kind_of(value, index);
    (*out)->type_class = TYPE_CLASS_PAIR;
    *entry = (struct unnamed_pair){ made.first, value, index, *out };
    made.first = entry;
    return 0;
}

int type_pair(struct type *value, struct type *index, struct type **out)
{
    int rc = 0;

    *out = find_named(value, index);
    if (*out || kind_of(value, index) == TYPE_OTHER)
        return 0;
    pthread_mutex_lock(&made.lock);
    for (const struct unnamed_pair *p = made.first; p && !*out; p = p->next)
        if (p->value == value && p->index == index)
            *out = p->type;
    if (!*out)
        rc = make(value, index, out);
    pthread_mutex_unlock(&made.lock);
    return rc;
}

void pair_fini(void)
{
    while (made.first) {
        struct unnamed_pair *const next = made.first->next;
        type_unref(made.first->type);
        mem_free(made.first);
        made.first = next;
    }
}

int type_of_kind(enum type_kind kind, struct type **out)
{
    *out = predefined_of_kind(kind);
    for (int value = 0; value < TYPE_KINDS && !*out; value++)
        for (int wide = 0; wide < 2; wide++)
            if (kinds[value][wide] == kind)
                return type_pair(predefined_of_kind((enum type_kind)value),
                                 obj_type(wide ? MPI_INT64_T : MPI_INT32_T), out);
    return 0;
}
