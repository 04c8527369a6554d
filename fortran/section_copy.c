/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: copies of array sections, made, written back, and made once more when a persistent request is started.
 * Knows: its header. Does not know: counts and datatypes. */
#include "section_copy.h"

#include <stdlib.h>
#include <string.h>

#pragma weak parley_sections_1

const struct sections *section_table(void)
{
    const struct sections *const table = &parley_sections_1;

    return table && table->size == sizeof *table ? table : NULL;
}

/* --- all elements in order --- */

typedef void element_fn(const struct section_copy *copy, size_t offset, char *element);

static void for_each_element(const struct section_copy *copy, element_fn *visit)
{
    const CFI_cdesc_t *const array = copy->array;
    CFI_index_t at[CFI_MAX_RANK] = { 0 };
    char *element = array->base_addr;

    for (size_t offset = 0; offset < copy->len; offset += array->elem_len) {
        visit(copy, offset, element);
        for (int i = 0; i < array->rank; i++) {
            element += array->dim[i].sm;
            if (++at[i] < array->dim[i].extent)
                break;
            element -= at[i] * array->dim[i].sm;
            at[i] = 0;
        }
    }
}

static void take(const struct section_copy *copy, size_t offset, char *element)
{
    memcpy(copy->data + offset, element, copy->array->elem_len);
}

static void give_back(const struct section_copy *copy, size_t offset, char *element)
{
    const char *const data = copy->data + offset, *const before = copy->before + offset;

    if (!memcmp(data, before, copy->array->elem_len))
        return;
    for (size_t i = 0; i < copy->array->elem_len; i++)
        if (data[i] != before[i])
            element[i] = data[i];
}

/* --- one copy --- */

static void fill(struct section_copy *copy)
{
    for_each_element(copy, take);
    if (copy->before)
        memcpy(copy->before, copy->data, copy->len);
    atomic_store(&copy->is_in_use, true);
}

void section_copy_end(struct section_copy *copy)
{
    if (atomic_exchange(&copy->is_in_use, false) && copy->before)
        for_each_element(copy, give_back);
}

/* --- with a request --- */

static void hold_start(struct req_hold *hold)
{
    for (struct section_copy *c = (struct section_copy *)(void *)hold; c; c = c->next)
        fill(c);
}

static void hold_end(struct req_hold *hold)
{
    for (struct section_copy *c = (struct section_copy *)(void *)hold; c; c = c->next)
        section_copy_end(c);
}

static void hold_drop(struct req_hold *hold)
{
    struct section_copy *next;

    for (struct section_copy *c = (struct section_copy *)(void *)hold; c; c = next) {
        next = c->next;
        free(c);
    }
}

/* One piece of memory: itself, the descriptor, the data. */
struct section_copy *section_copy_make(const CFI_cdesc_t *array, bool is_out)
{
    const size_t array_len = sizeof *array + (size_t)array->rank * sizeof *array->dim;
    const size_t head_len = (sizeof(struct section_copy) + array_len + 63) / 64 * 64;
    struct section_copy *copy;
    size_t len = array->elem_len;

    for (int i = 0; i < array->rank; i++)
        len *= (size_t)array->dim[i].extent;
    copy = malloc(head_len + (is_out ? 2 : 1) * len);
    if (!copy)
        return NULL;
    copy->hold = (struct req_hold){ .start = hold_start, .end = hold_end, .drop = hold_drop };
    copy->next = NULL;
    copy->array = (CFI_cdesc_t *)(void *)(copy + 1);
    memcpy(copy->array, array, array_len);
    copy->data = (char *)copy + head_len;
    copy->before = is_out ? copy->data + len : NULL;
    copy->len = len;
    fill(copy);
    return copy;
}
