/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Info objects: a short array searched from the front. Knows: base, sys (the program's arguments). */
#include "obj/info.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/args.h"

struct info info_env;

static bool has_requests = true; /* the environment is that of a rank */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void info_init(void)
{
    obj_predefine(&info_env.obj, OBJ_INFO, (uintptr_t)MPI_INFO_ENV);
}

int info_create(struct info **out)
{
    *out = obj_create(OBJ_INFO, sizeof **out);
    return *out ? 0 : err(MPI_ERR_NO_MEM, "no memory for an info object");
}

static void entries_free(struct info *info)
{
    for (int i = 0; i < info->count; i++) {
        mem_free(info->entries[i].key);
        mem_free(info->entries[i].value);
    }
    mem_free(info->entries);
    info->entries = NULL;
    info->count = info->room = 0;
}

void info_unref(struct info *info)
{
    if (!info || !obj_unref(&info->obj))
        return;
    entries_free(info);
    obj_destroy(&info->obj);
}

int info_free(struct info *info)
{
    if (info->obj.predefined)
        return err(MPI_ERR_INFO, "E0343: info is MPI_INFO_ENV, which is predefined and cannot be freed");
    info_unref(info);
    return 0;
}

void info_fini(void)
{
    entries_free(&info_env);
}

/* Call with the lock. */
static struct info_entry *find(struct info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->entries[i].key, key) == 0)
            return &info->entries[i];
    return NULL;
}

/* Call with the lock. */
static int append(struct info *info, const char *key, const char *value)
{
    struct info_entry entry = { mem_strdup(key), mem_strdup(value) };

    if (entry.key && entry.value && info->count == info->room) {
        const int room = info->room ? 2 * info->room : 4;
        struct info_entry *entries = mem_realloc(info->entries, (size_t)room * sizeof *entries);

        if (entries) {
            info->entries = entries;
            info->room = room;
        }
    }
    if (!entry.key || !entry.value || info->count == info->room) {
        mem_free(entry.key);
        mem_free(entry.value);
        return err(MPI_ERR_NO_MEM, "no memory for info key \"%s\"", key);
    }
    info->entries[info->count++] = entry;
    return 0;
}

static int replace(struct info_entry *entry, const char *value)
{
    char *copy = mem_strdup(value);

    if (!copy)
        return err(MPI_ERR_NO_MEM, "no memory for the value of info key \"%s\"", entry->key);
    mem_free(entry->value);
    entry->value = copy;
    return 0;
}

static int check_key(const char *key)
{
    const size_t len = strlen(key);

    if (len > 0 && len < MPI_MAX_INFO_KEY)
        return 0;
    return err(MPI_ERR_INFO_KEY, "key \"%.40s%s\" has %zu characters; it must have 1 to %d", key,
               len > 40 ? "..." : "", len, MPI_MAX_INFO_KEY - 1);
}

