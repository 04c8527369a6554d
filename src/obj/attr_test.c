/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test: keys and attributes: their life, callbacks that fail and that call back, every way in which memory can
 * fail, many keys. */
#include "obj/attr.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "obj/comm.h"

enum { USER_CODE = 20000 };

/* The callbacks write down what they are called with. */
static struct {
    int count, result;
    uintptr_t values[64];
} deleted;

static int copies_until_failure = -1;

static int note_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(comm && keyval > 4096 && extra == &deleted);
    if (deleted.result)
        return deleted.result;
    CHECK(deleted.count < 64);
    deleted.values[deleted.count++] = (uintptr_t)value;
    return 0;
}

/* Keeps odd values, ten times as large. */
static int copy_odd(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
    const uintptr_t copied = (uintptr_t)value * 10;

    CHECK(comm && keyval > 4096 && extra == &deleted && !*flag);
    if (copies_until_failure-- == 0)
        return USER_CODE;
    *flag = (uintptr_t)value % 2 == 1;
    memcpy(out, &copied, sizeof copied);
    return 0;
}

static int make_key(void (*copy)(void))
{
    int key = 0;

    CHECK_INT(attr_keyval_create(OBJ_COMM, copy, (void (*)(void))note_delete, &deleted, &key), 0);
    return key;
}

static void free_key(int key)
{
    CHECK_INT(attr_keyval_free(OBJ_COMM, &key), 0);
    CHECK_INT(key, MPI_KEYVAL_INVALID);
}

static void *word(uintptr_t value)
{
    return (void *)value;
}

static struct comm *make_comm(void)
{
    struct comm *comm = obj_create(OBJ_COMM, sizeof *comm);

    CHECK(comm);
    memset(&deleted, 0, sizeof deleted);
    return comm;
}

static void check_value(struct comm *comm, int key, long want)
{
    void *value = NULL;
    int flag = -1;

    CHECK_INT(attr_get(&comm->obj, &comm->attrs, key, &value, &flag), 0);
    CHECK_INT(flag, want >= 0);
    if (want >= 0)
        CHECK_INT((long)(uintptr_t)value, want);
}

static int set(struct comm *comm, int key, uintptr_t value)
{
    return attr_set(&comm->obj, &comm->attrs, key, word(value));
}

static void test_life(void)
{
    const long live = mem_live();
    struct comm *comm = make_comm();
    const int a = make_key(NULL), b = make_key(NULL);
    int copy_of_a = a;

    CHECK(a != b);
    check_value(comm, a, -1);
    CHECK_INT(set(comm, a, 1), 0);
    CHECK_INT(set(comm, b, 2), 0);
    CHECK_INT(set(comm, a, 3), 0); /* deletes 1, and is the last one set now */
    CHECK(deleted.count == 1 && deleted.values[0] == 1);
    free_key(a);
    check_value(comm, a, 3); /* in use: still there, and may be freed again */
    free_key(a);
    CHECK_INT(err_class(set(comm, a, 4)), MPI_ERR_KEYVAL);
    CHECK_INT(attr_delete_all(&comm->obj, &comm->attrs), 0);
    CHECK(deleted.count == 3 && deleted.values[1] == 3 && deleted.values[2] == 2);
    CHECK(!comm->attrs);
    CHECK_INT(err_class(attr_keyval_free(OBJ_COMM, &copy_of_a)), MPI_ERR_KEYVAL);
    CHECK_INT(attr_delete(&comm->obj, &comm->attrs, b), 0); /* there is none */
    free_key(b);
    obj_destroy(&comm->obj);
    obj_fini();
    CHECK_INT(mem_live() - live, 0);
}

