/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Procgroup files: which file, its lines, what may not stand in them. Starts nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "p4/int_start.h"

enum { LINE_SIZE = 1024 };

static const char blanks[] = " \t\r\n\f\v";
static char file_name[512];                /* of the last one read */
static int line_of[P4_MAX_PROCGROUP_ENTRIES]; /* where each entry stood in it */

const char *procgroup_find(const char *program)
{
    static char path[512];

    if (options.procgroup)
        return options.procgroup;
    snprintf(path, sizeof path, "%s.pg", program ? program : "");
    if (!access(path, F_OK))
        return path;
    return access("procgroup", F_OK) ? NULL : "procgroup";
}

static void copy_field(char *to, size_t size, const char *from, const char *what, int line)
{
    if (strlen(from) >= size)
        p4_fail("E0603: %s:%d: the %s %.40s... is longer than %zu characters", file_name, line, what, from, size - 1);
    strcpy(to, from);
}

static int count_of(const char *field, int line)
{
    char *end;
    long count;

    if (!field)
        p4_fail("E0603: %s:%d: the number of processes is missing", file_name, line);
    errno = 0;
    count = strtol(field, &end, 10);
    if (*end || end == field || errno)
        p4_fail("E0603: %s:%d: \"%s\" is no number of processes", file_name, line, field);
    return count > P4_MAXPROCS ? P4_MAXPROCS + 1 : count < -1 ? -1 : (int)count;
}

/* From a word that begins with # on. */
static void cut_remark(char *line)
{
    for (char *at = strchr(line, '#'); at; at = strchr(at + 1, '#')) {
        if (at > line && strchr(blanks, at[-1])) {
            *at = 0;
            return;
        }
    }
}

/* Fields are host, count, program, login. */
static void read_entry(char *line, int number, struct p4_procgroup *pg)
{
    struct p4_procgroup_entry *entry = &pg->entries[pg->num_entries];
    char *rest = NULL;
    const char *host = strtok_r(line, blanks, &rest), *count = strtok_r(NULL, blanks, &rest);
    const char *program = strtok_r(NULL, blanks, &rest), *login = strtok_r(NULL, blanks, &rest);
    const char *more = login ? strtok_r(NULL, blanks, &rest) : NULL;

    if (pg->num_entries == P4_MAX_PROCGROUP_ENTRIES)
        p4_fail("E0603: %s:%d: there are more than %d lines", file_name, number, P4_MAX_PROCGROUP_ENTRIES);
    if (more)
        p4_fail("E0603: %s:%d: \"%s\" is one field too many: a line has host, number, program, login", file_name,
                number, more);
    memset(entry, 0, sizeof *entry);
    line_of[pg->num_entries] = number;
    copy_field(entry->host_name, sizeof entry->host_name, host, "host name", number);
    entry->numslaves_in_group = count_of(count, number);
    if (program)
        copy_field(entry->slave_full_pathname, sizeof entry->slave_full_pathname, program, "program", number);
    if (login)
        copy_field(entry->username, sizeof entry->username, login, "login", number);
    pg->num_entries++;
}

void procgroup_parse(FILE *file, const char *path, struct p4_procgroup *pg)
{
    char line[LINE_SIZE];
    int number = 0;

    snprintf(file_name, sizeof file_name, "%s", path);
    pg->num_entries = 0;
    while (fgets(line, sizeof line, file)) {
        const char *start = line + strspn(line, blanks);
        number++;
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n')
            p4_fail("E0603: %s:%d: the line is longer than %d characters", file_name, number, LINE_SIZE - 2);
        if (*start && *start != '#') {
            cut_remark(line);
            read_entry(line, number, pg);
        }
    }
    if (ferror(file))
        p4_fail("E0603: %s: %s", file_name, strerror(errno));
    if (!pg->num_entries)
        p4_fail("E0603: %s: no line names a host; the first one is \"local N\"", file_name);
}

int procgroup_read(const char *path, struct p4_procgroup *pg)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return -1;
    procgroup_parse(file, path, pg);
    fclose(file);
    return 0;
}

static void check_entry(const struct p4_procgroup_entry *entry, int index, const char *where)
{
    const int least = index ? 1 : 0;

    if (entry->numslaves_in_group < least)
        p4_fail("E0603: %s: %s has %d processes; %s", where, entry->host_name, entry->numslaves_in_group,
                index ? "a cluster has at least 1" : "the first line counts those beside the master, at least 0");
    if (index && !*entry->slave_full_pathname)
        p4_fail("E0603: %s: the program for %s is missing", where, entry->host_name);
}

int procgroup_check(const struct p4_procgroup *pg, bool has_lines)
{
    int total = 1;

    if (pg->num_entries < 1 || pg->num_entries > P4_MAX_PROCGROUP_ENTRIES)
        p4_fail("E0603: the procgroup table has %d entries; it must have from 1 to %d", pg->num_entries,
                P4_MAX_PROCGROUP_ENTRIES);
    for (int i = 0; i < pg->num_entries; i++) {
        char where[600];
        if (has_lines)
            snprintf(where, sizeof where, "%s:%d", file_name, line_of[i]);
        else
            snprintf(where, sizeof where, "entry %d of the procgroup table", i);
        check_entry(&pg->entries[i], i, where);
        total += pg->entries[i].numslaves_in_group;
        if (total > P4_MAXPROCS)
            p4_fail("E0603: %s: with this line there are more than %d processes", where, P4_MAXPROCS);
    }
    return total;
}

struct p4_procgroup *p4_alloc_procgroup(void)
{
    struct p4_procgroup *pg = calloc(1, sizeof *pg); /* the user's, who may free it */

    if (!pg)
        p4_error("p4_alloc_procgroup: no memory", (int)sizeof *pg);
    return pg;
}
