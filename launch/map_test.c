/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of ranks to hosts: the rules by example, and on random hosts and wishes what must hold of every mapping. */
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "alone.h"

enum { MAX_HOSTS = 12, MAX_RANKS = 100, ROUNDS = 100000 };

void die(int exit_code, const char *format, ...)
{
    printf("mpiexec would end with %d: %s\n", exit_code, format);
    abort();
}

static char why[MAP_WHY];

/* Hosts as "4 2/3 (1)": slots, /most, in brackets if not said. */
static struct hosts make_hosts(const char *text)
{
    static struct host all[MAX_HOSTS];
    struct hosts hosts = { .at = all };

    while (*(text += strspn(text, " "))) {
        const bool is_said = *text != '(';
        char *end;
        all[hosts.count] = (struct host){ .slots = (int)strtol(text + !is_said, &end, 10), .has_slots = is_said };
        if (*end == '/')
            all[hosts.count].max_slots = (int)strtol(end + 1, &end, 10);
        text = end + strspn(end, ")");
        hosts.count++;
    }
    return hosts;
}

/* The places as letters: "aabb"; "": refused. */
static const char *placed(struct map_rule rule, const char *text, int ranks)
{
    static char letters[MAX_RANKS + 1];
    const struct hosts hosts = make_hosts(text);
    int used[MAX_HOSTS] = { 0 }, place[MAX_RANKS];

    memset(letters, 0, sizeof letters);
    if (map_ranks(&rule, &hosts, used, ranks, place, why))
        for (int i = 0; i < ranks; i++)
            letters[i] = (char)('a' + place[i]);
    return letters;
}

#define CHECK_PLACED(expected, hosts, ranks, ...)                                                                      \
    do {                                                                                                               \
        const char *came_ = placed((struct map_rule){ __VA_ARGS__ }, hosts, ranks);                                    \
        if (strcmp(came_, expected) != 0)                                                                              \
            printf("came %s, expected %s\n", came_, expected);                                                         \
        CHECK(!strcmp(came_, expected));                                                                               \
    } while (0)

static void test_slots(void)
{
    CHECK_PLACED("aaaabb", "4 4", 6, .by = MAP_BY_SLOT);
    CHECK_PLACED("ab", "(1) (1)", 2, .by = MAP_BY_SLOT);
    CHECK_PLACED("aaaabbbb", "(1) (1)", 8, .by = MAP_BY_SLOT);
    CHECK_PLACED("aaaabb", "2 1", 6, .by = MAP_BY_SLOT); /* in proportion */
    CHECK_PLACED("aabbb", "2/2 1", 5, .by = MAP_BY_SLOT);
    CHECK_PLACED("bb", "0 1", 2, .by = MAP_BY_SLOT);
    CHECK_PLACED("aabb", "8 8", 4, .by = MAP_BY_SLOT, .width = 4);
    CHECK_PLACED("", "0 0", 1, .by = MAP_BY_SLOT);
    CHECK(strstr(why, "none of the hosts has a slot"));
    CHECK_PLACED("", "2 2", 5, .by = MAP_BY_SLOT, .is_strict = true);
    CHECK(strstr(why, "5 ranks are wanted and 4 slots"));
    CHECK_PLACED("aaabbb", "(1) (1)", 6, .by = MAP_BY_SLOT, .is_strict = true); /* nobody has said how many */
    CHECK_PLACED("", "2/3 1/1", 5, .by = MAP_BY_SLOT);
    CHECK(strstr(why, "take 4 at most"));
}

static void test_turns(void)
{
    CHECK_PLACED("abab", "2 2", 4, .by = MAP_BY_NODE);
    CHECK_PLACED("abbbab", "1 3", 6, .by = MAP_BY_NODE);
    CHECK_PLACED("abab", "(1) 4", 4, .by = MAP_PER_NODE, .per_node = 1);
    CHECK_PLACED("aabbaabb", "(1) (1)", 8, .by = MAP_PER_NODE, .per_node = 2);
    CHECK_PLACED("abb", "2/1 2", 3, .by = MAP_PER_NODE, .per_node = 2);
    CHECK_PLACED("", "2 2", 5, .by = MAP_PER_NODE, .per_node = 4, .is_strict = true);
}

