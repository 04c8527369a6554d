/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined types against a list of their own, copying against a walk over single bytes. */
#include "type/type.h"

#include <mpix.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/err.h"
#include "type/int_plan.h"

enum { BUFFER = 256, ITEMS = 3, NO_BYTE = 0xA5 };

/* What the type map says: one or two elements. size 0: the platform lacks the type. */
struct expected {
    MPI_Datatype handle;
    const char *name;
    int size, extent;
    int second; /* displacement of the second element of a pair, else 0 */
};

/* As an optional type would stand in the table that the platform lacks. */
static struct type missing = { .obj = { .kind = OBJ_TYPE, .predefined = 4000 }, .name = "MPI_REAL24",
                               .is_contig = true, .is_basic = true, .is_permanent = true };

#define EXPECT(constant, size, extent, second) { MPI_##constant, "MPI_" #constant, size, extent, second }
#define ONE(constant, size) EXPECT(constant, size, size, 0)

static const struct expected expected[] = {
    ONE(AINT, 8), ONE(COUNT, 8), ONE(OFFSET, 8), ONE(PACKED, 1), ONE(BYTE, 1),
    ONE(SHORT, 2), ONE(INT, 4), ONE(LONG, 8), ONE(LONG_LONG, 8), ONE(UNSIGNED_SHORT, 2),
    ONE(UNSIGNED, 4), ONE(UNSIGNED_LONG, 8), ONE(UNSIGNED_LONG_LONG, 8), ONE(FLOAT, 4),
    ONE(C_FLOAT_COMPLEX, 8), ONE(CXX_FLOAT_COMPLEX, 8), ONE(DOUBLE, 8), ONE(C_DOUBLE_COMPLEX, 16),
    ONE(CXX_DOUBLE_COMPLEX, 16), ONE(LOGICAL, 4), ONE(INTEGER, 4), ONE(REAL, 4), ONE(COMPLEX, 8),
    ONE(DOUBLE_PRECISION, 8), ONE(DOUBLE_COMPLEX, 16), ONE(CHARACTER, 1), ONE(LONG_DOUBLE, 16),
    ONE(C_LONG_DOUBLE_COMPLEX, 32), ONE(CXX_LONG_DOUBLE_COMPLEX, 32), ONE(C_BOOL, 1),
    ONE(CXX_BOOL, 1), ONE(WCHAR, 4), ONE(INT8_T, 1), ONE(UINT8_T, 1), ONE(CHAR, 1),
    ONE(SIGNED_CHAR, 1), ONE(UNSIGNED_CHAR, 1), ONE(INT16_T, 2), ONE(UINT16_T, 2),
    ONE(INT32_T, 4), ONE(UINT32_T, 4), ONE(INT64_T, 8), ONE(UINT64_T, 8), ONE(LOGICAL1, 1),
    ONE(INTEGER1, 1), ONE(LOGICAL2, 2), ONE(INTEGER2, 2), ONE(REAL2, 2), ONE(LOGICAL4, 4),
    ONE(INTEGER4, 4), ONE(REAL4, 4), ONE(COMPLEX4, 4), ONE(LOGICAL8, 8), ONE(INTEGER8, 8),
    ONE(REAL8, 8), ONE(COMPLEX8, 8), ONE(LOGICAL16, 16), ONE(INTEGER16, 16), ONE(REAL16, 16),
    ONE(COMPLEX16, 16), ONE(COMPLEX32, 32),
    { MPIX_C_FLOAT16, "MPIX_C_FLOAT16", 2, 2, 0 }, { MPIX_BFLOAT16, "MPIX_BFLOAT16", 2, 2, 0 },
    EXPECT(FLOAT_INT, 8, 8, 4), EXPECT(DOUBLE_INT, 12, 16, 8), EXPECT(LONG_INT, 12, 16, 8),
    EXPECT(2INT, 8, 8, 4), EXPECT(SHORT_INT, 6, 8, 4), EXPECT(LONG_DOUBLE_INT, 20, 32, 16),
    EXPECT(2REAL, 8, 8, 4), EXPECT(2DOUBLE_PRECISION, 16, 16, 8), EXPECT(2INTEGER, 8, 8, 4),
};

