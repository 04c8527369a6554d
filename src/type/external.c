/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. external32: data as every MPI reads and writes them (MPI 5.0 §5.3, §14.5.2). Big-endian, without gaps,
 * each type with a fixed length: long has 4 bytes, wchar_t 2, long double is binary128. An integer that becomes
 * shorter keeps its low bytes and its sign.
 * A range of the stream is the rest of an element that it cuts, whole elements, and the beginning of one.
 * Knows: maps and units. Does not know: what a type is for. */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "base/err.h"
#include "base/wide.h"
#include "type/int_plan.h"

_Static_assert(HAS_FLOAT128, "long double becomes binary128");

enum {
    IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    REAL_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double), /* of a long double that hold the number */
};

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
            u.real = (long double)wide;
            memset(to + part * sizeof u.real, 0, sizeof u.real);
            memcpy(to + part * sizeof u.real, &u.real, REAL_BYTES);
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

/* Bytes of the stream before entry `i` of a map that is no block. Entries of EVEN and BLOCKS have one unit. */
static size_t begin_of(const struct plan *map, size_t i)
{
    if (map->kind == PLAN_LOOP)
        return i * map->child->external;
    if (map->kind == PLAN_LIST)
        return i ? map->external_ends[i - 1] : 0;
    return (map->ends ? plan_begin(map, i) : i * plan_even_len(map)) / map->unit->size * map->unit->external;
}

/* The entry that holds byte `at` of the stream. */
static size_t entry_at(const struct plan *map, size_t at)
{
    size_t in_memory;

    if (map->kind == PLAN_LOOP)
        return at / map->child->external;
    if (map->kind == PLAN_LIST)
        return plan_find_end(map->external_ends, (size_t)map->count, at);
    in_memory = at / map->unit->external * map->unit->size;
    return map->ends ? plan_find(map, in_memory) : in_memory / plan_even_len(map);
}

static uintptr_t place_of(const struct plan *map, size_t i, uintptr_t memory)
{
    return map->kind == PLAN_LOOP ? memory + i * (uintptr_t)map->stride : plan_place(memory, map->disps[i]);
}

/* Whole elements from `from` on, `len` bytes of the stream. */
static void convert_units(const struct type_unit *unit, uintptr_t memory, size_t from, char *stream, size_t len,
                          bool is_pack)
{
    convert(unit, len / unit->external, memory + from / unit->external * unit->size, stream, is_pack);
}

/* The same of a map. */
static void convert_map(const struct plan *map, uintptr_t memory, size_t from, char *stream, size_t len, bool is_pack)
{
    if (map->kind == PLAN_BLOCK) {
        convert_units(map->unit, memory, from, stream, len, is_pack);
        return;
    }
    for (size_t i = entry_at(map, from); len; i++) {
        const size_t begin = begin_of(map, i), n = size_min(begin_of(map, i + 1) - from, len);
        const uintptr_t place = place_of(map, i, memory);

        if (map->kind == PLAN_LOOP || map->kind == PLAN_LIST)
            convert_map(map->kind == PLAN_LOOP ? map->child : map->children[i], place, from - begin, stream, n,
                        is_pack);
        else
            convert_units(map->unit, place, from - begin, stream, n, is_pack);
        from += n;
        stream += n;
        len -= n;
    }
}

/* And of items. */
static void convert_items(const struct type *type, uintptr_t buf, size_t from, char *stream, size_t len, bool is_pack)
{
    const struct plan *const map = type->map.plan;
    const uintptr_t first = plan_place(buf, type->map.disp);

    if (map->kind == PLAN_BLOCK && type->extent == (MPI_Count)map->size) {
        convert_units(map->unit, first, from, stream, len, is_pack);
        return;
    }
    while (len) {
        const size_t item = from / map->external, skip = from % map->external;
        const size_t n = size_min(map->external - skip, len);

        convert_map(map, first + item * (uintptr_t)type->extent, skip, stream, n, is_pack);
        from += n;
        stream += n;
        len -= n;
    }
}

/* --- any byte --- */

/* An element of the stream. */
struct element {
    const struct type_unit *unit;
    uintptr_t memory;
    size_t begin; /* in the stream */
};

/* The one that holds byte `at`. */
static struct element element_at(const struct type *type, uintptr_t buf, size_t at)
{
    const struct plan *map = type->map.plan;
    const size_t item = at / map->external;
    struct element e = { NULL, plan_place(buf, type->map.disp) + item * (uintptr_t)type->extent,
                         item * map->external };
    size_t n;

