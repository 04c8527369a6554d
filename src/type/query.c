/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Questions about a type, its name, its end.
 * Knows: the fields of a type. Does not know: how a type was made. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "obj/attr.h"
#include "type/int_plan.h"

static const char *combiner_name(int combiner)
{
    static const struct {
        int combiner;
        const char *name;
    } names[] = {
        { MPI_COMBINER_DUP, "dup" }, { MPI_COMBINER_CONTIGUOUS, "contiguous" }, { MPI_COMBINER_VECTOR, "vector" },
        { MPI_COMBINER_HVECTOR, "hvector" }, { MPI_COMBINER_INDEXED, "indexed" },
        { MPI_COMBINER_HINDEXED, "hindexed" }, { MPI_COMBINER_INDEXED_BLOCK, "indexed_block" },
        { MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block" }, { MPI_COMBINER_STRUCT, "struct" },
        { MPI_COMBINER_SUBARRAY, "subarray" }, { MPI_COMBINER_DARRAY, "darray" },
        { MPI_COMBINER_RESIZED, "resized" }, { MPI_COMBINER_VALUE_INDEX, "value_index" },
        { MPI_COMBINER_F90_REAL, "f90_real" }, { MPI_COMBINER_F90_COMPLEX, "f90_complex" },
        { MPI_COMBINER_F90_INTEGER, "f90_integer" },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].combiner == combiner)
            return names[i].name;
    return "derived";
}

/* The first old type stands for all; what is made of what, as deep as there is room. */
const char *type_describe(const struct type *type, char *text)
{
    const char *name = type_name(type);
    size_t len = 0, depth = 0;

    while (!name[0] && type->contents && len < TYPE_TEXT_MAX / 2) {
        const struct type_contents *const c = type->contents;
        len += (size_t)snprintf(text + len, TYPE_TEXT_MAX - len, "%s%s", depth ? "(" : "", combiner_name(c->combiner));
        depth++;
        if (!c->types)
            break;
        type = c->type[0];
        name = type_name(type);
    }
    if (name[0] && !depth)
        snprintf(text, TYPE_TEXT_MAX, "%s", name);
    else if (depth)
        snprintf(text + len, TYPE_TEXT_MAX - len, "%s%.60s%s%.*s", name[0] ? "(" : "", name, name[0] ? ")" : "",
                 (int)(depth - 1), "))))))))))))))))");
    else
        snprintf(text, TYPE_TEXT_MAX, "a type without a name");
    return text;
}

int type_check_usable(const struct type *type)
{
    char text[TYPE_TEXT_MAX];

    if (type->is_committed)
        return 0;
    if (!type->is_supported)
        return err(MPI_ERR_TYPE, "E0342: %s is not supported on this platform", type_name(type));
    return err(MPI_ERR_TYPE, "E0341: datatype %s is not committed: call MPI_Type_commit before it communicates",
               type_describe(type, text));
}

static bool has_no_quick_packing;

void type_forgo_quick_packing(void)
{
    has_no_quick_packing = true;
}

void type_set_committed(struct type *type)
{
    const struct plan *const plan = type->plan.plan;

    if (type->is_committed) /* others may be reading what follows */
        return;
    type->signature = signature_of(type->map.plan);
    type->is_committed = true;
    if (type->is_contig || type->size > INT_MAX || has_no_quick_packing)
        return;
    type->one = plan->ways;
    type->how = plan->how;
}

/* Threads may commit one type at the same time: who finds that another one is at it waits for the rest of what says how
 * the type is used. */
int type_commit(struct type *type)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (!type->is_supported)
        return type_check_usable(type);
    pthread_mutex_lock(&lock);
    type_set_committed(type);
    pthread_mutex_unlock(&lock);
    return 0;
}

MPI_Count type_count_items(const struct type *type, MPI_Count bytes)
{
    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % type->size == 0 ? bytes / type->size : MPI_UNDEFINED;
}

/* One more old type takes part. Where all data are of one unit, others can only have had no items. */
static const struct type *join_element(const struct type *type, const struct type *so_far, const struct type *old)
{
    const struct type_unit *const unit = type->map.plan->unit;
    const struct type *const element = type_element(old);

    if (old->size == 0)
        return so_far;
    if (unit)
        return element && element->map.plan->unit && plan_unit_same(element->map.plan->unit, unit) ? element : so_far;
    return element && (!so_far || type_is_alike(so_far, element)) ? element : type;
}

const struct type *type_find_element(const struct type *type)
{
    const struct type_contents *const c = type->contents;
    const struct type *element = NULL;

    for (MPI_Count i = 0; i < c->types && element != type; i++)
        element = join_element(type, element, c->type[i]);
    return element ? element : type;
}

const struct type *type_element(const struct type *type)
{
    if (type->is_permanent)
        return type->is_supported ? type : NULL;
    return type->element == type ? NULL : type->element;
}

