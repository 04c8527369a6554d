/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes and pack buffers: the bytes choose constructors and their arguments, whatever these are, and then are the
 * data. A constructor refuses or makes a type whose numbers fit together; envelope and contents can be asked; if its
 * items lie within a page, they are unpacked, natively and from external32, whole and in pieces, into memory of exactly
 * their length, and packed again. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "type/type.h"

enum { DEPTH = 8, NUMBERS = 4, SPAN = 4096, PACKED = 65536, ITEMS = 3 };

/* What has not been read yet. */
static const uint8_t *bytes;
static size_t left;

static unsigned next_byte(void)
{
    if (!left)
        return 0;
    left--;
    return *bytes++;
}

/* Mostly small, sometimes any. */
static MPI_Count next_number(void)
{
    const unsigned first = next_byte();
    uint64_t value = 0;

    if (first < 200)
        return (MPI_Count)first % 16 - 2;
    for (unsigned i = 0; i < first % 8 + 1; i++)
        value = value << 8 | next_byte();
    return (MPI_Count)(first & 8 ? value : -value);
}

static struct type *next_basic(void)
{
    static const MPI_Datatype basics[] = {
        MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG, MPI_WCHAR, MPI_LONG_DOUBLE, MPI_DOUBLE_INT,
        MPI_C_LONG_DOUBLE_COMPLEX, MPI_SHORT_INT, MPI_COMPLEX4, MPI_UNSIGNED_LONG,
    };

    return obj_type(basics[next_byte() % (sizeof basics / sizeof basics[0])]);
}

/* The bindings refuse what is negative; here it is made 0. */
static MPI_Count next_count(void)
{
    const MPI_Count value = next_number();

    return value < 0 ? 0 : value;
}

/* Lists of blocks of one old type, or a struct of it and a basic type. */
static int make_blocks(struct type *old, int combiner, struct type **out)
{
    MPI_Count lengths[NUMBERS], disps[NUMBERS];
    MPI_Datatype types[NUMBERS];
    const MPI_Count n = next_byte() % (NUMBERS + 1);
    struct type_blocks blocks = { .combiner = combiner, .is_large = true, .count = n, .lengths = TYPE_NUMBERS(lengths),
                                  .disps = TYPE_NUMBERS(disps) };

    for (MPI_Count i = 0; i < n; i++) {
        struct type *const type = i % 2 ? next_basic() : old;
        lengths[i] = next_count();
        disps[i] = next_number();
        types[i] = (MPI_Datatype)obj_handle(&type->obj);
    }
    if (combiner == MPI_COMBINER_STRUCT)
        return type_struct(&blocks, types, out);
    if (combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK) {
        blocks.lengths.p = NULL;
        blocks.length = next_count();
    }
    return type_indexed(&blocks, old, out);
}

static int make_subarray(struct type *old, struct type **out)
{
    MPI_Count sizes[NUMBERS], subsizes[NUMBERS], starts[NUMBERS];
    const struct type_subarray args = {
        .is_large = true,
        .ndims = 1 + (int)(next_byte() % NUMBERS),
        .order = next_byte() % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
        .sizes = TYPE_NUMBERS(sizes), .subsizes = TYPE_NUMBERS(subsizes), .starts = TYPE_NUMBERS(starts),
    };

    for (int i = 0; i < args.ndims; i++) {
        sizes[i] = next_number();
        subsizes[i] = next_number();
        starts[i] = next_number();
    }
    return type_subarray(&args, old, out);
}

static int make(struct type *old, struct type **out)
{
    static const int lists[] = { MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK,
                                 MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT, MPI_COMBINER_STRUCT };
    const unsigned choice = next_byte() % 12;
    MPI_Count numbers[3], lb;

    switch (choice) {
    case 0:
        return type_contiguous(next_count(), old, true, out);
    case 1: case 2:
        numbers[0] = next_count();
        numbers[1] = next_count();
        numbers[2] = next_number();
        return type_vector(choice == 1 ? MPI_COMBINER_VECTOR : MPI_COMBINER_HVECTOR, numbers, old, true, out);
    case 3:
        lb = next_number();
        return type_resized(old, lb, next_number(), true, out);
    case 4:
        return type_dup(old, out);
    case 5:
        return make_subarray(old, out);
    }
    return make_blocks(old, lists[choice - 6], out);
}

