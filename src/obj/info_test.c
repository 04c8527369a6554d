/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test: info objects, their limits, and every way in which memory can fail. */
#include "obj/info.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"

static void test_set_get(void)
{
    struct info *info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag, buflen;

    CHECK_INT(info_create(&info), 0);
    CHECK_INT(info_set(info, "one", "first"), 0);
    CHECK_INT(info_set(info, "two", ""), 0);
    CHECK_INT(info_set(info, "one", "again"), 0);
    CHECK_INT(info_count(info), 2);
    buflen = 3;
    CHECK_INT(info_get_string(info, "one", &buflen, value, &flag), 0);
    CHECK(flag && strcmp(value, "ag") == 0);
    CHECK_INT(buflen, 6);
    buflen = 0;
    CHECK_INT(info_get_string(info, "two", &buflen, NULL, &flag), 0);
    CHECK(flag && buflen == 1);
    buflen = 7;
    CHECK_INT(info_get_string(info, "three", &buflen, value, &flag), 0);
    CHECK(!flag && buflen == 7);
    CHECK_INT(info_get_old(info, "one", 2, value, &flag), 0);
    CHECK(flag && strcmp(value, "ag") == 0);
    CHECK_INT(info_get_valuelen(info, "one", &buflen, &flag), 0);
    CHECK_INT(buflen, 5);
    info_unref(info);
}

static void test_order(void)
{
    struct info *info, *copy;
    char key[MPI_MAX_INFO_KEY];

    CHECK_INT(info_create(&info), 0);
    for (char name[2] = "a"; name[0] <= 'z'; name[0]++)
        CHECK_INT(info_set(info, name, name), 0);
    CHECK_INT(info_delete(info, "c"), 0);
    CHECK_INT(info_dup(info, &copy), 0);
    info_unref(info);
    CHECK_INT(info_count(copy), 25);
    CHECK_INT(info_nth_key(copy, 2, key), 0);
    CHECK(strcmp(key, "d") == 0);
    CHECK_INT(info_nth_key(copy, 24, key), 0);
    CHECK(strcmp(key, "z") == 0);
    CHECK_INT(err_class(info_nth_key(copy, 25, key)), MPI_ERR_ARG);
    CHECK_INT(err_class(info_nth_key(copy, -1, key)), MPI_ERR_ARG);
    CHECK_INT(err_class(info_delete(copy, "c")), MPI_ERR_INFO_NOKEY);
    info_unref(copy);
}

static void test_limits(void)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 2], back[MPI_MAX_INFO_VAL + 1];
    struct info *info;
    int flag, length = -1;

    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY] = '\0';
    memset(value, 'v', sizeof value);
    value[MPI_MAX_INFO_VAL + 1] = '\0';
    CHECK_INT(info_create(&info), 0);
    CHECK_INT(err_class(info_set(info, key, "x")), MPI_ERR_INFO_KEY);
    CHECK_INT(err_class(info_set(info, "", "x")), MPI_ERR_INFO_KEY);
    CHECK_INT(err_class(info_get_valuelen(info, key, &length, &flag)), MPI_ERR_INFO_KEY);
    CHECK_INT(err_class(info_delete(info, "")), MPI_ERR_INFO_KEY);
    CHECK_INT(err_class(info_set(info, "x", value)), MPI_ERR_INFO_VALUE);
    CHECK_INT(info_count(info), 0);
    key[MPI_MAX_INFO_KEY - 1] = '\0';
    value[MPI_MAX_INFO_VAL] = '\0';
    CHECK_INT(info_set(info, key, value), 0);
    CHECK_INT(info_get_old(info, key, MPI_MAX_INFO_VAL, back, &flag), 0);
    CHECK(flag && strcmp(back, value) == 0);
    CHECK_INT(err_class(info_get_old(info, key, -1, back, &flag)), MPI_ERR_ARG);
    length = -1;
    CHECK_INT(err_class(info_get_string(info, key, &length, back, &flag)), MPI_ERR_ARG);
    info_unref(info);
}

static void test_env(void)
{
    char *argv[] = { (char *)"program", (char *)"-x", (char *)"y z", NULL }, value[512];
    struct info *info;
    int flag, buflen = sizeof value;

    info_init();
    CHECK_INT(info_set(&info_env, "thread_level", "MPI_THREAD_SINGLE"), 0);
    CHECK_INT(err_class(info_set_by_user(&info_env, "a", "b")), MPI_ERR_INFO);
    CHECK_INT(err_class(info_delete(&info_env, "thread_level")), MPI_ERR_INFO);
    CHECK_INT(err_class(info_free(&info_env)), MPI_ERR_INFO);
    CHECK(obj_info(MPI_INFO_ENV) == &info_env && !obj_info(MPI_INFO_NULL));
    CHECK_INT(info_create_env(3, argv, &info), 0);
    CHECK_INT(info_get_string(info, "argv", &buflen, value, &flag), 0);
    CHECK(flag && strcmp(value, "-x y z") == 0);
    buflen = sizeof value;
    CHECK_INT(info_get_string(info, "command", &buflen, value, &flag), 0);
    CHECK(flag && strcmp(value, "program") == 0);
    CHECK_INT(info_set_by_user(info, "a", "b"), 0);
    info_unref(info);
    CHECK_INT(info_create_env(0, NULL, &info), 0); /* this program's own */
    buflen = sizeof value;
    CHECK_INT(info_get_string(info, "command", &buflen, value, &flag), 0);
    CHECK(flag && strstr(value, "info_test"));
    info_unref(info);
    info_fini();
}

static void test_env_without_memory(void)
{
    struct info *info;
    int rc = -1;

    obj_fini();
    const long live = mem_live();
    for (long n = 0; rc; n++) {
        mem_fail_after(n);
        rc = info_create_env(0, NULL, &info);
        mem_fail_after(-1);
        CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
    }
    info_unref(info);
    obj_fini();
    CHECK_INT(mem_live() - live, 0);
}

/* The n-th allocation fails, for every n, and nothing is left behind. */
static void test_no_memory(void)
{
    for (long n = 0, done = 0; !done; n++) {
        const long live = mem_live();
        struct info *info = NULL, *copy = NULL;
        int rc;

        mem_fail_after(n);
        rc = info_create(&info);
        for (char name[2] = "a"; !rc && name[0] <= 'f'; name[0]++)
            rc = info_set(info, name, "value");
        rc = rc ? rc : info_set(info, "a", "other");
        rc = rc ? rc : info_dup(info, &copy);
        done = rc == 0;
        mem_fail_after(-1);
        CHECK(rc == 0 || err_class(rc) == MPI_ERR_NO_MEM);
        if (!rc)
            info_unref(copy);
        info_unref(info);
        obj_fini();
        CHECK(mem_live() <= live);
    }
}

int main(void)
{
    test_set_get();
    test_order();
    test_limits();
    test_env();
    test_env_without_memory();
    test_no_memory();
    obj_fini();
    CHECK_INT((int)mem_live(), 0);
    return 0;
}
