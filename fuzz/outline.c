/* SPDX-License-Identifier: BSD-3-Clause */
/* Outlines of types (type_from_outline): the bytes are one. It is refused or makes a type whose numbers fit together,
 * which comes back from its own outline; if its items lie within a page, data are unpacked into memory of exactly their
 * length and packed again. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "type/type.h"

enum { SPAN = 4096, ITEMS = 3 };

static void check_moving(const struct type *type)
{
    const struct type_span span = type_span(type, ITEMS);
    const size_t size = type_bytes(type, ITEMS);
    char *const memory = calloc(1, span.len + 1), *const in = malloc(size + 1), *const out = malloc(size + 1);
    char *const buf = (char *)((uintptr_t)memory - (uintptr_t)span.low);

    memset(in, 0x5a, size);
    type_unpack(type, buf, ITEMS, size / 3, in + size / 3, size - size / 3);
    type_unpack(type, buf, ITEMS, 0, in, size / 3);
    type_pack(type, buf, ITEMS, 0, out, size);
    MUST(memcmp(in, out, size) == 0);
    free(memory);
    free(in);
    free(out);
}

static void check_again(struct type *type)
{
    const struct type_outline *outline;
    struct type *again;

    MUST(type_get_outline(type, &outline) == 0);
    MUST(type_from_outline(outline->bytes, outline->len, &again) == 0);
    MUST(again->size == type->size && again->lb == type->lb && again->extent == type->extent);
    MUST(again->true_lb == type->true_lb && again->true_extent == type->true_extent);
    MUST(again->signature == type->signature);
    type_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct type *type;
    int rc;

    type_init();
    rc = type_from_outline(data, size, &type);
    MUST(!rc || err_class(rc) == MPI_ERR_TYPE || err_class(rc) == MPI_ERR_COUNT || err_class(rc) == MPI_ERR_NO_MEM);
    if (rc)
        return 0;
    MUST(type->is_committed && type->size >= 0 && type->true_extent >= 0);
    MUST(!type->is_contig || !type->size || type->size == type->extent);
    MUST(type_count_elements(type, type->size) != MPI_UNDEFINED);
    check_again(type);
    if (type->true_extent <= SPAN && type->extent <= SPAN && type->extent >= -SPAN && type->true_lb <= SPAN &&
        type->true_lb >= -SPAN && type->size <= SPAN)
        check_moving(type);
    type_unref(type);
    return 0;
}