/* Bytes of the first element. */
static int first_len(const struct expected *e)
{
    return e->handle == MPI_SHORT_INT ? 2 : e->second ? e->second : e->size;
}

/* Where in memory each byte of the stream of `count` items lies, byte by byte; returns how many there are. */
static int walk_bytes(const struct expected *e, int count, int *places)
{
    int n = 0;

    for (int item = 0; item < count; item++)
        for (int byte = 0; byte < e->size; byte++)
            places[n++] = item * e->extent + (byte < first_len(e) ? byte : e->second + byte - first_len(e));
    return n;
}

static void test_table(void)
{
    int present = 0;

    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        const struct expected *const e = &expected[i];
        const struct type *const type = obj_type(e->handle);

        CHECK(type);
        CHECK(strcmp(type_name(type), e->name) == 0);
        CHECK_INT(type->size, e->size);
        CHECK_INT(type->extent, e->extent);
        CHECK_INT(type->lb, 0);
        CHECK_INT(type->true_lb, 0);
        CHECK_INT(type->true_extent, e->second ? e->second + e->size - first_len(e) : e->size);
        CHECK_INT(type->is_contig, e->size == e->extent);
        CHECK_INT(type->is_basic, e->second == 0);
        CHECK_INT(type->is_supported, e->size > 0);
        CHECK_INT(type->is_committed, e->size > 0);
        CHECK_INT(type_query_size(type), e->size > 0 ? e->size : MPI_UNDEFINED);
        CHECK_INT(obj_handle(&type->obj), (uintptr_t)e->handle);
    }
    for (uintptr_t value = 0x200; value < 0x300; value++)
        present += obj_table[value] != NULL;
    CHECK_INT(present, ARRAY_LEN(expected) + 2); /* and the marks of mpi_older.h */
    CHECK(!obj_type(MPI_DATATYPE_NULL));
    CHECK(!obj_type((MPI_Datatype)(uintptr_t)MPI_COMM_WORLD));
}

/* All ranges of the stream, at an odd address. */
static void check_ranges(const struct type *type, const int *places, int total, int count)
{
    unsigned char memory[BUFFER], stream[BUFFER], back[BUFFER];
    const int base = 97; /* room for displacements below zero */

    for (int i = 0; i < BUFFER; i++)
        memory[i] = (unsigned char)(i * 7 + 1);
    for (int offset = 0; offset <= total; offset++) {
        for (int len = 0; offset + len <= total; len++) {
            memset(stream, NO_BYTE, sizeof stream);
            type_pack(type, memory + base, count, (size_t)offset, stream + 1, (size_t)len);
            CHECK_INT(stream[0], NO_BYTE);
            CHECK_INT(stream[1 + len], NO_BYTE);
            for (int i = 0; i < len; i++)
                CHECK_INT(stream[1 + i], memory[base + places[offset + i]]);

            memset(back, NO_BYTE, sizeof back);
            type_unpack(type, back + base, count, (size_t)offset, stream + 1, (size_t)len);
            for (int i = 0; i < len; i++) {
                CHECK_INT(back[base + places[offset + i]], memory[base + places[offset + i]]);
                back[base + places[offset + i]] = NO_BYTE;
            }
            for (int i = 0; i < BUFFER; i++)
                CHECK_INT(back[i], NO_BYTE);
        }
    }
}

static void test_ranges(void)
{
    int places[BUFFER];

    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        for (int count = 0; count <= ITEMS; count++)
            check_ranges(obj_type(expected[i].handle), places, walk_bytes(&expected[i], count, places),
                         count);
}