static void test_numbers(void)
{
    CHECK_PLACED("abab", "2 2", 4, .by = MAP_BY_SLOT, .order = MAP_IN_TURNS);
    CHECK_PLACED("abbb", "1 3", 4, .by = MAP_BY_SLOT, .order = MAP_IN_TURNS);
    CHECK_PLACED("aabb", "2 2", 4, .by = MAP_BY_NODE, .order = MAP_HOST_BY_HOST);
    CHECK_PLACED("aaaabbbb", "(1) (1)", 8, .by = MAP_PER_NODE, .per_node = 2, .order = MAP_HOST_BY_HOST);
}

/* A second program goes on where the first has stopped. */
static void test_used(void)
{
    const struct hosts hosts = make_hosts("2 2");
    const struct map_rule rule = { .by = MAP_BY_SLOT };
    int used[2] = { 0 }, place[4];

    CHECK(map_ranks(&rule, &hosts, used, 3, place, why) && used[0] == 2 && used[1] == 1);
    CHECK(map_ranks(&rule, &hosts, used, 1, place, why) && place[0] == 1 && used[1] == 2);
    CHECK(map_ranks(&rule, &hosts, used, 2, place, why) && place[0] == 0 && place[1] == 1);
}

/* What must hold of every mapping of new ranks. */
static void check_mapping(const struct map_rule *rule, const struct hosts *hosts, const int *before, const int *after,
                          int ranks, const int *place)
{
    int given[MAX_HOSTS] = { 0 }, sum = 0, free_slots = 0;
    bool is_over = false;

    for (int i = 0; i < ranks; i++) {
        CHECK(place[i] >= 0 && place[i] < hosts->count);
        given[place[i]]++;
    }
    for (int i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->at[i];
        CHECK_INT(after[i], before[i] + given[i]);
        CHECK(!given[i] || (host->slots > 0 && (!host->max_slots || after[i] <= host->max_slots)));
        CHECK(!given[i] || !rule->is_strict || !host->has_slots || after[i] <= host->slots);
        is_over |= given[i] && after[i] > host->slots;
        free_slots += host->slots > before[i] && (!host->max_slots || host->max_slots > before[i]);
        sum += given[i];
    }
    CHECK_INT(sum, ranks);
    if (rule->by != MAP_PER_NODE && is_over && rule->width <= 1) /* then all others have filled theirs */
        for (int i = 0; i < hosts->count; i++)
            CHECK(after[i] >= hosts->at[i].slots || (hosts->at[i].max_slots && after[i] >= hosts->at[i].max_slots));
    for (int i = 1; i < ranks && rule->by == MAP_BY_SLOT && rule->order != MAP_IN_TURNS; i++)
        CHECK(place[i] >= place[i - 1]);
    for (int i = 1; i < ranks && rule->order == MAP_HOST_BY_HOST; i++)
        CHECK(place[i] >= place[i - 1]);
    if (rule->by == MAP_BY_NODE && ranks > 1 && free_slots > 1 && rule->order == MAP_AS_MAPPED && rule->width <= 1)
        CHECK(place[0] != place[1]);
}

static int below(int limit)
{
    return rand() % limit;
}

static void test_random(void)
{
    struct host all[MAX_HOSTS];
    int before[MAX_HOSTS], after[MAX_HOSTS], place[MAX_RANKS];

    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        const struct map_rule rule = { .by = (enum map_by)below(3), .per_node = 1 + below(4),
                                       .order = (enum map_order)below(3), .is_strict = below(4) == 0,
                                       .width = below(3) ? 0 : below(4) };
        const struct hosts hosts = { .at = all, .count = 1 + below(MAX_HOSTS) };
        const int ranks = 1 + below(MAX_RANKS);
        long long room = 0;
        for (int i = 0; i < hosts.count; i++) {
            all[i] = (struct host){ .slots = below(8), .max_slots = below(3) ? 0 : 1 + below(12),
                                    .has_slots = below(2) };
            before[i] = after[i] = below(3) ? 0 : below(6);
            if (all[i].slots > 0)
                room += !all[i].max_slots ? MAX_RANKS : all[i].max_slots > before[i] ? all[i].max_slots - before[i] : 0;
        }
        if (map_ranks(&rule, &hosts, after, ranks, place, why)) {
            check_mapping(&rule, &hosts, before, after, ranks, place);
        } else {
            CHECK(rule.is_strict || room < ranks);
            CHECK(!memcmp(before, after, sizeof *before * (size_t)hosts.count));
        }
    }
}

int main(void)
{
    test_slots();
    test_turns();
    test_numbers();
    test_used();
    test_random();
    return 0;
}
