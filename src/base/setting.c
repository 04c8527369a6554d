/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Reading settings from the environment. */
#include "base/setting.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"

/* Guards all settings against threads that read, write and fetch them. Whoever declares one looks at its value without
 * it, since it is read again only where that changes nothing. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int bad_value(const struct setting *setting, const char *value)
{
    if (setting->kind == SETTING_BOOL)
        return err(MPI_ERR_OTHER, "E0320: PARLEY_%s is \"%s\"; it must be 0, 1, yes, no, on or off", setting->name,
                   value);
    return err(MPI_ERR_OTHER, "E0320: PARLEY_%s is \"%s\"; it must be a number from %ld to %ld", setting->name, value,
               setting->min, setting->max);
}

static void set_value(struct setting *setting, long value)
{
    if (setting->value != value)
        setting->value = value;
}

static int read_int(struct setting *setting, const char *value)
{
    char *end;
    long number, scale = 1;

    errno = 0;
    number = strtol(value, &end, 0);
    if (end == value || errno)
        return bad_value(setting, value);
    if (*end && strchr("kKmMgG", *end) && !end[1])
        scale = strchr("kK", *end) ? 1L << 10 : strchr("mM", *end) ? 1L << 20 : 1L << 30;
    else if (*end)
        return bad_value(setting, value);
    if (__builtin_mul_overflow(number, scale, &number) || number < setting->min || number > setting->max)
        return bad_value(setting, value);
    set_value(setting, number);
    return 0;
}

static int read_bool(struct setting *setting, const char *value)
{
    static const char *const yes[] = { "1", "yes", "on", "true" }, *const no[] = { "0", "no", "off", "false" };

    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
            set_value(setting, !strcasecmp(value, yes[i]));
            return 0;
        }
    }
    return bad_value(setting, value);
}

/* The value of a setting in words, whoever it comes from. */
static int take(struct setting *setting, const char *value)
{
    switch (setting->kind) {
    case SETTING_INT:
        return read_int(setting, value);
    case SETTING_BOOL:
        return read_bool(setting, value);
    case SETTING_TEXT:
        if (setting->text != value)
            setting->text = value;
        break;
    }
    return 0;
}

int setting_read(struct setting *setting)
{
    char name[64];
    const char *value;
    int rc;

    snprintf(name, sizeof name, "PARLEY_%s", setting->name);
    pthread_mutex_lock(&lock);
    value = setting->is_written ? NULL : getenv(name);
    rc = value && *value ? take(setting, value) : 0;
    pthread_mutex_unlock(&lock);
    return rc;
}

void setting_reset(struct setting *setting, long value, const char *text)
{
    pthread_mutex_lock(&lock);
    if (!setting->is_written) {
        setting->value = value;
        setting->text = text;
    }
    pthread_mutex_unlock(&lock);
}

long setting_fetch(const struct setting *setting, char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    const long value = setting->value;
    if (size)
        snprintf(text, size, "%s", setting->text ? setting->text : "");
    pthread_mutex_unlock(&lock);
    return value;
}

int setting_write(struct setting *setting, const char *value)
{
    char *const kept = setting->kind == SETTING_TEXT ? mem_strdup(value) : NULL;
    const char *old = NULL;
    int rc;

    if (setting->kind == SETTING_TEXT && !kept)
        return err(MPI_ERR_NO_MEM, "no memory for the value of PARLEY_%s", setting->name);
    pthread_mutex_lock(&lock);
    if (kept && setting->is_written)
        old = setting->text;
    rc = take(setting, kept ? kept : value);
    if (!rc)
        setting->is_written = true;
    pthread_mutex_unlock(&lock);
    mem_free((char *)(uintptr_t)old);
    return rc;
}

/* Where the linker puts the list; in a program without settings there is none. */
#define FROM_LINKER(symbol) __asm__(symbol) __attribute__((weak, visibility("hidden")))
extern struct setting *const list_start[] FROM_LINKER("__start_parley_settings");
extern struct setting *const list_stop[] FROM_LINKER("__stop_parley_settings");

int setting_count(void)
{
    return (int)(list_stop - list_start);
}

struct setting *setting_at(int index)
{
    return list_start[index];
}

int setting_read_all(void)
{
    int rc = 0;

    for (int i = 0; i < setting_count() && !rc; i++)
        rc = setting_read(setting_at(i));
    return rc;
}