/* Runs out of order, items backwards. */
static struct type *make_odd_type(void)
{
    static const MPI_Datatype types[] = { MPI_INT, MPI_CHAR, MPI_SHORT };
    static const int lengths[] = { 1, 3, 2 };
    static const MPI_Aint disps[] = { 8, -3, 2 };
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = 3,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    struct type *item, *type;

    CHECK_INT(type_struct(&blocks, types, &item), 0);
    CHECK_INT(type_resized(item, 0, -20, false, &type), 0);
    CHECK_INT(type_free(item), 0);
    CHECK_INT(type->true_lb, -3);
    CHECK_INT(type->true_extent, 15);
    return type;
}

static void test_odd_type(void)
{
    static const int item[] = { 8, 9, 10, 11, -3, -2, -1, 2, 3, 4, 5 };
    static const int ends[] = { 0, 4, 5, 6, 7, 9, 11 }; /* of the elements */
    struct type *const type = make_odd_type();
    const MPI_Datatype handle = (MPI_Datatype)obj_handle(&type->obj);
    struct type_span span = type_span(type, 4);
    int places[BUFFER];

    for (int i = 0; i < 44; i++)
        places[i] = i / 11 * -20 + item[i % 11];
    check_ranges(type, places, 44, 4);
    CHECK_INT(span.low, -63);
    CHECK_INT(span.len, 75);
    span = type_span(type, 0);
    CHECK_INT(span.len, 0);
    for (int bytes = 0; bytes < 44; bytes++) {
        MPI_Count elements = MPI_UNDEFINED;
        MPI_Count back = -1;

        for (int e = 0; e < 6; e++)
            if (ends[e] == bytes % 11)
                elements = bytes / 11 * 6 + e;
        CHECK_INT(type_count_elements(type, bytes), elements);
        CHECK_INT(type_count_items(type, bytes), bytes % 11 ? MPI_UNDEFINED : bytes / 11);
        if (elements == MPI_UNDEFINED)
            continue;
        CHECK_INT(type_element_bytes(type, elements, &back), 0);
        CHECK_INT(back, bytes);
    }
    CHECK_INT(err_class(type_check_usable(type)), MPI_ERR_TYPE);
    CHECK_INT(err_id(type_check_usable(type)), 341);
    CHECK_INT(type_commit(type), 0);
    CHECK_INT(type_commit(type), 0);
    CHECK_INT(type_check_usable(type), 0);
    CHECK_INT(type_set_name(type, "odd"), 0);
    type_ref(type);
    type_unref(type);
    CHECK(obj_type(handle) == type);
    CHECK_INT(type_free(type), 0);
    CHECK(!obj_type(handle));
}

static void test_counts(void)
{
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        const struct expected *const e = &expected[i];
        const struct type *const type = obj_type(e->handle);
        const int per_item = e->second ? 2 : 1;

        for (int bytes = 0; bytes <= 3 * e->size; bytes++) {
            const int rest = e->size ? bytes % e->size : 0, whole = e->size ? bytes / e->size : 0;
            MPI_Count elements = rest == 0                                ? whole * per_item
                                 : e->second && rest == first_len(e) ? whole * 2 + 1
                                                                          : MPI_UNDEFINED;

            CHECK_INT(type_count_items(type, bytes), rest ? MPI_UNDEFINED : whole);
            CHECK_INT(type_count_elements(type, bytes), elements);
            if (elements != MPI_UNDEFINED && e->size) {
                MPI_Count back = -1;

                CHECK_INT(type_element_bytes(type, elements, &back), 0);
                CHECK_INT(back, bytes);
            }
        }
    }
    CHECK_INT(type_count_items(obj_type(MPI_INT), 1LL << 40), 1LL << 38);
    CHECK_INT(type_count_items(&missing, 4), MPI_UNDEFINED);
    CHECK_INT(type_count_elements(&missing, 4), MPI_UNDEFINED);
}

