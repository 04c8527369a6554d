/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: lists of machines, and the words that name them. Ranges are written as Slurm does: node[01-16,20], also
 * several in a name; numbers keep their width. */
#include "hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "launch.h"

enum { NAME_SIZE = 256 };

struct host *hosts_find(const struct hosts *hosts, const struct host *host)
{
    for (int i = 0; i < hosts->count; i++) {
        struct host *at = &hosts->at[i];
        if (at->is_here ? host->is_here : !host->is_here && !strcasecmp(at->name, host->name))
            return at;
    }
    return NULL;
}

static int sum_of(int one, int other)
{
    return one < HOSTS_MAX_SLOTS - other ? one + other : HOSTS_MAX_SLOTS;
}

void hosts_add(struct hosts *hosts, const struct host *host)
{
    struct host *same = hosts_find(hosts, host);

    if (same) {
        same->slots = sum_of(same->slots, host->slots);
        same->max_slots = same->max_slots && host->max_slots ? sum_of(same->max_slots, host->max_slots) : 0;
        same->has_slots |= host->has_slots;
        same->user = same->user ? same->user : host->user;
        return;
    }
    if (hosts->count == HOSTS_MAX)
        die(EXIT_USAGE, "E0101: more than %d hosts", HOSTS_MAX);
    hosts->at = need_more(hosts->at, ((size_t)hosts->count + 1) * sizeof *hosts->at);
    hosts->at[hosts->count++] = *host;
}

int hosts_slots(const struct hosts *hosts)
{
    int sum = 0;

    for (int i = 0; i < hosts->count; i++)
        sum = sum_of(sum, hosts->at[i].slots);
    return sum;
}

static char *copy_of(const char *text, size_t length)
{
    char *own = need(length + 1);

    memcpy(own, text, length);
    return own;
}

char *hosts_target(const struct host *host)
{
    const size_t size = strlen(host->name) + (host->user ? strlen(host->user) : 0) + 2;
    char *target = need(size);

    snprintf(target, size, "%s%s%s", host->user ? host->user : "", host->user ? "@" : "", host->name);
    return target;
}

/* A name as it goes to another program, which must not take it for an option or for several words. */
static bool is_name(const char *text)
{
    const char *at = text;

    while (isalnum((unsigned char)*at) || (*at && strchr("._-:%", *at)) || (*at == '+' && at == text) || *at & 0x80)
        at++;
    return *text && *text != '-' && !*at;
}

static void add_name(struct hosts *hosts, const char *from, const char *name, const struct host *like)
{
    const int before = hosts->count;
    struct host host = *like;
    char *own;

    if (!is_name(name))
        die(EXIT_USAGE, "E0101: %s: '%s' is no name of a host", from, name);
    host.name = own = need_text(name);
    host.is_here = hosts_is_here(name);
    hosts_add(hosts, &host);
    if (hosts->count == before) /* it was there */
        mem_free(own);
}

static void add_ranges(struct hosts *hosts, const char *from, const char *name, const struct host *like);

/* All names with a number of "FROM-TO" or "N" between `head` of so many bytes and `tail`. */
static void add_range(struct hosts *hosts, const char *from, const char *head, int head_length, const char *range,
                      const char *tail, const struct host *like)
{
    const int width = (int)strspn(range, "0123456789");
    const char *second = range[width] == '-' ? range + width + 1 : range;
    const size_t second_width = strspn(second, "0123456789");
    const long low = strtol(range, NULL, 10), high = strtol(second, NULL, 10);
    char name[NAME_SIZE];

    if (!width || width > 9 || !second_width || second_width > 9 || low > high || high - low >= HOSTS_MAX ||
        (second[second_width] != ',' && second[second_width] != ']'))
        die(EXIT_USAGE, "E0101: %s: '%s' has no list of numbers such as [01-16,20]", from, head);
    for (long number = low; number <= high; number++) {
        if (snprintf(name, sizeof name, "%.*s%0*ld%s", head_length, head, width, number, tail) >= NAME_SIZE)
            die(EXIT_USAGE, "E0101: %s: '%.40s...' is too long for the name of a host", from, head);
        add_ranges(hosts, from, name, like);
    }
}

