/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: options that say how many ranks there are, where they are started and which processors they get.
 * Slots of hosts are a way to say how many ranks, and where they go first; a limit only if the user says so. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/base.h"
#include "launch.h"
#include "sys/cpus.h"
#include "sys/impi.h"

void options_apply_ranks(struct reader *reader, const char *name, char **values)
{
    reader->app->ranks = options_whole_number(name, values[0], 1, OPTIONS_MAX_RANKS);
}

/* -c N: ranks, unless -n says these: then processors for each. */
void options_apply_short_count(struct reader *reader, const char *name, char **values)
{
    reader->short_count = options_whole_number(name, values[0], 1, OPTIONS_MAX_RANKS);
}

void options_apply_per_node(struct reader *reader, const char *name, char **values)
{
    reader->per_node = options_whole_number(name, values[0], 1, OPTIONS_MAX_RANKS);
}

void options_apply_one_per_node(struct reader *reader, const char *name, char **values)
{
    (void)name;
    (void)values;
    reader->per_node = 1;
}

/* srun has "2" and "1-4", of which the least is taken. */
void options_apply_nodes(struct reader *reader, const char *name, char **values)
{
    char least[16];

    snprintf(least, sizeof least, "%s", values[0]);
    least[strcspn(least, "-")] = 0;
    reader->nodes = options_whole_number(name, *least ? least : values[0], 1, OPTIONS_MAX_RANKS);
    reader->nodes_are_hosts = !strcmp(name, "nodes");
}

/* One number of a triplet; NULL: there is none. */
static const char *read_part(const char *text, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, 10);
    return end == text || errno || *value > INT_MAX || *value < -INT_MAX ? NULL : end;
}

/* Read "a", "a:b" or "a:b:c" (MPI 5.0 §11.8.4); NULL: it is none. */
static const char *read_triplet(const char *text, long *from, long *to, long *step)
{
    text = read_part(text, from);
    *to = *from;
    *step = 1;
    if (text && *text == ':') {
        text = read_part(text + 1, to);
        *step = *to < *from ? -1 : 1;
        if (text && *text == ':')
            text = read_part(text + 1, step);
        else if (text && *to < *from)
            return NULL;
    }
    if (!text || *step == 0 || (*to > *from && *step < 0) || (*to<*from && * step> 0))
        return NULL;
    return *text == ',' || !*text ? text : NULL;
}

/* The largest number of the triplet from 1 to `most`; 0: it has none. */
static long largest_of(long from, long to, long step, long most)
{
    long low = from, high = from + (to - from) / step * step;

    if (step < 0) {
        low = high;
        high = from;
        step = -step;
    }
    if (high > most)
        high = low > most ? 0 : low + (most - low) / step * step;
    return high > 0 ? high : 0;
}

int options_largest(const char *set, int most)
{
    long from, to, step, best = 0, found;

    for (const char *at = set;; at++) {
        at = read_triplet(at, &from, &to, &step);
        if (!at)
            return -1;
        found = largest_of(from, to, step, most);
        if (found > best)
            best = found;
        if (!*at)
            return (int)best;
    }
}

void options_apply_soft(struct reader *reader, const char *name, char **values)
{
    if (options_largest(values[0], OPTIONS_MAX_RANKS) < 0)
        die(EXIT_USAGE, "E0101: -%s %s: a list of N, FROM:TO and FROM:TO:STEP is needed", name, values[0]);
    reader->app->soft = values[0];
}

enum { PSET_NAME_MAX = 1000 }; /* less than MPI_MAX_PSET_NAME_LEN, also with a scheme in front */

/* A name is a URI, or becomes one; those of the standard are not the user's. */
void options_apply_pset(struct reader *reader, const char *name, char **values)
{
    const char *at = values[0];

    while (*at > ' ' && *at < 0x7f)
        at++;
    if (!*values[0] || *at)
        die(EXIT_USAGE, "E0101: -%s %s: a name without blanks is needed", name, values[0]);
    if (!strncasecmp(values[0], "mpi://", strlen("mpi://")))
        die(EXIT_USAGE, "E0101: -%s %s: mpi:// is kept for the standard's own sets; take another name", name,
            values[0]);
    if (strlen(values[0]) > PSET_NAME_MAX)
        die(EXIT_USAGE, "E0101: -%s %.40s...: the name has %zu characters, %d are allowed", name, values[0],
            strlen(values[0]), PSET_NAME_MAX);
    reader->app->pset = values[0];
}

void options_apply_memory_kinds(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->app->memory_kinds = values[0];
}

static int product(int one, int other)
{
    const double all = (double)one * other;

    return all < OPTIONS_MAX_RANKS ? (int)all : OPTIONS_MAX_RANKS;
}