static void check_numbers(const struct type *type)
{
    MPI_Count integers, addresses, counts, types;
    int combiner;

    MUST(type->size >= 0 && type->true_extent >= 0);
    MUST(!type->is_contig || !type->size || type->size == type->extent);
    MUST(type_get_envelope(type, true, &integers, &addresses, &counts, &types, &combiner) == 0);
    MUST(integers >= 0 && addresses >= 0 && counts >= 0 && types >= 0 && types <= NUMBERS);
    MUST(type_count_items(type, type->size) == (type->size ? 1 : 0));
    MUST(type_count_elements(type, type->size) != MPI_UNDEFINED);
}

/* external32 of what has been unpacked, in pieces, must be what came, unless it is cut on the way (long double). */
static void check_external(const struct type *type, MPI_Count count, char *buf, const char *in, size_t size)
{
    struct external_cursor cursor = { 0 };
    char *const again = malloc(size + 1), *const once = malloc(size + 1);
    MPI_Count at = 0;

    for (size_t n; cursor.at < size;) {
        n = 1 + next_byte() % 37;
        n = n < size - cursor.at ? n : size - cursor.at;
        external_unpack_next(&cursor, type, buf, count, in + cursor.at, n);
    }
    MUST(external_pack("external32", buf, count, type, once, (MPI_Count)size, &at) == 0 && at == (MPI_Count)size);
    for (size_t from = 0, n; from < size; from += n) {
        n = 1 + next_byte() % 37;
        n = n < size - from ? n : size - from;
        external_pack_range(type, buf, count, from, again + from, n);
    }
    MUST(memcmp(once, again, size) == 0);
    free(again);
    free(once);
}

static void check_moving(const struct type *type, MPI_Count count)
{
    const struct type_span span = type_span(type, count);
    const size_t size = type_bytes(type, count), external = external_bytes(type, count);
    char *const memory = calloc(1, span.len + 1), *const in = malloc(PACKED), *const out = malloc(size + 1);
    char *const buf = (char *)((uintptr_t)memory - (uintptr_t)span.low);
    const size_t cut = size ? next_byte() % (size + 1) : 0;
    MPI_Count at = next_number();

    for (size_t i = 0; i < PACKED; i++)
        in[i] = (char)(left ? next_byte() : i * 37);
    type_unpack(type, buf, count, cut, in + cut, size - cut);
    type_unpack(type, buf, count, 0, in, cut);
    type_pack(type, buf, count, 0, out, size);
    check_external(type, count, buf, in, external);
    if (type_unpack_from(in, PACKED / 2, &at, buf, count, type) == 0)
        MUST(at >= (MPI_Count)size && at <= PACKED / 2);
    free(memory);
    free(in);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct type *type, *next;
    MPI_Count count;

    type_init();
    bytes = data;
    left = size;
    type = next_basic();
    for (unsigned depth = next_byte() % DEPTH; depth > 0; depth--) {
        const int rc = make(type, &next);
        MUST(!rc || err_class(rc) == MPI_ERR_ARG || err_class(rc) == MPI_ERR_COUNT || err_class(rc) == MPI_ERR_NO_MEM);
        if (rc)
            continue;
        if (!type->obj.predefined)
            MUST(type_free(type) == 0);
        type = next;
        check_numbers(type);
    }
    count = 1 + next_byte() % ITEMS;
    if (type->true_extent <= SPAN && type->extent <= SPAN && type->extent >= -SPAN && type->true_lb <= SPAN &&
        type->true_lb >= -SPAN && type->size <= SPAN)
        check_moving(type, count);
    if (!type->obj.predefined)
        MUST(type_free(type) == 0);
    return 0;
}
