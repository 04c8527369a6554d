/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Which integers external32 cannot hold: there long has 4 bytes, and wchar_t 2 (MPI 5.0 §14.5.2). Whoever
 * moves data that way where nobody expects it to lose anything looks here first. Most types have no such elements,
 * which is seen at once. Knows: maps and units. */
#include <stdio.h>
#include <string.h>

#include "type/int_plan.h"

enum { IS_LONG_DOUBLE_EVEN = sizeof(long double) == 16 }; /* else a type may grow by it as much as it shrinks */

/* Element i at `memory`. False: its value is one of less than that. */
static bool look_at(const struct type_unit *unit, uintptr_t memory, struct external_unfit *found)
{
    long number = 0;
    unsigned long size = 0;
    wchar_t letter = 0;

    switch (unit->form) {
    case FORM_LONG:
        memcpy(&number, (const char *)memory, sizeof number);
        *found = (struct external_unfit){ "MPI_LONG", unit->external, false, (uint64_t)number };
        return number > INT32_MAX || number < INT32_MIN;
    case FORM_UNSIGNED_LONG:
        memcpy(&size, (const char *)memory, sizeof size);
        *found = (struct external_unfit){ "MPI_UNSIGNED_LONG", unit->external, true, size };
        return size > UINT32_MAX;
    case FORM_WCHAR:
        memcpy(&letter, (const char *)memory, sizeof letter);
        *found = (struct external_unfit){ "MPI_WCHAR", unit->external, false, (uint64_t)letter };
        return letter < 0 || letter > UINT16_MAX;
    default: return false;
    }
}

static bool look_in_row(const struct type_unit *unit, uintptr_t memory, size_t len, struct external_unfit *found)
{
    if (unit->form != FORM_LONG && unit->form != FORM_UNSIGNED_LONG && unit->form != FORM_WCHAR)
        return false;
    for (size_t at = 0; at < len; at += unit->size)
        if (look_at(unit, memory + at, found))
            return true;
    return false;
}

static bool look_in_map(const struct plan *map, uintptr_t memory, struct external_unfit *found)
{
    if (map->kind == PLAN_BLOCK)
        return look_in_row(map->unit, memory, map->size, found);
    for (size_t i = 0; i < (size_t)map->count; i++) {
        const uintptr_t place = map->kind == PLAN_LOOP ? memory + i * (uintptr_t)map->stride
                                                       : plan_place(memory, map->disps[i]);
        bool is_found;

        if (map->kind == PLAN_LOOP || map->kind == PLAN_LIST)
            is_found = look_in_map(map->kind == PLAN_LOOP ? map->child : map->children[i], place, found);
        else if (map->kind == PLAN_EVEN)
            is_found = look_in_row(map->unit, place, plan_even_len(map), found);
        else
            is_found = look_in_row(map->unit, place, map->ends[i] - plan_begin(map, i), found);
        if (is_found)
            return true;
    }
    return false;
}

bool external_find_unfit(const struct type *type, const void *buf, MPI_Count count, struct external_unfit *found)
{
    const struct plan *const map = type->map.plan;

    if (!map || (IS_LONG_DOUBLE_EVEN && map->external >= map->size))
        return false;
    for (MPI_Count item = 0; item < count; item++)
        if (look_in_map(map, plan_place((uintptr_t)buf, type->map.disp + item * type->extent), found))
            return true;
    return false;
}

const char *external_describe_unfit(const struct external_unfit *unfit, char text[EXTERNAL_UNFIT_TEXT])
{
    if (unfit->is_unsigned)
        snprintf(text, EXTERNAL_UNFIT_TEXT, "%s with the value %llu", unfit->type, (unsigned long long)unfit->value);
    else
        snprintf(text, EXTERNAL_UNFIT_TEXT, "%s with the value %lld", unfit->type, (long long)unfit->value);
    return text;
}