static void expect_error(int rc, int error_class, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];

    CHECK_INT(err_class(rc), error_class);
    err_text(rc, text, sizeof text);
    if (!strstr(text, part)) {
        fprintf(stderr, "\"%s\" does not contain \"%s\"\n", text, part);
        exit(1);
    }
}

static void test_refusals(void)
{
    struct type *type = NULL, none = { .is_supported = true, .name = "" };
    MPI_Count back;

    expect_error(type_check_usable(&missing), MPI_ERR_TYPE, "MPI_REAL24 is not supported");
    CHECK_INT(err_id(type_check_usable(&missing)), 342);
    expect_error(type_commit(&missing), MPI_ERR_TYPE, "MPI_REAL24 is not supported");
    expect_error(type_contiguous(2, &missing, false, &type), MPI_ERR_TYPE, "MPI_REAL24 is not supported");
    CHECK_INT(type_commit(obj_type(MPI_INT)), 0);
    back = 7;
    expect_error(type_element_bytes(&missing, 1, &back), MPI_ERR_TYPE, "MPI_REAL24");
    expect_error(type_element_bytes(obj_type(MPI_DOUBLE), INT64_MAX / 4, &back), MPI_ERR_COUNT, "MPI_DOUBLE");
    expect_error(type_element_bytes(obj_type(MPI_DOUBLE_INT), INT64_MAX / 6, &back), MPI_ERR_COUNT,
                 "too many");
    expect_error(type_element_bytes(obj_type(MPI_DOUBLE_INT), INT64_MAX / 12 * 2 + 1, &back), MPI_ERR_COUNT,
                 "too many");
    expect_error(type_element_bytes(&none, 1, &back), MPI_ERR_COUNT, "has none");
    CHECK_INT(back, 7);
    CHECK_INT(type_element_bytes(&none, 0, &back), 0);
    CHECK_INT(back, 0);
    expect_error(type_free(obj_type(MPI_INT)), MPI_ERR_TYPE, "MPI_INT is predefined");
    expect_error(type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG, "3 bytes");
    expect_error(type_match_size(MPI_TYPECLASS_REAL, 0, &type), MPI_ERR_ARG, "0 bytes");
    expect_error(type_match_size(77, 4, &type), MPI_ERR_ARG, "type class 77");
    CHECK(!type);
}

static void test_finding(void)
{
    struct type *type;

    CHECK_INT(type_match_size(MPI_TYPECLASS_INTEGER, 8, &type), 0);
    CHECK(type == obj_type(MPI_INTEGER8));
    CHECK_INT(type_match_size(MPI_TYPECLASS_REAL, 4, &type), 0);
    CHECK(type == obj_type(MPI_REAL4));
    CHECK_INT(type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type), 0);
    CHECK(type == obj_type(MPI_COMPLEX16));
    CHECK_INT(type_pair(obj_type(MPI_DOUBLE), obj_type(MPI_INT), &type), 0);
    CHECK(type == obj_type(MPI_DOUBLE_INT));
    CHECK_INT(type_pair(obj_type(MPI_REAL), obj_type(MPI_REAL), &type), 0);
    CHECK(type == obj_type(MPI_2REAL));
    CHECK_INT(type_pair(obj_type(MPI_INT), obj_type(MPI_DOUBLE), &type), 0);
    CHECK(!type);
}

