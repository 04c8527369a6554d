/* SPDX-License-Identifier: BSD-3-Clause */
/* Outlines of types: how long they are, predefined types, parts that occur again, types that are nested deeply, bytes
 * that make no sense, failing memory. Random types: random_test.c. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "type/int_plan.h"

enum { DEEP = 1000, MANY = 1000 };

static struct type *int_type(void)
{
    return obj_type(MPI_INT);
}

static struct type *make_struct(int n, MPI_Datatype *types, MPI_Count *disps)
{
    int lengths[MANY];
    struct type *type;

    for (int i = 0; i < n; i++)
        lengths[i] = 1;
    CHECK_INT(type_struct(&(struct type_blocks){ .combiner = MPI_COMBINER_STRUCT, .count = n,
                                                 .lengths = TYPE_NUMBERS(lengths),
                                                 .disps = { disps, sizeof *disps } }, types, &type), 0);
    return type;
}

/* By way of an outline, from memory of exactly its length. */
static struct type *rebuild(struct type *type, size_t most)
{
    const struct type_outline *outline;
    struct type *again;
    void *bytes;

    CHECK_INT(type_commit(type), 0);
    CHECK_INT(type_get_outline(type, &outline), 0);
    CHECK(outline->len <= most);
    bytes = malloc(outline->len);
    memcpy(bytes, outline->bytes, outline->len);
    CHECK_INT(type_from_outline(bytes, outline->len, &again), 0);
    free(bytes);
    CHECK(again->is_committed && again->size == type->size && again->lb == type->lb && again->extent == type->extent);
    CHECK(again->true_lb == type->true_lb && again->true_extent == type->true_extent);
    CHECK(again->signature == type->signature && again->is_contig == type->is_contig);
    CHECK(type_count_elements(again, again->size) == type_count_elements(type, type->size));
    return again;
}

static void check_predefined(void)
{
    for (uintptr_t i = 0; i < OBJ_PREDEFINED_END; i++) {
        struct type *const type = obj_table[i] ? CONTAINER_OF(obj_table[i], struct type, obj) : NULL;
        if (type && obj_table[i]->kind == OBJ_TYPE && type->is_supported)
            CHECK(rebuild(type, 2) == type);
    }
}

/* What is regular is short, however large it is. */
static void check_lengths(void)
{
    struct type *vector, *again;

    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ 1000000, 3, 7 }, int_type(), true, &vector), 0);
    again = rebuild(vector, 24);
    type_unref(again);
    type_unref(vector);
    CHECK_INT(type_contiguous(0, int_type(), false, &vector), 0);
    type_unref(rebuild(vector, 3));
    type_unref(vector);
}

/* Twice the one before at places that make no loop: as many elements as 2^30, but as many nodes as levels. */
static void check_shared(void)
{
    struct type *type = int_type(), *next;

    for (int level = 0; level < 30; level++) {
        MPI_Datatype types[18];
        MPI_Count disps[18];
        for (int i = 0; i < 18; i++) {
            types[i] = i % 9 ? MPI_SHORT : (MPI_Datatype)obj_handle(&type->obj);
            disps[i] = i * i * type->extent;
        }
        next = make_struct(18, types, disps);
        type_unref(type);
        type = next;
        if (type->extent > INT64_MAX / 1000)
            break;
    }
    type_unref(rebuild(type, 1000));
    type_unref(type);
}

static struct type *nest(int levels)
{
    struct type *type = int_type(), *next;

    for (int level = 0; level < levels; level++) {
        CHECK_INT(type_vector(MPI_COMBINER_HVECTOR, (const MPI_Count[]){ 2, 1, 0 }, type, true, &next), 0);
        type_unref(type);
        type = make_struct(3, (MPI_Datatype[]){ MPI_CHAR, (MPI_Datatype)obj_handle(&next->obj), MPI_SHORT },
                           (MPI_Count[]){ 0, 4 + level % 2, 2 });
        type_unref(next);
    }
    return type;
}

static void check_deep(void)
{
    struct type *type = nest(20);

    type_unref(rebuild(type, 2000));
    type_unref(type);
}

/* Loops of loops that do not become one. */
static void check_too_deep(void)
{
    const struct type_outline *outline;
    unsigned char bytes[4 * DEEP + 16] = { 0, 0, 8, 0, PLAN_BLOCK, (unsigned char)unit_number(int_type()->units), 1 };
    size_t len = 7;
    struct type *type;

    for (int i = 0; i <= DEEP; i++) { /* one turn each: no node, but as deep as is told */
        memcpy(bytes + len, (const unsigned char[]){ PLAN_LOOP, 1, 1, 2 }, 4);
        len += 4;
        if (i == DEEP - 1) {
            CHECK_INT(type_from_outline(bytes, len, &type), 0);
            CHECK_INT(type_get_outline(type, &outline), 0);
            type_unref(type);
        }
    }
    CHECK_INT(err_class(type_from_outline(bytes, len, &type)), MPI_ERR_TYPE);
}

