/* SPDX-License-Identifier: BSD-3-Clause */
/* Long chains of types, on a small stack; places at the ends of what MPI_Count can say. */
#include "type/type.h"

#include <limits.h>
#include <pthread.h>

#include "base/check.h"
#include "base/err.h"

enum { CHAIN = 20000, STACK = 128 << 10, NESTED = 3000 };

/* Each is a copy of the one before, which the user has freed. */
static struct type *chain_of(struct type *first)
{
    struct type *type = first, *next;

    type_ref(first);
    for (int i = 0; i < CHAIN; i++) {
        CHECK_INT(type_dup(type, &next), 0);
        type_unref(type);
        type = next;
    }
    return type;
}

static void *free_chain(void *arg)
{
    struct type *const type = arg;

    CHECK(type_element(type) == obj_type(MPI_INT));
    CHECK_INT(type_free(type), 0);
    return NULL;
}

static void on_small_stack(void *(*function)(void *arg), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;

    CHECK_INT(pthread_attr_init(&attr), 0);
    CHECK_INT(pthread_attr_setstacksize(&attr, STACK), 0);
    CHECK_INT(pthread_create(&thread, &attr, function, arg), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

/* Those that somebody else holds stay. */
static void test_chain(void)
{
    struct type *const type = chain_of(obj_type(MPI_INT));
    struct type *vector, *kept, *chain;

    on_small_stack(free_chain, type);

    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ 3, 1, 2 }, obj_type(MPI_INT), false, &vector), 0);
    CHECK_INT(type_dup(vector, &kept), 0);
    chain = chain_of(kept);
    on_small_stack(free_chain, chain);
    CHECK_INT(kept->size, 12);
    CHECK_INT(type_free(vector), 0);
    CHECK_INT(type_free(kept), 0);
}

static int make_struct(const MPI_Count disps[2], struct type *first, struct type *second, struct type **out)
{
    static const int lengths[] = { 1, 1 };
    const MPI_Datatype types[] = { (MPI_Datatype)obj_handle(&first->obj), (MPI_Datatype)obj_handle(&second->obj) };
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = 2,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };

    return type_struct(&blocks, types, out);
}

/* Structs in structs, of elements that differ: their sequence is known when one is committed. */
static void test_nested(void)
{
    struct type *type = obj_type(MPI_DOUBLE), *next;
    MPI_Count at = 8;

    type_ref(type);
    for (int i = 0; i < NESTED; i++, at += i % 7 ? 16 : 24) {
        const MPI_Count disps[] = { 0, at };
        CHECK_INT(make_struct(disps, type, obj_type(i % 3 ? MPI_DOUBLE : MPI_INT), &next), 0);
        CHECK_INT(next->signature, 0);
        type_unref(type);
        type = next;
    }
    CHECK_INT(type_commit(type), 0);
    CHECK(type->signature);
    CHECK(type_element(type) == NULL);
    CHECK_INT(type->size, 8 + 4 * (NESTED / 3) + 8 * (NESTED - NESTED / 3));
    CHECK_INT(type_free(type), 0);
}

/* A list that is taken apart, since it stands in another one, begins where its end cannot be said. */
static void test_far_list(void)
{
    static const int lengths[] = { 1, 2, 1 };
    const MPI_Count quarter = (MPI_Count)1 << 62, disps[] = { 0, quarter, quarter + 100 };
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_HINDEXED, .count = 3,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    struct type *list, *type;

    CHECK_INT(type_indexed(&blocks, obj_type(MPI_INT), &list), 0);
    CHECK_INT(err_class(make_struct((const MPI_Count[]){ quarter + quarter / 2, 0 }, list, obj_type(MPI_INT), &type)),
              MPI_ERR_COUNT);
    CHECK_INT(make_struct((const MPI_Count[]){ -quarter, 0 }, list, obj_type(MPI_INT), &type), 0);
    CHECK_INT(type->true_lb, -quarter);
    CHECK_INT(type->true_extent, quarter + 104);
    CHECK_INT(type_free(type), 0);
    CHECK_INT(type_free(list), 0);
}

/* The extent is rounded up, and the upper bound can be said no more. */
static void test_far_bound(void)
{
    struct type *type, *copy;

    CHECK_INT(err_class(make_struct((const MPI_Count[]){ 8, INT64_MAX - 8 }, obj_type(MPI_CHAR), obj_type(MPI_DOUBLE),
                                    &type)), MPI_ERR_COUNT);
    CHECK_INT(make_struct((const MPI_Count[]){ 7, INT64_MAX - 8 }, obj_type(MPI_CHAR), obj_type(MPI_DOUBLE), &type), 0);
    CHECK_INT(type_dup(type, &copy), 0);
    CHECK_INT(copy->lb, 7);
    CHECK_INT(copy->extent, INT64_MAX - 7);
    CHECK_INT(type_free(type), 0);
    CHECK_INT(type_free(copy), 0);
}

/* Room for items has what the bounds add. */
static void test_room(void)
{
    struct type *type;
    struct type_span room;

    CHECK_INT(type_resized(obj_type(MPI_INT), -8, 64, false, &type), 0);
    room = type_room(type, 3);
    CHECK_INT(room.low, -8);
    CHECK_INT(room.len, 3 * 64);
    CHECK_INT(type_span(type, 3).len, 2 * 64 + 4);
    CHECK_INT(type_room(type, 0).len, 0);
    CHECK_INT(type_free(type), 0);
    CHECK_INT(type_resized(obj_type(MPI_INT), 0, -16, false, &type), 0);
    room = type_room(type, 3);
    CHECK_INT(room.low, -32);
    CHECK_INT(room.len, 36);
    CHECK_INT(type_free(type), 0);
}

int main(void)
{
    type_init();
    test_chain();
    test_nested();
    test_far_list();
    test_far_bound();
    test_room();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