static void test_wrong_keys(void)
{
    struct comm *comm = make_comm();
    int type_key, flag;
    void *value;
    const int old = make_key(NULL);

    CHECK_INT(attr_keyval_create(OBJ_TYPE, NULL, NULL, NULL, &type_key), 0);
    free_key(old);
    const int wrong[] = { MPI_KEYVAL_INVALID, MPI_TAG_UB, MPI_UNIVERSE_SIZE, MPI_WIN_BASE, MPI_WIN_MODEL, 1, -1,
                          2147483647, old, type_key };
    const int key = make_key(NULL); /* has the slot of the old one */
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        int copy = wrong[i];

        CHECK_INT(err_class(attr_get(&comm->obj, &comm->attrs, wrong[i], &value, &flag)), MPI_ERR_KEYVAL);
        CHECK_INT(err_class(set(comm, wrong[i], 1)), MPI_ERR_KEYVAL);
        CHECK_INT(err_class(attr_delete(&comm->obj, &comm->attrs, wrong[i])), MPI_ERR_KEYVAL);
        CHECK_INT(err_class(attr_keyval_free(OBJ_COMM, &copy)), MPI_ERR_KEYVAL);
        CHECK_INT(copy, wrong[i]);
    }
    CHECK_INT(attr_keyval_free(OBJ_TYPE, &type_key), 0);
    free_key(key);
    obj_destroy(&comm->obj);
}

static void test_failing_delete(void)
{
    struct comm *comm = make_comm();
    const int key = make_key(NULL), other = make_key(NULL);

    CHECK_INT(set(comm, other, 6), 0);
    CHECK_INT(set(comm, key, 5), 0);
    deleted.result = USER_CODE;
    CHECK_INT(attr_delete(&comm->obj, &comm->attrs, key), USER_CODE);
    CHECK_INT(set(comm, key, 7), USER_CODE);
    CHECK_INT(attr_delete_all(&comm->obj, &comm->attrs), USER_CODE);
    deleted.result = MPI_ERR_TAG;
    CHECK_INT(err_class(attr_delete(&comm->obj, &comm->attrs, key)), MPI_ERR_TAG);
    check_value(comm, key, 5);
    check_value(comm, other, 6);
    free_key(key);
    free_key(other);
    attr_drop_all(&comm->attrs);
    CHECK_INT(deleted.count, 0);
    obj_destroy(&comm->obj);
}

static void test_copy(void)
{
    struct comm *comm = make_comm(), *copy = make_comm();
    const int keys[] = { make_key((void (*)(void))copy_odd), make_key(NULL),
                         make_key((void (*)(void))MPI_COMM_DUP_FN), make_key((void (*)(void))copy_odd),
                         make_key((void (*)(void))copy_odd) };
    const long live = mem_live();

    CHECK_INT(attr_copy(&comm->obj, &comm->attrs, &copy->obj, &copy->attrs), 0);
    CHECK(!copy->attrs && mem_live() == live); /* none cost nothing */
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        CHECK_INT(set(comm, keys[i], i + 10), 0);
    CHECK_INT(attr_copy(&comm->obj, &comm->attrs, &copy->obj, &copy->attrs), 0);
    check_value(copy, keys[0], -1); /* even */
    check_value(copy, keys[1], -1); /* MPI_COMM_NULL_COPY_FN */
    check_value(copy, keys[2], 12);
    check_value(copy, keys[3], 130);
    check_value(copy, keys[4], -1);
    CHECK_INT(attr_delete_all(&copy->obj, &copy->attrs), 0);
    CHECK(deleted.count == 2 && deleted.values[0] == 130 && deleted.values[1] == 12);
    copies_until_failure = 2; /* two are made, the third one fails: they go again */
    CHECK_INT(attr_copy(&comm->obj, &comm->attrs, &copy->obj, &copy->attrs), USER_CODE);
    CHECK(!copy->attrs && deleted.count == 4);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        free_key(keys[i]);
    CHECK_INT(attr_delete_all(&comm->obj, &comm->attrs), 0);
    CHECK_INT(deleted.count, 9);
    obj_destroy(&comm->obj);
    obj_destroy(&copy->obj);
}

static struct {
    struct comm *comm;
    int own, other;
} calling;

