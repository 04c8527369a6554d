/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room type: which integers do not fit external32. */
#include "type/type.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

#include "base/check.h"
#include "base/mem.h"

static void expect(MPI_Datatype handle, const void *buf, const char *text)
{
    char got[EXTERNAL_UNFIT_TEXT] = "";
    struct external_unfit found;

    if (external_find_unfit(obj_type(handle), buf, 1, &found))
        external_describe_unfit(&found, got);
    CHECK_TEXT(got, text);
}

static void test_limits(void)
{
    const long longs[] = { INT32_MAX, INT32_MIN, INT32_MAX + 1L, INT32_MIN - 1L, LONG_MIN };
    const unsigned long sizes[] = { UINT32_MAX, UINT32_MAX + 1UL, ULONG_MAX };
    const wchar_t letters[] = { 0xffff, 0x10000, -1 };
    const int64_t wide = INT64_MIN;

    expect(MPI_LONG, &longs[0], "");
    expect(MPI_LONG, &longs[1], "");
    expect(MPI_LONG, &longs[2], "MPI_LONG with the value 2147483648");
    expect(MPI_LONG, &longs[3], "MPI_LONG with the value -2147483649");
    expect(MPI_LONG, &longs[4], "MPI_LONG with the value -9223372036854775808");
    expect(MPI_UNSIGNED_LONG, &sizes[0], "");
    expect(MPI_UNSIGNED_LONG, &sizes[1], "MPI_UNSIGNED_LONG with the value 4294967296");
    expect(MPI_UNSIGNED_LONG, &sizes[2], "MPI_UNSIGNED_LONG with the value 18446744073709551615");
    expect(MPI_WCHAR, &letters[0], "");
    expect(MPI_WCHAR, &letters[1], "MPI_WCHAR with the value 65536");
    expect(MPI_WCHAR, &letters[2], "MPI_WCHAR with the value -1");
    expect(MPI_INT64_T, &wide, "");
    expect(MPI_LONG_LONG, &wide, "");
}

/* Where the one that does not fit stands; what lies in gaps does not matter. */
static void test_places(void)
{
    enum { ITEMS = 3, SPAN = 64 };
    const MPI_Count lengths[] = { 2, 1, 3 }, disps[] = { 48, 0, 8 };
    const MPI_Datatype types[] = { MPI_LONG, MPI_INT, MPI_LONG };
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .is_large = true, .count = 3,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    static char memory[ITEMS * SPAN];
    const long large = LONG_MAX;
    struct external_unfit found;
    struct type *type;
    int hits = 0;

    CHECK_INT(type_struct(&blocks, types, &type), 0);
    CHECK_INT(type->extent, SPAN);
    for (size_t at = 0; at < sizeof memory; at += sizeof large) {
        const size_t in_item = at % SPAN;
        const bool is_data = (in_item >= 8 && in_item < 32) || in_item >= 48;

        memset(memory, 0, sizeof memory);
        memcpy(memory + at, &large, sizeof large);
        CHECK(external_find_unfit(type, memory, ITEMS, &found) == is_data);
        hits += is_data;
    }
    CHECK_INT(hits, 5 * ITEMS);
    CHECK(!external_find_unfit(type, memory, 0, &found));
    CHECK_INT(type_free(type), 0);
}

int main(void)
{
    type_init();
    test_limits();
    test_places();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