/* Elements in the first `bytes` bytes of a map; MPI_UNDEFINED if the last one is partial. */
static MPI_Count elements_in(const struct plan *map, size_t bytes)
{
    MPI_Count elements = 0;

    while (!map->unit && bytes > 0) {
        if (map->kind == PLAN_LOOP) {
            map = map->child;
            elements += (MPI_Count)(bytes / map->size) * map->elements;
            bytes %= map->size;
        } else {
            const size_t entry = plan_find(map, bytes - 1);
            for (size_t i = 0; i < entry; i++)
                elements += map->children[i]->elements;
            bytes -= plan_begin(map, entry);
            map = map->children[entry];
        }
    }
    if (bytes == 0)
        return elements;
    return bytes % map->unit->size ? MPI_UNDEFINED : elements + (MPI_Count)(bytes / map->unit->size);
}

MPI_Count type_count_elements(const struct type *type, MPI_Count bytes)
{
    MPI_Count elements;

    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    elements = elements_in(type->map.plan, (size_t)(bytes % type->size));
    return elements == MPI_UNDEFINED ? elements : elements + bytes / type->size * type->map.plan->elements;
}

/* Bytes of the first `elements` elements of a map. */
static MPI_Count bytes_of(const struct plan *map, MPI_Count elements)
{
    MPI_Count bytes = 0;

    while (!map->unit && elements > 0) {
        if (map->kind == PLAN_LOOP) {
            map = map->child;
            bytes += elements / map->elements * (MPI_Count)map->size;
            elements %= map->elements;
        } else {
            size_t i = 0;
            for (; elements > map->children[i]->elements; i++)
                elements -= map->children[i]->elements;
            bytes += (MPI_Count)plan_begin(map, i);
            map = map->children[i];
        }
    }
    return elements == 0 ? bytes : bytes + elements * map->unit->size;
}

/* Negative: too many for MPI_Count. */
static MPI_Count sum_elements(const struct type *type, MPI_Count count)
{
    const struct plan *const map = type->map.plan;
    MPI_Count bytes;

    if (__builtin_mul_overflow(count / map->elements, type->size, &bytes) ||
        __builtin_add_overflow(bytes, bytes_of(map, count % map->elements), &bytes))
        return -1;
    return bytes;
}

int type_element_bytes(const struct type *type, MPI_Count count, MPI_Count *bytes)
{
    MPI_Count total = 0;

    if (!type->is_supported)
        return type_check_usable(type);
    if (count > 0 && !type->map.plan)
        return err(MPI_ERR_COUNT, "%lld elements of datatype %s, which has none", (long long)count,
                   type_name(type));
    if (count > 0)
        total = sum_elements(type, count);
    if (total < 0)
        return err(MPI_ERR_COUNT, "%lld elements of datatype %s are too many bytes", (long long)count,
                   type_name(type));
    *bytes = total;
    return 0;
}

MPI_Count type_query_size(const struct type *type)
{
    return type->is_supported ? type->size : MPI_UNDEFINED;
}

int type_set_name(struct type *type, const char *name)
{
    const size_t len = obj_name_len(name);
    bool has_room;

    obj_names_lock();
    if (!type->user_name)
        type->user_name = mem_zalloc(MPI_MAX_OBJECT_NAME); /* kept for every name that follows */
    has_room = type->user_name;
    if (has_room) {
        memmove(type->user_name, name, len);
        type->user_name[len] = '\0';
    }
    obj_names_unlock();
    return has_room ? 0 : err(MPI_ERR_NO_MEM, "no memory for the name of a datatype");
}

void type_get_name(const struct type *type, char *name, int *len)
{
    obj_names_lock();
    *len = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", type ? type_name(type) : "MPI_DATATYPE_NULL");
    obj_names_unlock();
}

static void destroy_one(struct type *type, struct type **unused)
{
    plan_free(type->nodes);
    contents_destroy(type->contents, unused);
    mem_free(type->user_name);
    mem_free(atomic_load_explicit(&type->outline, memory_order_relaxed));
    attr_drop_all(&type->attrs); /* the user has freed it, or it is of type_f90 */
    obj_destroy(&type->obj);
}

/* With all that only this one holds, one after the other: each of a chain of types is made of the next. */
void type_destroy(struct type *type)
{
    struct type *unused = type;

    type->how = NULL;
    while (unused) {
        type = unused;
        unused = (struct type *)(uintptr_t)type->how;
        destroy_one(type, &unused);
    }
}

/* How many handles were left, this one among them; 0: there is none, and the type lives on in others made of it. */
static uint32_t give_up_handle(struct type *type)
{
    uint32_t handles = atomic_load_explicit(&type->handles, memory_order_relaxed);

    while (handles && !atomic_compare_exchange_weak_explicit(&type->handles, &handles, handles - 1,
                                                             memory_order_relaxed, memory_order_relaxed))
        ;
    return handles;
}

int type_free(struct type *type)
{
    uint32_t handles;
    int rc = 0;

    if (type->is_permanent)
        return err(MPI_ERR_TYPE, "E0343: %s is predefined and cannot be freed",
                   type_name(type)[0] ? type_name(type) : "a type of MPI_Type_create_f90_...");
    handles = give_up_handle(type);
    if (handles == 0)
        return err(MPI_ERR_TYPE, "datatype %s has been freed already; types that were made of it still use it",
                   type_name(type)[0] ? type_name(type) : "without a name");
    if (handles == 1) /* the attributes go with the last one */
        rc = attr_delete_all(&type->obj, &type->attrs);
    if (rc)
        atomic_fetch_add_explicit(&type->handles, 1, memory_order_relaxed);
    else
        type_unref(type);
    return rc;
}
