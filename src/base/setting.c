/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Reading settings from the environment. */
#include "base/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

static int bad_value(const struct setting *setting, const char *value)
{
    if (setting->kind == SETTING_BOOL)
        return err(MPI_ERR_OTHER, "E0320: PARLEY_%s is \"%s\"; it must be 0, 1, yes, no, on or off", setting->name,
                   value);
    return err(MPI_ERR_OTHER, "E0320: PARLEY_%s is \"%s\"; it must be a number from %ld to %ld", setting->name, value,
               setting->min, setting->max);
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
    setting->value = number;
    return 0;
}

static int read_bool(struct setting *setting, const char *value)
{
    static const char *const yes[] = { "1", "yes", "on", "true" }, *const no[] = { "0", "no", "off", "false" };

    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
            setting->value = !strcasecmp(value, yes[i]);
            return 0;
        }
    }
    return bad_value(setting, value);
}

int setting_read(struct setting *setting)
{
    char name[64];
    const char *value;

    snprintf(name, sizeof name, "PARLEY_%s", setting->name);
    value = getenv(name);
    if (!value || !*value)
        return 0;
    switch (setting->kind) {
    case SETTING_INT:
        return read_int(setting, value);
    case SETTING_BOOL:
        return read_bool(setting, value);
    case SETTING_TEXT:
        setting->text = value;
        break;
    }
    return 0;
}
