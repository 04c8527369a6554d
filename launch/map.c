/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: ranks to hosts. First it is decided how many each host gets and in which order they come, then they may be
 * numbered anew. Knows hosts and numbers only. */
#include "map.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "launch.h"

/* Where placing stands. */
struct mapper {
    const struct map_rule *rule;
    const struct hosts *hosts;
    const int *used; /* before */
    int *given;      /* to each host now */
    int ranks, done;
    int *place;
};

/* Ranks that the host is meant for. */
static int slots_of(const struct mapper *mapper, int host)
{
    const struct host *at = &mapper->hosts->at[host];
    const int width = at->has_slots && mapper->rule->width > 1 ? mapper->rule->width : 1;

    return at->slots > 0 && at->slots < width ? 1 : at->slots / width;
}

static int load_of(const struct mapper *mapper, int host)
{
    return mapper->used[host] + mapper->given[host];
}

/* How many it may still get at all. */
static int room_of(const struct mapper *mapper, int host)
{
    const struct host *at = &mapper->hosts->at[host];
    int most = at->max_slots ? at->max_slots : INT_MAX;

    if (at->slots == 0)
        return 0;
    if (mapper->rule->is_strict && at->has_slots && slots_of(mapper, host) < most)
        most = slots_of(mapper, host);
    return most > load_of(mapper, host) ? most - load_of(mapper, host) : 0;
}

/* How many it may get before others must have filled their slots, too. */
static int free_of(const struct mapper *mapper, int host)
{
    const int left = slots_of(mapper, host) - load_of(mapper, host), room = room_of(mapper, host);

    return left < 0 ? 0 : left < room ? left : room;
}

static int least(int one, int other)
{
    return one < other ? one : other;
}

static void give(struct mapper *mapper, int host, int count)
{
    mapper->given[host] += count;
    for (int i = 0; i < count; i++)
        mapper->place[mapper->done++] = host;
}

/* The host that a rank more than there are slots burdens least; -1: no host takes any more. */
static int least_burdened(const struct mapper *mapper)
{
    int best = -1;

    for (int i = 0; i < mapper->hosts->count; i++) {
        const long long own = (long long)load_of(mapper, i) + 1;
        if (room_of(mapper, i) > 0 && (best < 0 || own * slots_of(mapper, best) <
                                                       ((long long)load_of(mapper, best) + 1) * slots_of(mapper, i)))
            best = i;
    }
    return best;
}

static void fill_slots(struct mapper *mapper)
{
    int left = mapper->ranks;

    for (int i = 0; i < mapper->hosts->count; i++) {
        const int count = least(left, free_of(mapper, i));
        mapper->given[i] += count;
        left -= count;
    }
    for (int host; left > 0 && (host = least_burdened(mapper)) >= 0; left--)
        mapper->given[host]++;
    for (int i = 0; i < mapper->hosts->count; i++) {
        const int count = mapper->given[i];
        mapper->given[i] = 0;
        give(mapper, i, count);
    }
}

/* One round over the hosts; how many found a place. */
static int go_round(struct mapper *mapper, int group, bool with_slots)
{
    const int before = mapper->done;

    for (int i = 0; i < mapper->hosts->count; i++) {
        const int room = with_slots ? free_of(mapper, i) : room_of(mapper, i);
        give(mapper, i, least(least(group, room), mapper->ranks - mapper->done));
    }
    return mapper->done - before;
}

static void go_rounds(struct mapper *mapper, int group, bool with_slots)
{
    while (with_slots && mapper->done < mapper->ranks && go_round(mapper, group, true) > 0) {
    }
    while (mapper->done < mapper->ranks && go_round(mapper, group, false) > 0) {
    }
}

/* Numbers given anew: host by host, or going round. */
static void number(struct mapper *mapper)
{
    int *left = need((size_t)mapper->hosts->count * sizeof *left);

    memcpy(left, mapper->given, (size_t)mapper->hosts->count * sizeof *left);
    for (mapper->done = 0; mapper->done < mapper->ranks;)
        for (int i = 0; i < mapper->hosts->count; i++) {
            const int count = mapper->rule->order == MAP_HOST_BY_HOST ? left[i] : left[i] > 0;
            for (int k = 0; k < count; k++)
                mapper->place[mapper->done++] = i;
            left[i] -= count;
        }
    mem_free(left);
}

static bool refuse(const struct mapper *mapper, char why[MAP_WHY])
{
    const int slots = hosts_slots(mapper->hosts);

    if (slots == 0)
        snprintf(why, MAP_WHY, "none of the hosts has a slot for a rank");
    else if (mapper->rule->is_strict)
        snprintf(why, MAP_WHY, "%d ranks are wanted and %d slots are there, which may not be exceeded", mapper->ranks,
                 slots);
    else
        snprintf(why, MAP_WHY, "%d ranks are wanted, and the hosts take %d at most (max_slots)", mapper->ranks,
                 mapper->done);
    return false;
}

bool map_ranks(const struct map_rule *rule, const struct hosts *hosts, int *used, int ranks, int *place,
               char why[MAP_WHY])
{
    struct mapper mapper = { .rule = rule, .hosts = hosts, .used = used, .ranks = ranks, .place = place };
    bool is_placed;

    mapper.given = need(((size_t)hosts->count + 1) * sizeof *mapper.given);
    if (rule->by == MAP_BY_SLOT)
        fill_slots(&mapper);
    else
        go_rounds(&mapper, rule->by == MAP_PER_NODE ? rule->per_node : 1, rule->by == MAP_BY_NODE);
    is_placed = mapper.done == ranks || refuse(&mapper, why);
    if (is_placed && rule->order != MAP_AS_MAPPED)
        number(&mapper);
    for (int i = 0; i < hosts->count && is_placed; i++)
        used[i] += mapper.given[i];
    mem_free(mapper.given);
    return is_placed;
}
