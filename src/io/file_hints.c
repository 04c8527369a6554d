/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. From info objects to hints and back. The names are those that the standard reserves, and two of ROMIO's
 * that programs set often. Knows: info objects. Does not know: what hints do. */
#include "io/file_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress/progress.h"

void io_hints_init(struct io_hints *hints, int procs, int machines)
{
    const int quarter = progress.cpus_given / 4; /* the system lets one process at a time write to a file */
    const int some = (quarter < 1 ? 1 : quarter) * machines;

    *hints = (struct io_hints){
        .aggregators = some < procs ? some : procs,
        .machine_aggregators = procs,
        .machines = machines,
        .buffer = IO_BUFFER,
        .block = 4096,
        .striping_factor = 1,
        .striping_unit = 4096,
        .permissions = 0666,
    };
}

/* False: there is no such key. */
static bool find(struct info *info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    size_t length;
    int flag = 0;

    return info && !info_get(info, key, MPI_MAX_INFO_VAL + 1, value, &length, &flag) && flag;
}

/* A number within the bounds replaces *out; sizes may end in k, m or g. */
static void read_number(struct info *info, const char *key, int base, long long min, long long max, long long *out)
{
    char value[MPI_MAX_INFO_VAL + 1], *end;
    long long number;

    if (!find(info, key, value))
        return;
    errno = 0;
    number = strtoll(value, &end, base);
    if (end == value || errno)
        return;
    if (*end && base == 10) {
        const char *const units = "kmg", *unit = strchr(units, *end | 0x20);
        if (unit && __builtin_mul_overflow(number, 1LL << 10 * (unit - units + 1), &number))
            return;
        end += unit != NULL;
    }
    if (!*end && number >= min && number <= max)
        *out = number;
}

static void read_choice(struct info *info, const char *key, enum io_collective *out)
{
    static const struct {
        const char *text;
        enum io_collective choice;
    } choices[] = {
        { "true", IO_COLLECTIVE_AUTOMATIC }, { "false", IO_COLLECTIVE_NEVER }, { "enable", IO_COLLECTIVE_ALWAYS },
        { "disable", IO_COLLECTIVE_NEVER }, { "automatic", IO_COLLECTIVE_AUTOMATIC },
    };
    char value[MPI_MAX_INFO_VAL + 1];

    if (!find(info, key, value))
        return;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        if (!strcmp(value, choices[i].text))
            *out = choices[i].choice;
}

/* "*:2": so many on each machine, "*:*" or "*": any number. Lists of names are for clusters with several sorts of
 * machines, and ignored. */
static void read_machine_aggregators(struct info *info, struct io_hints *hints, int procs)
{
    char value[MPI_MAX_INFO_VAL + 1], *end;
    long number;

    if (!find(info, "cb_config_list", value) || value[0] != '*')
        return;
    if (!strcmp(value, "*") || !strcmp(value, "*:*")) {
        hints->machine_aggregators = procs;
        return;
    }
    number = value[1] == ':' ? strtol(value + 2, &end, 10) : 0;
    if (number < 1 || number > INT_MAX || *end)
        return;
    hints->machine_aggregators = number < procs ? (int)number : procs;
    hints->aggregators = number < procs / hints->machines ? (int)number * hints->machines : procs;
}

void io_hints_read(struct io_hints *hints, struct info *info, int procs)
{
    long long aggregators, buffer = (long long)hints->buffer, block = hints->block;
    long long unit = hints->striping_unit, factor = hints->striping_factor, permissions = hints->permissions;
    enum io_collective both = IO_COLLECTIVE_ALWAYS; /* no value of that key means this */
    char style[MPI_MAX_INFO_VAL + 1];

    read_machine_aggregators(info, hints, procs);
    aggregators = hints->aggregators;
    read_number(info, "cb_nodes", 10, 1, INT_MAX, &aggregators);
    read_number(info, "cb_buffer_size", 10, IO_BUFFER_MIN, IO_BUFFER_MAX, &buffer);
    read_number(info, "striping_unit", 10, 1, LLONG_MAX, &unit);
    if (unit != hints->striping_unit)
        block = unit;
    read_number(info, "cb_block_size", 10, 1, IO_BUFFER_MAX, &block);
    read_number(info, "striping_factor", 10, 1, INT_MAX, &factor);
    read_number(info, "file_perm", 8, 0, 07777, &permissions);
    read_choice(info, "collective_buffering", &both);
    if (both != IO_COLLECTIVE_ALWAYS)
        hints->reads = hints->writes = both;
    read_choice(info, "romio_cb_read", &hints->reads);
    read_choice(info, "romio_cb_write", &hints->writes);
    if (find(info, "access_style", style))
        snprintf(hints->access_style, sizeof hints->access_style, "%s", style);
    hints->aggregators = (int)(aggregators < procs ? aggregators : procs);
    hints->buffer = (size_t)buffer;
    hints->block = block < buffer ? block : buffer;
    hints->striping_unit = unit;
    hints->striping_factor = (int)factor;
    hints->permissions = (int)permissions;
}

static int tell_number(struct info *info, const char *key, long long number, int *rc)
{
    char value[32];

    snprintf(value, sizeof value, "%lld", number);
    if (!*rc)
        *rc = info_set(info, key, value);
    return *rc;
}

static const char *choice_name(enum io_collective choice)
{
    return choice == IO_COLLECTIVE_AUTOMATIC ? "automatic" : choice == IO_COLLECTIVE_ALWAYS ? "enable" : "disable";
}

int io_hints_tell(const struct io_hints *hints, const char *filename, int procs, struct info *info)
{
    const bool is_off = hints->reads == IO_COLLECTIVE_NEVER && hints->writes == IO_COLLECTIVE_NEVER;
    char text[MPI_MAX_INFO_VAL + 1];
    int rc = info_set(info, "collective_buffering", is_off ? "false" : "true");

    tell_number(info, "cb_nodes", hints->aggregators, &rc);
    if (!rc && hints->machine_aggregators < procs) {
        snprintf(text, sizeof text, "*:%d", hints->machine_aggregators);
        rc = info_set(info, "cb_config_list", text);
    }
    tell_number(info, "cb_buffer_size", (long long)hints->buffer, &rc);
    tell_number(info, "cb_block_size", hints->block, &rc);
    tell_number(info, "striping_factor", hints->striping_factor, &rc);
    tell_number(info, "striping_unit", hints->striping_unit, &rc);
    tell_number(info, "nb_proc", procs, &rc);
    if (!rc)
        rc = info_set(info, "romio_cb_read", choice_name(hints->reads));
    if (!rc)
        rc = info_set(info, "romio_cb_write", choice_name(hints->writes));
    if (!rc && hints->access_style[0])
        rc = info_set(info, "access_style", hints->access_style);
    snprintf(text, sizeof text, "%04o", (unsigned)hints->permissions);
    if (!rc)
        rc = info_set(info, "file_perm", text);
    if (!rc) {
        snprintf(text, sizeof text, "%.*s", MPI_MAX_INFO_VAL - 1, filename);
        rc = info_set(info, "filename", text);
    }
    return rc;
}
