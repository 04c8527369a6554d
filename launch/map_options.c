/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the options of Open MPI that say how ranks go to hosts. The same words may also say how ranks go to
 * processors; that is read in bind_options.c, which tells of mistakes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch.h"
#include "map.h"

/* Is the word at `text`, which ends at a colon or comma, this one? */
static bool is_word(const char *text, const char *word)
{
    const size_t length = strcspn(text, ":,");

    return strlen(word) == length && !strncasecmp(text, word, length);
}

static const char *next_word(const char *text)
{
    text += strcspn(text, ":,");
    return *text ? text + 1 : text;
}

/* "N:node" behind "ppr:" */
static void read_per(struct map_rule *rule, const char *text)
{
    char *end;
    const long count = strtol(text, &end, 10);

    if (end == text || *end != ':' || count < 1 || count > HOSTS_MAX_SLOTS)
        return;
    if (is_word(end + 1, "node") || is_word(end + 1, "nodes") || is_word(end + 1, "machine") ||
        is_word(end + 1, "board")) {
        rule->by = MAP_PER_NODE;
        rule->per_node = (int)count;
    }
}

static void read_map(struct map_rule *rule, const char *value)
{
    rule->by = is_word(value, "node") || is_word(value, "nodes") || is_word(value, "machine") ? MAP_BY_NODE
                                                                                              : MAP_BY_SLOT;
    if (is_word(value, "ppr"))
        read_per(rule, next_word(value));
    for (const char *at = value; *at; at = next_word(at)) {
        if (is_word(at, "nooversubscribe"))
            rule->is_strict = true;
        else if (is_word(at, "oversubscribe"))
            rule->is_strict = false;
        else if (!strncasecmp(at, "pe=", 3) && isdigit((unsigned char)at[3]))
            rule->width = atoi(at + 3);
    }
}

static void read_rank(struct map_rule *rule, const char *value)
{
    if (is_word(value, "node") || is_word(value, "nodes") || is_word(value, "machine"))
        rule->order = MAP_IN_TURNS;
    else
        rule->order = MAP_HOST_BY_HOST;
}

void map_option(struct map_rule *rule, const char *option, const char *value)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    if (!strcmp(name, "map-by") && value)
        read_map(rule, value);
    else if (!strcmp(name, "rank-by") && value)
        read_rank(rule, value);
    else if (!strcmp(name, "bynode"))
        rule->by = MAP_BY_NODE;
    else if (!strcmp(name, "byslot"))
        rule->by = MAP_BY_SLOT;
    else if (!strcmp(name, "nooversubscribe"))
        rule->is_strict = true;
    else if (!strcmp(name, "oversubscribe"))
        rule->is_strict = false;
}