/* A callback that uses what it is called from. */
static int delete_and_call(MPI_Comm handle, int keyval, void *value, void *extra)
{
    struct comm *comm = calling.comm;
    int freed = keyval;

    CHECK(obj_comm(handle) == comm && keyval == calling.own && !extra);
    check_value(comm, keyval, (long)(uintptr_t)value);
    CHECK_INT(err_class(attr_delete(&comm->obj, &comm->attrs, keyval)), MPI_ERR_KEYVAL);
    CHECK_INT(err_class(set(comm, keyval, 1)), MPI_ERR_KEYVAL);
    CHECK_INT(err_class(attr_delete_all(&comm->obj, &comm->attrs)), MPI_ERR_KEYVAL);
    CHECK_INT(set(comm, calling.other, 3), 0);
    CHECK_INT(attr_keyval_free(OBJ_COMM, &freed), 0);
    return 0;
}

static void test_calling_back(void)
{
    struct comm *comm = make_comm();

    calling.comm = comm;
    calling.other = make_key(NULL);
    CHECK_INT(attr_keyval_create(OBJ_COMM, NULL, (void (*)(void))delete_and_call, NULL, &calling.own), 0);
    CHECK_INT(set(comm, calling.own, 8), 0);
    CHECK_INT(attr_delete_all(&comm->obj, &comm->attrs), 0);
    CHECK(deleted.count == 1 && deleted.values[0] == 3);
    int gone = calling.own;
    CHECK_INT(err_class(attr_keyval_free(OBJ_COMM, &gone)), MPI_ERR_KEYVAL);
    free_key(calling.other);
    obj_destroy(&comm->obj);
}

/* One run with memory for `n` allocations: true if that was enough. Whatever fails leaves nothing behind. */
static bool run_with_memory(struct comm *comm, struct comm *copy, long n)
{
    int key[3] = { 0 }, rc = 0;

    mem_fail_after(n);
    for (int i = 0; i < 3 && !rc; i++) {
        rc = attr_keyval_create(OBJ_COMM, (void (*)(void))MPI_COMM_DUP_FN, (void (*)(void))note_delete, &deleted,
                                &key[i]);
        if (!rc)
            rc = set(comm, key[i], (uintptr_t)i);
    }
    if (!rc)
        rc = attr_copy(&comm->obj, &comm->attrs, &copy->obj, &copy->attrs);
    mem_fail_after(-1);
    CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
    CHECK(!rc || !copy->attrs);
    CHECK_INT(attr_delete_all(&copy->obj, &copy->attrs), 0);
    CHECK_INT(attr_delete_all(&comm->obj, &comm->attrs), 0);
    for (int i = 0; i < 3; i++)
        if (key[i])
            free_key(key[i]);
    return !rc;
}

static void test_memory(void)
{
    struct comm *comm = make_comm(), *copy = make_comm();
    const long live = mem_live();
    long n = 0;

    while (!run_with_memory(comm, copy, n)) {
        CHECK_INT(mem_live() - live, 0);
        memset(&deleted, 0, sizeof deleted);
        n++;
    }
    CHECK(n > 5);
    CHECK_INT(mem_live() - live, 0);
    obj_destroy(&comm->obj);
    obj_destroy(&copy->obj);
}

/* As many as there can be; and the same slot again and again. */
static void test_many_keys(void)
{
    enum { MOST = 1 << 20 };
    int *keys = malloc(MOST * sizeof *keys), last = 0, extra;
    const long live = mem_live();

    for (int i = 0; i < 10000; i++) {
        const int key = make_key(NULL);

        CHECK(key != last);
        free_key(key);
        last = key;
    }
    CHECK_INT(mem_live() - live, 0);
    for (int i = 0; i < MOST; i++)
        keys[i] = make_key(NULL);
    CHECK_INT(err_class(attr_keyval_create(OBJ_COMM, NULL, NULL, NULL, &extra)), MPI_ERR_OTHER);
    free_key(keys[77]);
    keys[77] = make_key(NULL);
    for (int i = 0; i < MOST; i++)
        free_key(keys[i]);
    CHECK_INT(mem_live() - live, 0);
    free(keys);
}

int main(void)
{
    test_life();
    test_wrong_keys();
    test_failing_delete();
    test_copy();
    test_calling_back();
    test_memory();
    test_many_keys();
    return 0;
}