int info_set(struct info *info, const char *key, const char *value)
{
    const size_t len = strlen(value);
    int rc = check_key(key);

    if (rc)
        return rc;
    if (len > MPI_MAX_INFO_VAL)
        return err(MPI_ERR_INFO_VALUE, "value of key \"%s\" has %zu characters; it may have %d", key, len,
                   MPI_MAX_INFO_VAL);
    pthread_mutex_lock(&lock);
    struct info_entry *entry = find(info, key);
    rc = entry ? replace(entry, value) : append(info, key, value);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int check_writable(const struct info *info)
{
    return info->obj.predefined ? err(MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed") : 0;
}

int info_set_by_user(struct info *info, const char *key, const char *value)
{
    const int rc = check_writable(info);

    return rc ? rc : info_set(info, key, value);
}

int info_delete(struct info *info, const char *key)
{
    int rc = check_writable(info);

    if (rc || (rc = check_key(key)))
        return rc;
    pthread_mutex_lock(&lock);
    struct info_entry *entry = find(info, key);
    if (entry) {
        const size_t behind = (size_t)(info->entries + info->count - entry) - 1;

        mem_free(entry->key);
        mem_free(entry->value);
        memmove(entry, entry + 1, behind * sizeof *entry);
        info->count--;
    }
    pthread_mutex_unlock(&lock);
    return entry ? 0 : err(MPI_ERR_INFO_NOKEY, "key \"%s\" is not in the info object", key);
}

int info_dup(struct info *info, struct info **out)
{
    int rc = info_create(out);

    if (rc || !info)
        return rc;
    pthread_mutex_lock(&lock);
    for (int i = 0; !rc && i < info->count; i++)
        rc = append(*out, info->entries[i].key, info->entries[i].value);
    pthread_mutex_unlock(&lock);
    if (rc)
        info_unref(*out);
    return rc;
}

int info_get(struct info *info, const char *key, size_t size, char *value, size_t *length, int *flag)
{
    const int rc = check_key(key);

    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    const struct info_entry *entry = find(info, key);
    *flag = entry != NULL;
    if (entry) {
        *length = strlen(entry->value);
        if (size > 0) {
            const size_t copied = size_min(*length, size - 1);

            memcpy(value, entry->value, copied);
            value[copied] = '\0';
        }
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int info_count(struct info *info)
{
    pthread_mutex_lock(&lock);
    const int count = info->count;
    pthread_mutex_unlock(&lock);
    return count;
}

int info_nth_key(struct info *info, int n, char *key)
{
    pthread_mutex_lock(&lock);
    const int count = info->count;
    if (n >= 0 && n < count)
        memcpy(key, info->entries[n].key, strlen(info->entries[n].key) + 1);
    pthread_mutex_unlock(&lock);
    if (n >= 0 && n < count)
        return 0;
    return err(MPI_ERR_ARG, "n is %d; the info object has %d keys, counted from 0", n, count);
}

/* buflen counts the zero, going in and coming out (§10). */
int info_get_string(struct info *info, const char *key, int *buflen, char *value, int *flag)
{
    size_t length = 0;
    int rc;

    if (*buflen < 0)
        return err(MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
    if (*buflen > 0 && !value)
        return err(MPI_ERR_ARG, "value is NULL, but buflen is %d", *buflen);
    rc = info_get(info, key, (size_t)*buflen, value, &length, flag);
    if (!rc && *flag)
        *buflen = (int)length + 1;
    return rc;
}

/* valuelen does not count the zero (§16.3). */
int info_get_old(struct info *info, const char *key, int valuelen, char *value, int *flag)
{
    size_t length;

    if (valuelen < 0)
        return err(MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
    return info_get(info, key, (size_t)valuelen + 1, value, &length, flag);
}

int info_get_valuelen(struct info *info, const char *key, int *valuelen, int *flag)
{
    size_t length = 0;
    const int rc = info_get(info, key, 0, NULL, &length, flag);

    if (!rc && *flag)
        *valuelen = (int)length;
    return rc;
}

/* Arguments behind the program's name, separated by blanks and cut at the longest value there may be. */
static void join_arguments(char *text, size_t size, int argc, char *argv[])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 1; i < argc && argv[i] && used < size - 1; i++) {
        const int added = snprintf(text + used, size - used, "%s%s", i > 1 ? " " : "", argv[i]);

        used = size_min(used + (size_t)added, size - 1);
    }
}

static int set_cut(struct info *info, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL + 1];

    snprintf(text, sizeof text, "%.*s", MPI_MAX_INFO_VAL, value);
    return info_set(info, key, text);
}

static int set_program(struct info *info, int argc, char *argv[])
{
    char arguments[MPI_MAX_INFO_VAL + 1];
    int rc;

    if (argc <= 0 || !argv || !argv[0])
        argc = args_get(&argv);
    if (argc <= 0 || !argv[0])
        return 0;
    join_arguments(arguments, sizeof arguments, argc, argv);
    rc = set_cut(info, "command", argv[0]);
    return rc || !arguments[0] ? rc : info_set(info, "argv", arguments);
}

static int set_place(struct info *info)
{
    char directory[PATH_MAX];
    struct utsname names;
    int rc = 0;

    if (!uname(&names)) {
        rc = set_cut(info, "host", names.nodename);
        if (!rc)
            rc = set_cut(info, "arch", names.machine);
    }
    return !rc && getcwd(directory, sizeof directory) ? set_cut(info, "wdir", directory) : rc;
}

void info_hide_requests(void)
{
    has_requests = false;
}

/* What mpiexec was asked for. */
static int set_requests(struct info *info)
{
    static const char *const keys[][2] = {
        { "maxprocs", "PARLEY_MAXPROCS" }, { "soft", "PARLEY_SOFT" }, { "file", "PARLEY_FILE" },
        { "mpi_initial_errhandler", "PARLEY_ERRHANDLER" }, { "mpi_memory_alloc_kinds", "PARLEY_MEMORY_KINDS" },
    };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(keys) && !rc && has_requests && getenv("PARLEY_JOB"); i++) {
        const char *value = getenv(keys[i][1]);

        rc = value ? set_cut(info, keys[i][0], value) : 0;
    }
    return rc;
}

int info_fill_env(struct info *info, int argc, char *argv[])
{
    int rc = set_program(info, argc, argv);

    if (!rc)
        rc = set_place(info);
    return rc ? rc : set_requests(info);
}

int info_create_env(int argc, char *argv[], struct info **out)
{
    size_t length;
    int flag = 0, rc = info_dup(&info_env, out);

    if (rc)
        return rc;
    info_get(*out, "thread_level", 0, NULL, &length, &flag);
    if (flag)
        info_delete(*out, "thread_level");
    rc = info_fill_env(*out, argc, argv);
    if (rc)
        info_unref(*out);
    return rc;
}