/* What messages call a type. */
static void test_describing(void)
{
    const MPI_Count numbers[3] = { 3, 1, 2 };
    char text[TYPE_TEXT_MAX];
    struct type *vector, *outer, *next;

    CHECK(!strcmp(type_describe(obj_type(MPI_DOUBLE), text), "MPI_DOUBLE"));
    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, numbers, obj_type(MPI_INT), false, &vector), 0);
    CHECK(!strcmp(type_describe(vector, text), "vector(MPI_INT)"));
    CHECK_INT(type_resized(vector, 0, 64, false, &outer), 0);
    CHECK(!strcmp(type_describe(outer, text), "resized(vector(MPI_INT))"));
    CHECK_INT(type_set_name(vector, "halo"), 0);
    CHECK(!strcmp(type_describe(outer, text), "resized(halo)"));
    for (int i = 0; i < 40; i++) {
        CHECK_INT(type_dup(outer, &next), 0);
        CHECK_INT(type_free(outer), 0);
        outer = next;
        CHECK(strlen(type_describe(outer, text)) < TYPE_TEXT_MAX && strstr(text, "dup(") == text);
    }
    CHECK_INT(type_free(outer), 0);
    CHECK_INT(type_free(vector), 0);
    CHECK_INT(type_pair(obj_type(MPI_UNSIGNED), obj_type(MPI_LONG), &next), 0);
    CHECK(!strcmp(type_describe(next, text), "value_index(MPI_UNSIGNED)"));
    CHECK_INT(type_f90(MPI_COMBINER_F90_REAL, 5, 5, &next), 0);
    CHECK(!strcmp(type_describe(next, text), "f90_real"));
}

static void test_signatures(void)
{
    CHECK_INT(obj_type(MPI_BYTE)->signature, TYPE_SIGNATURE_ANY);
    CHECK_INT(obj_type(MPI_PACKED)->signature, TYPE_SIGNATURE_ANY);
    CHECK_INT(obj_type(MPI_INT)->signature, obj_type(MPI_INTEGER)->signature);
    CHECK_INT(obj_type(MPI_2INT)->signature, obj_type(MPI_INT)->signature);
    CHECK_INT(obj_type(MPI_CHAR)->signature, obj_type(MPI_CHARACTER)->signature);
    CHECK(obj_type(MPI_CHAR)->signature != obj_type(MPI_SIGNED_CHAR)->signature);
    CHECK(obj_type(MPI_INT)->signature != obj_type(MPI_FLOAT)->signature);
    CHECK(obj_type(MPI_INT)->signature != obj_type(MPI_UNSIGNED)->signature);
    CHECK(obj_type(MPI_INT)->signature != obj_type(MPI_LOGICAL)->signature);
    CHECK(obj_type(MPI_DOUBLE_INT)->signature != obj_type(MPI_FLOAT_INT)->signature);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        if (expected[i].size && expected[i].handle != MPI_BYTE && expected[i].handle != MPI_PACKED)
            CHECK(obj_type(expected[i].handle)->signature != TYPE_SIGNATURE_ANY);
}

static void test_names(void)
{
    struct type *const type = obj_type(MPI_DOUBLE);
    char name[MPI_MAX_OBJECT_NAME], longer[MPI_MAX_OBJECT_NAME + 10];
    int len;

    type_get_name(type, name, &len);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    CHECK_INT(len, 10);
    type_get_name(NULL, name, &len);
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);
    CHECK_INT(len, 17);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    mem_fail_after(0);
    expect_error(type_set_name(type, "first"), MPI_ERR_NO_MEM, "no memory");
    mem_fail_after(-1);
    CHECK(strcmp(type_name(type), "MPI_DOUBLE") == 0);
    CHECK_INT(type_set_name(type, "first"), 0);
    mem_fail_after(0);
    CHECK_INT(type_set_name(type, longer), 0);
    mem_fail_after(-1);
    type_get_name(type, name, &len);
    CHECK_INT(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_INT(strlen(name), MPI_MAX_OBJECT_NAME - 1);
    type_fini();
    CHECK(strcmp(type_name(type), "MPI_DOUBLE") == 0);
    CHECK_INT(mem_live(), 0);
}

