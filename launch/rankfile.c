/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: Open MPI's rank files. A line says where a rank goes: "rank 0=node3 slot=1:0-2". The host is taken from it;
 * the processors are for --bind-to and --cpu-set, which may say more. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch.h"
#include "map.h"

/* What is being read. */
struct rankfile {
    const char *path;
    int line, count;
    const char **wanted;
    int *said_in; /* by rank: the line */
};

static _Noreturn void wrong(const struct rankfile *file, const char *text)
{
    die(EXIT_USAGE, "E0132: rank file %s, line %d: '%s' is not of the form rank N=HOST slot=LIST", file->path,
        file->line, text);
}

static void grow(struct rankfile *file, int count)
{
    if (count <= file->count)
        return;
    file->wanted = need_more(file->wanted, (size_t)count * sizeof *file->wanted);
    file->said_in = need_more(file->said_in, (size_t)count * sizeof *file->said_in);
    for (; file->count < count; file->count++) {
        file->wanted[file->count] = NULL;
        file->said_in[file->count] = 0;
    }
}

static void take(struct rankfile *file, int rank, const char *host, size_t length)
{
    char *name = need(length + 1);

    grow(file, rank + 1);
    if (file->wanted[rank])
        die(EXIT_USAGE, "E0132: rank file %s, line %d: rank %d stands in line %d already", file->path, file->line, rank,
            file->said_in[rank]);
    memcpy(name, host, length);
    file->wanted[rank] = name;
    file->said_in[rank] = file->line;
}

/* One line; true: it also says on which processors. */
static bool read_line(struct rankfile *file, char *text)
{
    const char *host;
    size_t length;
    char *end;
    long rank;

    text[strcspn(text, "#\r\n")] = 0;
    text += strspn(text, " \t");
    if (!*text)
        return false;
    if (strncasecmp(text, "rank", 4) != 0 || !isspace((unsigned char)text[4]))
        wrong(file, text);
    rank = strtol(text + 4, &end, 10);
    host = end + strspn(end, " \t=");
    length = strcspn(host, " \t");
    if (end == text + 4 || rank < 0 || rank >= HOSTS_MAX_SLOTS || host == end || !length)
        wrong(file, text);
    take(file, (int)rank, host, length);
    return strstr(host + length, "slot");
}

int rankfile_read(const char *path, const char ***wanted, bool *has_slots)
{
    struct rankfile file = { .path = path };
    FILE *stream = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    if (!stream)
        die(EXIT_USAGE, "E0132: rank file %s: %s", path, strerror(errno));
    *has_slots = false;
    while (file.line++, getline(&line, &room, stream) >= 0)
        *has_slots |= read_line(&file, line);
    if (ferror(stream))
        die(EXIT_USAGE, "E0132: rank file %s: %s", path, strerror(errno));
    free(line);
    fclose(stream);
    *wanted = file.wanted;
    return file.count;
}