static struct type *sample(void)
{
    MPI_Datatype types[24];
    MPI_Count disps[24];
    struct type *inner, *outer;

    for (int i = 0; i < 24; i++) {
        types[i] = i % 3 ? MPI_INT : i % 2 ? MPI_DOUBLE : MPI_SHORT;
        disps[i] = i * 16 + i * i;
    }
    inner = make_struct(24, types, disps);
    CHECK_INT(type_vector(MPI_COMBINER_HVECTOR, (const MPI_Count[]){ 5, 2, -4000 }, inner, true, &outer), 0);
    type_unref(inner);
    return outer;
}

/* Cut and changed: a type or an error, never more. */
static void check_nonsense(void)
{
    struct type *type = sample(), *again;
    const struct type_outline *outline;
    unsigned char *bytes;

    CHECK_INT(type_get_outline(type, &outline), 0);
    CHECK_INT(err_class(type_from_outline("", 0, &again)), MPI_ERR_TYPE);
    CHECK_INT(err_class(type_from_outline("\x01", 1, &again)), MPI_ERR_TYPE);
    CHECK_INT(err_class(type_from_outline("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, &again)), MPI_ERR_TYPE);
    for (size_t len = 1; len < outline->len; len++) {
        bytes = malloc(len);
        memcpy(bytes, outline->bytes, len);
        if (!type_from_outline(bytes, len, &again))
            type_unref(again);
        free(bytes);
    }
    bytes = malloc(outline->len);
    for (size_t i = 0; i < outline->len * 256; i++) {
        memcpy(bytes, outline->bytes, outline->len);
        bytes[i / 256] = (unsigned char)i;
        if (!type_from_outline(bytes, outline->len, &again))
            type_unref(again);
    }
    free(bytes);
    type_unref(type);
}

static void check_no_memory(void)
{
    const struct type_outline *outline;
    struct type *type = sample(), *again;
    int rc, n = 0;

    do {
        mem_fail_after(n++);
        rc = type_get_outline(type, &outline);
        mem_fail_after(-1);
        CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
    } while (rc);
    n = 0;
    do {
        mem_fail_after(n++);
        rc = type_from_outline(outline->bytes, outline->len, &again);
        mem_fail_after(-1);
        CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
    } while (rc);
    CHECK(n > 5);
    type_unref(again);
    type_unref(type);
}

/* What the data consist of. */
static void check_elements(void)
{
    struct type *type = sample(), *pair;

    CHECK(!type_element(type));
    type_unref(type);
    type = make_struct(2, (MPI_Datatype[]){ MPI_INT, MPI_INT32_T }, (MPI_Count[]){ 0, 20 });
    CHECK(type_is_alike(type_element(type), int_type()));
    CHECK(!type_is_alike(type_element(type), obj_type(MPI_LOGICAL)) && type_element(type)->is_basic);
    type_unref(type);
    type = make_struct(2, (MPI_Datatype[]){ MPI_DOUBLE_INT, MPI_DOUBLE_INT }, (MPI_Count[]){ 0, 40 });
    CHECK(type_element(type) == obj_type(MPI_DOUBLE_INT));
    type_unref(type);
    type = make_struct(2, (MPI_Datatype[]){ MPI_DOUBLE_INT, MPI_SHORT_INT }, (MPI_Count[]){ 0, 40 });
    CHECK(!type_element(type) && !type_element(type));
    type_unref(type);
    CHECK_INT(type_contiguous(0, int_type(), false, &type), 0);
    CHECK(!type_element(type));
    type_unref(type);
    for (int kind = TYPE_OTHER + 1; kind < TYPE_KINDS; kind++) {
        CHECK_INT(type_of_kind((enum type_kind)kind, &pair), 0);
        CHECK(!pair || pair->kind == kind);
        CHECK(pair || kind == TYPE_FLOAT16 || kind == TYPE_COMPLEX_FLOAT16 || kind >= TYPE_FLOAT_INT);
    }
}

int main(void)
{
    type_init();
    check_predefined();
    check_lengths();
    check_shared();
    check_deep();
    check_too_deep();
    check_nonsense();
    check_no_memory();
    check_elements();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