/* A name that may have ranges in brackets: the first is written out here, the others in turn. */
static void add_ranges(struct hosts *hosts, const char *from, const char *name, const struct host *like)
{
    const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;

    if (!open) {
        add_name(hosts, from, name, like);
        return;
    }
    if (!close)
        die(EXIT_USAGE, "E0101: %s: a bracket is open in '%s'", from, name);
    for (const char *range = open; range < close; range += 1 + strcspn(range + 1, ",]"))
        add_range(hosts, from, name, (int)(open - name), range + 1, close + 1, like);
}

/* The number behind the name, if there is one, which is cut off; "*" is what the host file says. */
static void take_slots(const char *from, char *name, struct host *host)
{
    char *colon = strrchr(name, ':'), *end;
    long slots;

    if (!colon || (strchr(name, ':') != colon && colon[-1] != ']')) /* an IPv6 address has more of them */
        return;
    *colon = 0;
    if (!strcmp(colon + 1, "*"))
        return;
    slots = strtol(colon + 1, &end, 10);
    if (!isdigit((unsigned char)colon[1]) || *end || slots > HOSTS_MAX_SLOTS)
        die(EXIT_USAGE, "E0101: %s: '%s' is no number of slots, of %s", from, colon + 1, name);
    host->slots = (int)slots;
    host->has_slots = true;
}

void hosts_add_word(struct hosts *hosts, const char *from, const char *word, size_t length, int slots,
                    int max_slots)
{
    const char *user = memchr(word, '@', length), *start = user ? user + 1 : word;
    struct host host = { .slots = slots == HOSTS_NO_SLOTS ? 1 : slots, .max_slots = max_slots,
                         .has_slots = slots != HOSTS_NO_SLOTS };
    char *name = copy_of(start, length - (size_t)(start - word)), *close;

    if (user) {
        host.user = copy_of(word, (size_t)(user - word));
        if (!is_name(host.user))
            die(EXIT_USAGE, "E0101: %s: '%s' is no name of a user", from, host.user);
    }
    take_slots(from, name, &host);
    close = strchr(name, ']');
    if (*name == '[' && close && !close[1] && memchr(name, ':', (size_t)(close - name))) {
        *close = 0;
        add_name(hosts, from, name + 1, &host);
    } else {
        add_ranges(hosts, from, name, &host);
    }
    mem_free(name);
}

size_t hosts_word(const char *list)
{
    size_t length = 0;

    for (int depth = 0; list[length] && (depth > 0 || !strchr(", \t\n", list[length])); length++)
        depth += (list[length] == '[') - (list[length] == ']');
    return length;
}

void hosts_add_list(struct hosts *hosts, const char *from, const char *list)
{
    while (*list) {
        const size_t length = hosts_word(list);
        if (length)
            hosts_add_word(hosts, from, list, length, HOSTS_NO_SLOTS, 0);
        list += length + (list[length] != 0);
    }
}

/* What "+n2" stands for. */
static const struct host *relative_host(const struct hosts *pool, const char *from, const char *name)
{
    char *end;
    const long number = strtol(name + 2, &end, 10);

    if (name[1] != 'n' || end == name + 2 || *end || number < 0 || number >= pool->count)
        die(EXIT_USAGE, "E0101: %s: '%s' is none of the %d hosts of a host file or batch system\n"
            "+n0 is the first of them", from, name, pool->count);
    return &pool->at[number];
}

void hosts_choose(struct hosts *wanted, const struct hosts *pool, const char *from)
{
    struct hosts chosen = { 0 };

    for (int i = 0; i < wanted->count; i++) {
        struct host host = wanted->at[i];
        const struct host *known = *host.name == '+' ? relative_host(pool, from, host.name) : hosts_find(pool, &host);
        if (known && *host.name == '+')
            host.name = known->name, host.is_here = known->is_here;
        if (known) {
            host.slots = host.has_slots ? host.slots : known->slots;
            host.max_slots = known->max_slots;
            host.has_slots |= known->has_slots;
            host.user = host.user ? host.user : known->user;
        }
        hosts_add(&chosen, &host);
    }
    mem_free(wanted->at);
    *wanted = chosen;
}