static int count_hard(const struct reader *reader, const struct hosts *hosts)
{
    const int host_count = hosts->count > 0 ? hosts->count : 1;

    if (reader->app->ranks > 0)
        return reader->app->ranks;
    if (reader->short_count > 0)
        return reader->short_count;
    if (reader->per_node > 0)
        return product(reader->per_node, reader->nodes > 0 ? reader->nodes : host_count);
    if (reader->nodes > 0)
        return product(reader->nodes, reader->nodes_are_hosts ? 1 : host_count);
    if (reader->options->map.by == MAP_PER_NODE)
        return product(reader->options->map.per_node, host_count);
    if (reader->options->binding.map == BIND_MAP_PER)
        return product(bind_ranks(&reader->options->binding), host_count);
    if (reader->options->wanted_count > 0)
        return reader->options->wanted_count;
    if (hosts_slots(hosts) > 0)
        return hosts_slots(hosts);
    return reader->app->soft ? cpus_in_mask() : 1;
}

/* What the block says of ranks on each host. -N K may mean K ranks on each, or K hosts: the first, if the hosts have
 * room for all ranks then. */
static void set_per_node(const struct reader *reader, int ranks, const struct hosts *hosts)
{
    struct app *app = reader->app;

    app->per_node = reader->per_node;
    if (reader->nodes == 0)
        return;
    if (reader->per_node > 0 || reader->nodes_are_hosts || product(reader->nodes, hosts->count) < ranks) {
        app->host_limit = reader->nodes;
        if (reader->per_node == 0)
            app->per_node = (ranks + reader->nodes - 1) / reader->nodes;
    } else {
        app->per_node = reader->nodes;
    }
}

int options_count_ranks(const struct reader *reader)
{
    const struct hosts *hosts = options_hosts_of(reader->options, reader->app);
    int ranks = count_hard(reader, hosts), allowed;

    set_per_node(reader, ranks, hosts);
    if (reader->app->ranks > 0 && reader->short_count > 0)
        reader->options->binding.width = reader->short_count;
    if (!reader->app->soft)
        return ranks;
    allowed = options_largest(reader->app->soft, ranks);
    if (allowed == 0)
        die(EXIT_USAGE, "E0101: -soft %s: it has no number from 1 to %d (the ranks asked for)", reader->app->soft,
            ranks);
    return allowed;
}

bool options_is_arch(const char *name, const char *machine)
{
    static const char *const same[][5] = {
        { "x86_64", "x86-64", "amd64", "x64", "x86" },
        { "aarch64", "arm64", "armv8", "arm", NULL },
        { "ppc64le", "powerpc64le", "ppc64el", "powerpc", NULL },
        { "riscv64", "rv64", "riscv", NULL, NULL },
    };
    const size_t length = strcspn(name, "-"); /* of a triplet like x86_64-linux-gnu */

    if (!strcasecmp(name, machine) || (strlen(machine) == length && !strncasecmp(name, machine, length)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        for (size_t j = 1; j < ARRAY_LEN(same[i]) && !strcmp(same[i][0], machine); j++)
            if (same[i][j] && !strcasecmp(name, same[i][j]))
                return true;
    return false;
}

void options_apply_arch(struct reader *reader, const char *name, char **values)
{
    struct utsname system;

    (void)reader;
    uname(&system);
    if (options_is_arch(values[0], system.machine))
        return;
    die(EXIT_USAGE,
        "E0102: -%s %s: this machine is %s, and programs for others are not looked for", name,
        values[0], system.machine);
}

void options_apply_client(struct reader *reader, const char *name, char **values)
{
    reader->options->client_rank = options_whole_number(name, values[0], 0, IMPI_CLIENTS_MAX - 1);
    reader->options->client_server = values[1];
}

void options_apply_universe(struct reader *reader, const char *name, char **values)
{
    if (!strcasecmp(values[0], "SYSTEM")) /* of Hydra: the processors */
        return;
    reader->options->universe =
        !strcasecmp(values[0], "INFINITE") ? JOB_SLOTS_MAX : options_whole_number(name, values[0], 1, JOB_SLOTS_MAX);
}

void options_apply_wdir(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->app->wdir = values[0];
}

void options_apply_path(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->app->path = values[0];
}

void options_apply_tool(struct reader *reader, const char *name, char **values)
{
    debug_option(&reader->options->debug, name, values[0]);
}

void options_apply_binding(struct reader *reader, const char *name, char **values)
{
    struct strings *words = &reader->options->binding_words;

    bind_option(&reader->options->binding, name, values[0]);
    map_option(&reader->options->map, name, values[0]);
    strings_add(words, need_text(name)); /* it may not last */
    strings_add(words, values[0] ? values[0] : need(1));
}
