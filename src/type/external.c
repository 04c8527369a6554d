/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. external32: data as every MPI reads and writes them (MPI 5.0 §5.3, §14.5.2). Big-endian, without gaps,
 * each type with a fixed length: long has 4 bytes, wchar_t 2, long double is binary128. An integer that becomes
 * shorter keeps its low bytes and its sign.
 * Knows: maps and units. Does not know: what a type is for. */
#include <string.h>

#include "base/err.h"
#include "base/wide.h"
#include "type/int_plan.h"

_Static_assert(HAS_FLOAT128, "long double becomes binary128");

enum { IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* --- elements --- */

/* Between memory and external32, n parts of `len` bytes; the same both ways. `len` is a constant at each call. */
static ALWAYS_INLINE void swap_parts(char *to, const char *from, size_t n, size_t len)
{
    if (!IS_LITTLE) {
        memcpy(to, from, n * len);
        return;
    }
    for (size_t i = 0; i < n; i++, to += len, from += len)
        for (size_t k = 0; k < len; k++)
            to[k] = from[len - 1 - k];
}

static void put_big(char *to, uint64_t value, size_t len)
{
    for (size_t k = 0; k < len; k++)
        to[k] = (char)(value >> 8 * (len - 1 - k));
}

static uint64_t get_big(const char *from, size_t len)
{
    uint64_t value = 0;

    for (size_t k = 0; k < len; k++)
        value = value << 8 | (unsigned char)from[k];
    return value;
}

/* One element to external32. */
static void put_special(const struct type_unit *unit, char *to, const char *from)
{
    union {
        long number;
        unsigned long size;
        wchar_t letter;
        long double real;
    } u;
    wide_float wide;

    switch (unit->form) {
    case FORM_LONG:
        memcpy(&u.number, from, sizeof u.number);
        put_big(to, ((uint64_t)u.number & INT32_MAX) | (u.number < 0 ? UINT64_C(1) << 31 : 0), 4);
        break;
    case FORM_UNSIGNED_LONG:
        memcpy(&u.size, from, sizeof u.size);
        put_big(to, u.size, 4);
        break;
    case FORM_WCHAR:
        memcpy(&u.letter, from, sizeof u.letter);
        put_big(to, (uint64_t)u.letter, 2);
        break;
    default: /* one long double, or the two of a complex number */
        for (size_t part = 0; part < unit->size / sizeof u.real; part++) {
            memcpy(&u.real, from + part * sizeof u.real, sizeof u.real);
            wide = u.real;
            swap_parts(to + part * sizeof wide, (const char *)&wide, 1, sizeof wide);
        }
    }
}

static void get_special(const struct type_unit *unit, char *to, const char *from)
{
    union {
        long number;
        unsigned long size;
        wchar_t letter;
        long double real;
    } u;
    wide_float wide;

    switch (unit->form) {
    case FORM_LONG:
        u.number = (int32_t)get_big(from, 4);
        memcpy(to, &u.number, sizeof u.number);
        break;
    case FORM_UNSIGNED_LONG:
        u.size = (unsigned long)get_big(from, 4);
        memcpy(to, &u.size, sizeof u.size);
        break;
    case FORM_WCHAR:
        u.letter = (wchar_t)get_big(from, 2);
        memcpy(to, &u.letter, sizeof u.letter);
        break;
    default:
        for (size_t part = 0; part < unit->size / sizeof u.real; part++) {
            swap_parts((char *)&wide, from + part * sizeof wide, 1, sizeof wide);
            memset(&u, 0, sizeof u); /* the bytes of memory that hold no number */
            u.real = (long double)wide;
            memcpy(to + part * sizeof u.real, &u.real, sizeof u.real);
        }
    }
}

static void convert(const struct type_unit *unit, size_t n, uintptr_t memory, char *stream, bool is_pack)
{
    char *const own = (char *)memory;
    char *const to = is_pack ? stream : own;
    const char *const from = is_pack ? own : stream;
    const size_t len = n * unit->size;

    switch (unit->form) {
    case FORM_BYTES:
        memcpy(to, from, len);
        return;
    case FORM_SWAP_2:
        swap_parts(to, from, len / 2, 2);
        return;
    case FORM_SWAP_4:
        swap_parts(to, from, len / 4, 4);
        return;
    case FORM_SWAP_8:
        swap_parts(to, from, len / 8, 8);
        return;
    case FORM_SWAP_16:
        swap_parts(to, from, len / 16, 16);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (is_pack)
            put_special(unit, to + i * unit->external, from + i * unit->size);
        else
            get_special(unit, to + i * unit->size, from + i * unit->external);
    }
}

/* --- types --- */

/* The whole of a map; returns where the stream goes on. */
static char *convert_map(const struct plan *map, uintptr_t memory, char *stream, bool is_pack)
{
    const size_t even = map->kind == PLAN_EVEN ? plan_even_len(map) : 0;

    if (map->kind == PLAN_BLOCK) {
        convert(map->unit, (size_t)map->elements, memory, stream, is_pack);
        return stream + map->external;
    }
    for (size_t i = 0; i < (size_t)map->count; i++) {
        if (map->kind == PLAN_LOOP) {
            stream = convert_map(map->child, memory + i * (uintptr_t)map->stride, stream, is_pack);
        } else if (map->kind == PLAN_LIST) {
            stream = convert_map(map->children[i], plan_place(memory, map->disps[i]), stream, is_pack);
        } else {
            const size_t n = (even ? even : map->ends[i] - plan_begin(map, i)) / map->unit->size;
            convert(map->unit, n, plan_place(memory, map->disps[i]), stream, is_pack);
            stream += n * map->unit->external;
        }
    }
    return stream;
}

static void convert_items(const struct type *type, MPI_Count count, uintptr_t buf, char *stream, bool is_pack)
{
    const struct plan *const map = type->map.plan;
    const uintptr_t first = plan_place(buf, type->map.disp);

    if (!map)
        return;
    if (map->kind == PLAN_BLOCK && type->extent == (MPI_Count)map->size) {
        convert(map->unit, (size_t)(map->elements * count), first, stream, is_pack);
        return;
    }
    for (MPI_Count i = 0; i < count; i++)
        stream = convert_map(map, first + (uintptr_t)i * (uintptr_t)type->extent, stream, is_pack);
}

/* --- calls --- */

static int check_datarep(const char *datarep)
{
    if (strcmp(datarep, "external32") == 0)
        return 0;
    return err(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is \"%.100s\"; data are packed in \"external32\" only", datarep);
}

int external_pack_size(const char *datarep, MPI_Count count, const struct type *type, MPI_Count *size)
{
    const MPI_Count one = type->map.plan ? (MPI_Count)type->map.plan->external : 0;
    const int rc = check_datarep(datarep);

    if (rc)
        return rc;
    if (!type->is_supported)
        return type_check_usable(type);
    if (__builtin_mul_overflow(count, one, size))
        return err(MPI_ERR_COUNT, "%lld items of %lld bytes are more than MPI_Count can say", (long long)count,
                   (long long)one);
    return 0;
}

/* Checks, and the size of what is to be moved. */
static int begin(const char *datarep, MPI_Count count, const struct type *type, MPI_Count size, MPI_Count position,
                 MPI_Count *needed)
{
    const int rc = external_pack_size(datarep, count, type, needed);

    return rc ? rc : pack_check(size, position, *needed);
}

int external_pack(const char *datarep, const void *in, MPI_Count count, const struct type *type, void *out,
                  MPI_Count size, MPI_Count *position)
{
    MPI_Count needed = 0;
    const int rc = begin(datarep, count, type, size, *position, &needed);

    if (rc)
        return rc;
    if (needed)
        convert_items(type, count, (uintptr_t)in, (char *)out + *position, true);
    *position += needed;
    return 0;
}

int external_unpack(const char *datarep, const void *in, MPI_Count size, MPI_Count *position, void *out,
                    MPI_Count count, const struct type *type)
{
    MPI_Count needed = 0;
    const int rc = begin(datarep, count, type, size, *position, &needed);

    if (rc)
        return rc;
    if (needed)
        convert_items(type, count, (uintptr_t)out, (char *)(uintptr_t)in + *position, false);
    *position += needed;
    return 0;
}
