/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. What the master of a cluster is told by the keeper that had it started, line by line (int_keeper.h
 * has the lines): who it is, where the others are, options. A line that cannot be is not taken; lines of other kinds
 * are passed over. Reads no socket. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "p4/int_hosts.h"
#include "p4/int_keeper.h"
#include "p4/int_message.h"

static bool take_numbers(const char *line, struct cluster_plan *plan)
{
    int count, first, total, level;
    size_t arena;

    if (sscanf(line, "config %d %d %d %d %zu", &count, &first, &total, &level, &arena) != 5 || total < 1 ||
        total > P4_MAXPROCS || first < 0 || first >= total || count < 1 || count > total - first)
        return false;
    plan->count = count;
    p4_own.total = total;
    p4_own.id = p4_own.first = first;
    p4_own.last = first + count - 1;
    p4_own.debug_level = level;
    p4_own.arena_size = arena;
    return true;
}

/* First ids, ascending from 0, as far as there are ids. */
static bool take_clusters(char *line)
{
    char *rest = NULL;
    int first[P4_MAXPROCS], n = 0;

    strtok_r(line, " ", &rest);
    for (char *word; n < P4_MAXPROCS && (word = strtok_r(NULL, " ", &rest)); n++) {
        first[n] = atoi(word);
        if (first[n] >= p4_own.total || (n ? first[n] <= first[n - 1] : first[n] != 0))
            return false;
    }
    if (n)
        p4_set_clusters(first, n);
    return n > 0;
}

static bool take_peer(const char *line, const char *hub)
{
    char address[56], port[8], form[16];
    int id;

    if (sscanf(line, "peer %d %55s %7s %15s", &id, address, port, form) != 4 || id < 0 || id >= p4_own.total)
        return false;
    hosts_set_peer(id, strcmp(address, "-") ? address : hub, port, form);
    return true;
}

static bool take_here(const char *line)
{
    int first, count, place;

    if (sscanf(line, "here %d %d %d", &first, &count, &place) != 3 || first < 0 || first >= p4_own.total || count < 1 ||
        count > p4_own.total - first || place < 0 || place > P4_MAXPROCS - count)
        return false;
    route_set_places(first, count, place);
    return true;
}

static bool has_word(const char *line, const char *word)
{
    return !strncmp(line, word, strlen(word));
}

bool config_take(char *line, struct cluster_plan *plan, const char *hub)
{
    if (has_word(line, "config "))
        return take_numbers(line, plan);
    if (has_word(line, "clusters "))
        return take_clusters(line);
    if (has_word(line, "peer "))
        return take_peer(line, hub);
    if (has_word(line, "here "))
        return take_here(line);
    if (has_word(line, "directory "))
        options.directory = mem_strdup(line + strlen("directory "));
    else if (has_word(line, "output "))
        options.out = mem_strdup(line + strlen("output "));
    else if (!strcmp(line, "xdr"))
        options.is_xdr_forced = true;
    return true;
}
