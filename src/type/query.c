/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Questions about a type, its name, its end.
 * Knows: the fields of a type. Does not know: how a type was made. */
#include "type/type.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

int type_check_usable(const struct type *type)
{
    if (type->is_committed)
        return 0;
    if (!type->is_supported)
        return err(MPI_ERR_TYPE, "%s is not supported on this platform", type_name(type));
    return err(MPI_ERR_TYPE, "datatype %s is not committed: call MPI_Type_commit before it communicates",
               type_name(type)[0] ? type_name(type) : "without a name");
}

int type_commit(struct type *type)
{
    if (!type->is_supported)
        return type_check_usable(type);
    type->is_committed = true;
    return 0;
}

MPI_Count type_count_items(const struct type *type, MPI_Count bytes)
{
    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % type->size == 0 ? bytes / type->size : MPI_UNDEFINED;
}

static MPI_Count elements_per_item(const struct type *type)
{
    MPI_Count elements = 0;

    for (size_t i = 0; i < type->block_count; i++)
        elements += (MPI_Count)(type->blocks[i].len / type->blocks[i].element);
    return elements;
}

MPI_Count type_count_elements(const struct type *type, MPI_Count bytes)
{
    const struct type_block *block = type->blocks;
    MPI_Count elements;
    size_t rest;

    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    elements = bytes / type->size * elements_per_item(type);
    for (rest = (size_t)(bytes % type->size); rest > 0 && rest >= block->len; rest -= block->len, block++)
        elements += (MPI_Count)(block->len / block->element);
    if (rest == 0)
        return elements;
    return rest % block->element == 0 ? elements + (MPI_Count)(rest / block->element) : MPI_UNDEFINED;
}

/* Negative: too many for MPI_Count. */
static MPI_Count sum_elements(const struct type *type, MPI_Count count, MPI_Count per_item)
{
    const struct type_block *block = type->blocks;
    MPI_Count bytes, rest = count % per_item;

    if (__builtin_mul_overflow(count / per_item, type->size, &bytes))
        return -1;
    for (; rest > 0; block++) {
        const size_t n = size_min((size_t)rest, block->len / block->element);

        if (__builtin_add_overflow(bytes, n * block->element, &bytes))
            return -1;
        rest -= (MPI_Count)n;
    }
    return bytes;
}

int type_element_bytes(const struct type *type, MPI_Count count, MPI_Count *bytes)
{
    const MPI_Count per_item = elements_per_item(type);
    MPI_Count total = 0;

    if (!type->is_supported)
        return type_check_usable(type);
    if (count > 0 && per_item == 0)
        return err(MPI_ERR_COUNT, "%lld elements of datatype %s, which has none", (long long)count,
                   type_name(type));
    if (count > 0)
        total = sum_elements(type, count, per_item);
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
    const size_t len = strnlen(name, MPI_MAX_OBJECT_NAME - 1);
    char *copy = mem_alloc(len + 1);

    if (!copy)
        return err(MPI_ERR_NO_MEM, "no memory for the name of a datatype");
    memcpy(copy, name, len);
    copy[len] = '\0';
    mem_free(type->user_name);
    type->user_name = copy;
    return 0;
}

void type_get_name(const struct type *type, char *name, int *len)
{
    *len = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", type ? type_name(type) : "MPI_DATATYPE_NULL");
}

void type_destroy(struct type *type)
{
    mem_free(type->user_name);
    obj_destroy(&type->obj);
}

int type_free(struct type *type)
{
    if (type->obj.predefined)
        return err(MPI_ERR_TYPE, "%s is predefined and cannot be freed", type_name(type));
    type_unref(type);
    return 0;
}