/* Items with gaps of 1000: more than the copy's stage; all four ways. */
static void test_copy(void)
{
    enum { MANY_PAIRS = 1000 };
    static unsigned char from[MANY_PAIRS * 16], to[MANY_PAIRS * 16], packed[MANY_PAIRS * 12], other[MANY_PAIRS * 12];
    const struct type *const pair = obj_type(MPI_DOUBLE_INT), *const byte = obj_type(MPI_BYTE);

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 31 >> 2 | 1);
    memset(to, 0, sizeof to);
    CHECK_INT(type_copy(to, MANY_PAIRS, pair, from, MANY_PAIRS, pair), sizeof packed);
    for (size_t i = 0; i < sizeof to; i++)
        CHECK_INT(to[i], i % 16 < 12 ? from[i] : 0);
    CHECK_INT(type_copy(packed, sizeof packed, byte, from, MANY_PAIRS, pair), sizeof packed);
    for (size_t i = 0; i < sizeof packed; i++)
        CHECK_INT(packed[i], from[i / 12 * 16 + i % 12]);
    CHECK_INT(type_copy(other, sizeof other, byte, packed, sizeof packed, byte), sizeof packed);
    CHECK(memcmp(other, packed, sizeof packed) == 0);
    memset(to, 0, sizeof to);
    CHECK_INT(type_copy(to, 2, pair, packed, sizeof packed, byte), 24); /* the smaller amount */
    for (size_t i = 0; i < sizeof to; i++)
        CHECK_INT(to[i], i < 32 && i % 16 < 12 ? from[i] : 0);
    CHECK_INT(type_copy(from, MANY_PAIRS, pair, from, MANY_PAIRS, pair), sizeof packed);
    CHECK_INT(type_copy(NULL, 0, pair, from, MANY_PAIRS, pair), 0);
}

/* --- derived types --- */

static struct type *struct_of(int n, const int *lengths, const MPI_Aint *disps, const MPI_Datatype *types)
{
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = n,
                                        .lengths = { lengths, sizeof *lengths }, .disps = { disps, sizeof *disps } };
    struct type *type;

    CHECK_INT(type_struct(&blocks, types, &type), 0);
    CHECK_INT(type_commit(type), 0);
    return type;
}

static struct type *copies(struct type *old, MPI_Count n)
{
    struct type *type;

    CHECK_INT(type_contiguous(n, old, true, &type), 0);
    CHECK_INT(type_commit(type), 0);
    return type;
}

/* What the sequence is decides, not who made it, nor how often it stands in an item. */
static void test_derived_signatures(void)
{
    const MPI_Datatype iid[] = { MPI_INT, MPI_INTEGER, MPI_DOUBLE }, idi[] = { MPI_INT, MPI_DOUBLE, MPI_INT };
    struct type *const a = struct_of(2, (int[]){ 2, 1 }, (MPI_Aint[]){ 0, 8 }, &iid[1]);
    struct type *const b = struct_of(3, (int[]){ 1, 1, 1 }, (MPI_Aint[]){ 40, 0, 16 }, iid);
    struct type *const c = struct_of(3, (int[]){ 1, 1, 1 }, (MPI_Aint[]){ 0, 8, 16 }, idi);
    struct type *const many = copies(a, 6), *const more = copies(many, (MPI_Count)1 << 33), *const ints =
                              copies(obj_type(MPI_INT), 4);
    const MPI_Datatype twice[] = { (MPI_Datatype)obj_handle(&a->obj), (MPI_Datatype)obj_handle(&b->obj) };
    struct type *const ab = struct_of(2, (int[]){ 3, 5 }, (MPI_Aint[]){ 0, 400 }, twice);
    struct type *const pair = struct_of(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 0, 8 },
                                        (MPI_Datatype[]){ MPI_DOUBLE, MPI_INT });
    struct type *const bytes = struct_of(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 0, 8 },
                                         (MPI_Datatype[]){ MPI_DOUBLE, MPI_BYTE });

    CHECK_INT(ints->signature, obj_type(MPI_INT)->signature);
    CHECK_INT(a->signature, b->signature);
    CHECK_INT(a->signature, many->signature);
    CHECK_INT(a->signature, more->signature);
    CHECK_INT(a->signature, ab->signature);
    CHECK(a->signature != c->signature);
    CHECK(a->signature != ints->signature);
    CHECK_INT(pair->signature, obj_type(MPI_DOUBLE_INT)->signature);
    CHECK_INT(bytes->signature, TYPE_SIGNATURE_ANY);
    for (size_t i = 0; i < 9; i++)
        type_unref(((struct type *[]){ a, b, c, many, more, ints, ab, pair, bytes })[i]);
}