    while (map->kind == PLAN_LOOP || map->kind == PLAN_LIST) {
        const size_t i = entry_at(map, at - e.begin);
        e.memory = place_of(map, i, e.memory);
        e.begin += begin_of(map, i);
        map = map->kind == PLAN_LOOP ? map->child : map->children[i];
    }
    if (map->kind != PLAN_BLOCK) {
        const size_t i = entry_at(map, at - e.begin);
        e.memory = place_of(map, i, e.memory);
        e.begin += begin_of(map, i);
    }
    e.unit = map->unit;
    n = (at - e.begin) / e.unit->external;
    e.memory += n * e.unit->size;
    e.begin += n * e.unit->external;
    return e;
}

size_t external_bytes(const struct type *type, MPI_Count count)
{
    return type->map.plan ? type->map.plan->external * (size_t)count : 0;
}

/* The same of a map. */
static size_t memory_bytes(const struct plan *map, size_t len)
{
    size_t i;

    if (map->unit)
        return len / map->unit->external * map->unit->size;
    i = entry_at(map, len);
    if (map->kind == PLAN_LOOP)
        return i * map->child->size + memory_bytes(map->child, len - begin_of(map, i));
    return plan_begin(map, i) + memory_bytes(map->children[i], len - begin_of(map, i));
}

size_t external_memory_bytes(const struct type *type, size_t len)
{
    const struct plan *const map = type->map.plan;

    return map ? len / map->external * map->size + memory_bytes(map, len % map->external) : 0;
}

size_t external_native_bytes(const struct type *type, size_t len)
{
    const size_t bytes = external_memory_bytes(type, len);

    return bytes + (len && external_memory_bytes(type, len - 1) == bytes);
}

/* What of [from, until) lies before the next whole element, or before `until`; 0: one begins at `from`. */
static size_t cut_head(const struct element *first, size_t from, size_t until)
{
    return from == first->begin ? 0 : size_min(first->begin + first->unit->external, until) - from;
}

void external_pack_range(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out,
                         size_t len)
{
    const size_t until = offset + len;
    char element[EXTERNAL_ELEMENT_MAX], *stream = out;
    struct element e;
    size_t head, whole;

    assert(until <= external_bytes(type, count));
    if (!len)
        return;
    e = element_at(type, (uintptr_t)buf, offset);
    head = cut_head(&e, offset, until);
    if (head) {
        convert(e.unit, 1, e.memory, element, true);
        memcpy(stream, element + (offset - e.begin), head);
        offset += head;
        stream += head;
    }
    if (offset == until)
        return;
    e.begin = until;
    if (until < external_bytes(type, count))
        e = element_at(type, (uintptr_t)buf, until);
    whole = e.begin > offset ? e.begin - offset : 0;
    convert_items(type, (uintptr_t)buf, offset, stream, whole, true);
    if (e.begin < until) {
        convert(e.unit, 1, e.memory, element, true);
        memcpy(stream + whole, element, until - e.begin);
    }
}

/* The rest of the element that the last piece has cut, or as much of it as has come; how many bytes. */
static size_t unpack_rest(struct external_cursor *cursor, const struct type *type, void *buf, const char *in,
                          size_t len)
{
    const struct element e = element_at(type, (uintptr_t)buf, cursor->at);
    const size_t head = cut_head(&e, cursor->at, cursor->at + len);

    memcpy(cursor->element + (cursor->at - e.begin), in, head);
    cursor->at += head;
    if (cursor->at == e.begin + e.unit->external)
        convert(e.unit, 1, e.memory, cursor->element, false);
    return head;
}

void external_unpack_next(struct external_cursor *cursor, const struct type *type, void *buf, MPI_Count count,
                          const void *in, size_t len)
{
    const size_t all = external_bytes(type, count);
    const char *stream = in;
    size_t head, end, whole;

    assert(cursor->at + len <= all);
    if (!len)
        return;
    head = unpack_rest(cursor, type, buf, stream, len);
    stream += head;
    len -= head;
    if (!len)
        return;
    end = cursor->at + len;
    whole = (end < all ? element_at(type, (uintptr_t)buf, end).begin : all) - cursor->at;
    convert_items(type, (uintptr_t)buf, cursor->at, (char *)(uintptr_t)stream, whole, false);
    memcpy(cursor->element, stream + whole, len - whole);
    cursor->at = end;
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
    external_pack_range(type, in, count, 0, (char *)((uintptr_t)out + (uintptr_t)*position), (size_t)needed);
    *position += needed;
    return 0;
}

int external_unpack(const char *datarep, const void *in, MPI_Count size, MPI_Count *position, void *out,
                    MPI_Count count, const struct type *type)
{
    struct external_cursor cursor = { 0 };
    MPI_Count needed = 0;
    const int rc = begin(datarep, count, type, size, *position, &needed);

    if (rc)
        return rc;
    external_unpack_next(&cursor, type, out, count, (const char *)((uintptr_t)in + (uintptr_t)*position),
                         (size_t)needed);
    *position += needed;
    return 0;
}
