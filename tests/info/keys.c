/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §10: keys of an info object have numbers from 0 on, which stay while no key is added or deleted; keys and
 * values of all lengths to MPI_MAX_INFO_KEY - 1 and MPI_MAX_INFO_VAL - 1 characters come back whole, and parts of
 * values as asked; capitals and blanks count; a copy goes its own way. */
#include "mpitest.h"

enum { KEYS = 100 };

static void check_value(MPI_Info info, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int len = sizeof value, flag;

    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK_INT(flag != 0, want != NULL);
    if (!want)
        return;
    CHECK_INT(len, strlen(want) + 1);
    CHECK(!strcmp(value, want), "%s is \"%.40s\"", key, value);
}

/* The form before MPI_Info_get_string (deprecated, §16.3): the length does not count the zero. */
static void check_length(MPI_Info info, const char *key, const char *want)
{
    int len = -7, flag = -1;

    CHECK_OK(MPI_Info_get_valuelen(info, key, &len, &flag));
    CHECK_INT(flag != 0, want != NULL);
    CHECK_INT(len, want ? (int)strlen(want) : -7);
}

static void check_part(MPI_Info info, const char *key, int room, const char *want, int whole)
{
    char value[32];
    int len = room, flag;

    memset(value, '#', sizeof value);
    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && len == whole + 1, "flag %d, length %d", flag, len);
    if (room)
        CHECK(!strcmp(value, want), "\"%.30s\" instead of \"%s\"", value, want);
    CHECK(value[room] == '#', "more than %d characters written", room);
}

static void count_and_order(MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1], again[MPI_MAX_INFO_KEY + 1];
    int count, seen[KEYS] = { 0 }, number;

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK_OK(MPI_Info_set(info, key, key));
    }
    CHECK_OK(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, KEYS);
    for (int i = 0; i < KEYS; i++) {
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK_OK(MPI_Info_set(info, key, "changed")); /* no new key: the numbers stay */
        CHECK_OK(MPI_Info_get_nthkey(info, i, again));
        CHECK(!strcmp(key, again), "key %d was %s, is %s", i, key, again);
        CHECK(sscanf(key, "key%d", &number) == 1 && number >= 0 && number < KEYS && !seen[number]++, "key %s", key);
        check_value(info, key, "changed");
    }
    CHECK_CLASS(MPI_Info_get_nthkey(info, KEYS, key), MPI_ERR_ARG);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK_OK(MPI_Info_delete(info, key));
        check_value(info, key, NULL);
        CHECK_CLASS(MPI_Info_delete(info, key), MPI_ERR_INFO_NOKEY);
    }
    CHECK_OK(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 0);
}

static void lengths(MPI_Info info)
{
    static char key[MPI_MAX_INFO_KEY + 2], value[MPI_MAX_INFO_VAL + 2];

    for (int len = 1; len < MPI_MAX_INFO_KEY; len += 51) {
        memset(key, 'k', (size_t)len);
        key[len] = '\0';
        memset(value, 'v', (size_t)len * 4);
        value[len * 4] = '\0';
        CHECK_OK(MPI_Info_set(info, key, value));
        check_value(info, key, value);
        check_length(info, key, value);
        CHECK_OK(MPI_Info_delete(info, key));
        check_length(info, key, NULL);
    }
    memset(value, 'v', MPI_MAX_INFO_VAL - 1);
    value[MPI_MAX_INFO_VAL - 1] = '\0';
    CHECK_OK(MPI_Info_set(info, "longest", value));
    check_value(info, "longest", value);
    memset(key, 'k', MPI_MAX_INFO_KEY + 1);
    key[MPI_MAX_INFO_KEY + 1] = '\0';
    CHECK_CLASS(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    memset(value, 'v', MPI_MAX_INFO_VAL + 1);
    value[MPI_MAX_INFO_VAL + 1] = '\0';
    CHECK_CLASS(MPI_Info_set(info, "x", value), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_delete(info, "longest"));
}

int main(int argc, char **argv)
{
    MPI_Info info, copy;
    int flag, len = 0;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Info_create(&info));
    count_and_order(info);
    lengths(info);
    CHECK_OK(MPI_Info_set(info, "Key", " first "));
    CHECK_OK(MPI_Info_set(info, "key", "second"));
    CHECK_OK(MPI_Info_set(info, "empty", ""));
    check_value(info, "Key", " first ");
    check_value(info, "empty", "");
    check_part(info, "key", 0, "", 6);
    check_part(info, "key", 1, "", 6);
    check_part(info, "key", 4, "sec", 6);
    check_part(info, "key", 7, "second", 6);
    CHECK_OK(MPI_Info_get_string(info, "key", &len, NULL, &flag));
    CHECK(flag && len == 7, "flag %d, length %d", flag, len);
    len = 5;
    CHECK_OK(MPI_Info_get_string(info, "other", &len, (char[5]){ 0 }, &flag));
    CHECK(!flag && len == 5, "flag %d, length %d", flag, len);
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_set(info, "key", "third"));
    CHECK_OK(MPI_Info_delete(copy, "Key"));
    check_value(copy, "key", "second");
    check_value(info, "Key", " first ");
    CHECK_OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL, "the handle is still there");
    check_value(copy, "key", "second");
    CHECK_OK(MPI_Info_free(&copy));
    return test_end();
}