enum { MANY = 1000000 };

static struct type *blocks_of(int n, MPI_Count length, const MPI_Count *disps)
{
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_HINDEXED_BLOCK, .is_large = true, .count = n,
                                        .length = length, .disps = { disps, sizeof *disps } };
    struct type *type;

    CHECK_INT(type_indexed(&blocks, obj_type(MPI_INT), &type), 0);
    return type;
}

/* What is regular becomes a loop, whatever constructor it came by; what is one run of bytes is recognised. */
static void test_canonical(void)
{
    static MPI_Count disps[MANY];
    struct type *type;

    for (int i = 0; i < MANY; i++)
        disps[i] = 16 * (MPI_Count)i;
    type = blocks_of(MANY, 1, disps);
    CHECK_INT(type->plan.plan->kind, PLAN_LOOP);
    CHECK_INT(type->plan.plan->child->kind, PLAN_BLOCK);
    CHECK_INT(type->plan.plan->stride, 16);
    type_unref(type);

    for (int i = 0; i < MANY; i++)
        disps[i] = 1000 * (MPI_Count)(i / 100) + 8 * (i % 100);
    type = blocks_of(MANY, 1, disps);
    CHECK_INT(type->plan.plan->kind, PLAN_LOOP);
    CHECK_INT(type->plan.plan->child->kind, PLAN_LOOP);
    CHECK_INT(type->plan.plan->child->child->kind, PLAN_BLOCK);
    type_unref(type);

    for (int i = 0; i < MANY; i++)
        disps[i] = 4 * (MPI_Count)i;
    type = blocks_of(MANY, 1, disps);
    CHECK(type->is_contig);
    type_unref(type);
    type = blocks_of(MANY / 2, 1, disps + MANY / 2);
    CHECK(!type->is_contig);
    CHECK(type_is_run(type, 1));
    CHECK(type_is_run(type, 3)); /* the extent is that of the data */
    CHECK(type_run(type, NULL) == (char *)(uintptr_t)disps[MANY / 2]);
    type_unref(type);
}

/* Items 8 GiB apart, in memory that is there only where it is touched. */
static void test_far_apart(void)
{
    enum { ITEMS_FAR = 5 };
    const MPI_Count stride = (MPI_Count)8 << 30, size = stride * ITEMS_FAR;
    char *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct type *type;
    uint64_t in[2 * ITEMS_FAR], out[2 * ITEMS_FAR];

    if (memory == MAP_FAILED)
        return; /* not with every limit on memory */
    CHECK_INT(type_vector(MPI_COMBINER_HVECTOR, (MPI_Count[]){ ITEMS_FAR, 2, stride }, obj_type(MPI_UINT64_T), true,
                          &type), 0);
    for (unsigned i = 0; i < ARRAY_LEN(in); i++)
        in[i] = i * 1000003u;
    type_unpack(type, memory, 1, 0, in, 20);
    type_unpack(type, memory, 1, 20, (char *)in + 20, sizeof in - 20);
    for (int i = 0; i < ITEMS_FAR; i++)
        CHECK(memcmp(memory + i * stride, &in[2 * i], 16) == 0);
    type_pack(type, memory, 1, 0, out, sizeof out);
    CHECK(memcmp(in, out, sizeof in) == 0);
    type_unref(type);
    munmap(memory, (size_t)size);
}

/* Streams of 2^50 bytes from little memory: items that lie on each other, which is fine for sending. */
static void test_long_streams(void)
{
    const MPI_Count many = (MPI_Count)1 << 38;
    const MPI_Count offsets[] = { 0, 5, INT32_MAX, (MPI_Count)1 << 32, ((MPI_Count)1 << 44) + 7 };
    struct type *const item = struct_of(2, (int[]){ 1, 3 }, (MPI_Aint[]){ 0, 8 },
                                        (MPI_Datatype[]){ MPI_INT, MPI_DOUBLE });
    unsigned char memory[32], item_stream[28], stream[1000];
    struct type *still, *type;
    MPI_Count bytes;

    CHECK_INT(type_resized(item, 0, 0, true, &still), 0);
    type = copies(still, many);
    CHECK_INT(type->size, 28 * many);
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i + 1);
    type_pack(item, memory, 1, 0, item_stream, sizeof item_stream);
    for (size_t k = 0; k < ARRAY_LEN(offsets); k++) {
        type_pack(type, memory, 1000, (size_t)offsets[k], stream, sizeof stream);
        for (size_t i = 0; i < sizeof stream; i++)
            CHECK_INT(stream[i], item_stream[(offsets[k] + (MPI_Count)i) % 28]);
    }
    CHECK_INT(type_count_elements(type, 28 * many * 3 + 28 * 5 + 4), 4 * (3 * many + 5) + 1);
    CHECK_INT(type_element_bytes(type, 4 * (3 * many + 5) + 1, &bytes), 0);
    CHECK_INT(bytes, 28 * many * 3 + 28 * 5 + 4);
    CHECK_INT(type->signature, item->signature);
    type_unref(item);
    type_unref(still);
    type_unref(type);
}

/* Every allocation on the way to a type fails once: an error, nothing lost. */
static int make_with_all(struct type **out)
{
    static const MPI_Aint disps[] = { 0, 40, 16, 100, 90 };
    static const int lengths[] = { 1, 2, 1, 3, 1 }, sizes[] = { 7, 9 }, subsizes[] = { 3, 4 }, starts[] = { 1, 2 };
    const struct type_subarray box = { .ndims = 2, .order = MPI_ORDER_C, .sizes = TYPE_NUMBERS(sizes),
                                       .subsizes = TYPE_NUMBERS(subsizes), .starts = TYPE_NUMBERS(starts) };
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = ARRAY_LEN(disps),
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    MPI_Datatype types[] = { MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT };
    struct type *part = NULL;
    int rc = type_subarray(&box, obj_type(MPI_DOUBLE_INT), &part);

    if (rc)
        return rc;
    types[3] = (MPI_Datatype)obj_handle(&part->obj);
    rc = type_struct(&blocks, types, out);
    type_unref(part);
    return rc;
}

static int make_f90(struct type **out)
{
    return type_f90(MPI_COMBINER_F90_REAL, 12, 34, out);
}

static void test_memory(void)
{
    int (*const makers[])(struct type **) = { make_with_all, make_f90 };
    const long before = mem_live();

    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        struct type *type = NULL;
        int rc = -1;

        for (long n = 0; rc; n++) {
            mem_fail_after(n);
            rc = makers[i](&type);
            mem_fail_after(-1);
            CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
            CHECK(n < 1000);
        }
        if (!type->is_permanent)
            type_unref(type);
    }
    type_fini();
    CHECK(mem_live() <= before + 1); /* the pool of types */
}

int main(void)
{
    type_init();
    test_table();
    test_ranges();
    test_counts();
    test_copy();
    test_refusals();
    test_finding();
    test_signatures();
    test_names();
    test_describing();
    test_odd_type();
    test_derived_signatures();
    test_canonical();
    test_far_apart();
    test_long_streams();
    test_memory();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
