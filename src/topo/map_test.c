/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping on machines that are not there: it is one process for each node, always the same, its cost never rises
 * against identity and falls where there is something to gain; grids, graphs with weights, up to 4,096 processes on 64
 * machines. "map_test show" prints what is gained. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "topo/int_map.h"

enum { MAX = 4096, RANDOM = 300, SMALL = 24 };

static const char small_machine[] = "Package:2 L3Cache:4 Core:4", large_machine[] = "Package:2 L3Cache:4 Core:8";

static struct comm_seat seats[MAX];
static int order[MAX], again[MAX];
static uint64_t state = 41;
static bool shows;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

/* Process `i` on processor `place` of as many machines as are needed. */
static void sit(int i, const char *machine, int cpus, int place)
{
    CHECK(site_of_text(machine, place % cpus, &seats[i].site));
    seats[i].node = place / cpus;
}

enum seating { IN_ORDER, ROUND_PACKAGES, ROUND_MACHINES, SHUFFLED };

static void sit_all(const char *machine, int cpus, int count, enum seating how)
{
    static int place[MAX];
    const int machines = (count + cpus - 1) / cpus;

    for (int i = 0; i < count; i++)
        place[i] = how == ROUND_PACKAGES   ? i / cpus * cpus + i % 2 * (cpus / 2) + i % cpus / 2
                   : how == ROUND_MACHINES ? i % machines * cpus + i / machines
                                           : i;
    for (int i = count - 1; i > 0 && how == SHUFFLED; i--) {
        const int j = below(i + 1), swap = place[i];

        place[i] = place[j];
        place[j] = swap;
    }
    for (int i = 0; i < count; i++)
        sit(i, machine, cpus, place[i]);
}

static void check_order(int count)
{
    static bool is_taken[MAX];

    memset(is_taken, 0, sizeof is_taken);
    for (int i = 0; i < count; i++) {
        CHECK(order[i] >= 0 && order[i] < count && !is_taken[order[i]]);
        is_taken[order[i]] = true;
    }
}

/* Percent of the cost that is left. */
static int map_and_check(const struct topo_talk *talk, const char *what)
{
    struct topo_places places;
    int64_t old, now;
    bool is_better, still;

    CHECK(!topo_places_read(&places, seats, talk->count));
    for (int i = 0; i < talk->count; i++)
        order[i] = i;
    old = topo_map_cost(talk, &places, order);
    CHECK(!topo_map(talk, &places, order, &is_better));
    now = topo_map_cost(talk, &places, order);
    check_order(talk->count);
    CHECK_INT(is_better, now < old);
    CHECK(now <= old);
    for (int i = 0; i < talk->count && !is_better; i++)
        CHECK_INT(order[i], i);
    CHECK(!topo_map(talk, &places, again, &still));
    CHECK(!memcmp(order, again, (size_t)talk->count * sizeof *order) && still == is_better);
    topo_places_free(&places);
    if (shows)
        printf("%-44s %8lld -> %8lld hops\n", what, (long long)old, (long long)now);
    return old ? (int)(100 * now / old) : 100;
}

static int map_grid(int ndims, const int *dims, int is_periodic, const char *what)
{
    const int periods[] = { is_periodic, is_periodic, is_periodic, is_periodic };
    struct topo_talk talk;
    int left;

    CHECK(!topo_talk_grid(&talk, ndims, dims, periods));
    left = map_and_check(&talk, what);
    topo_talk_free(&talk);
    return left;
}

#define GRID(...) sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), (int[]){ __VA_ARGS__ }

static void test_small(void)
{
    sit_all(small_machine, 32, 32, IN_ORDER);
    CHECK(map_grid(GRID(8, 4), 0, "8 x 4 on 2 x 4 x 4, in order") <= 91);
    CHECK(map_grid(GRID(32), 0, "32, in order") == 100); /* a line is laid best already */
    sit_all(small_machine, 32, 32, ROUND_PACKAGES);
    CHECK(map_grid(GRID(8, 4), 0, "8 x 4, by packages in turns") <= 68);
    CHECK(map_grid(GRID(32), 1, "ring of 32, by packages in turns") <= 45);
    sit_all(small_machine, 32, 32, SHUFFLED);
    CHECK(map_grid(GRID(4, 4, 2), 1, "4 x 4 x 2 ring, shuffled") <= 70);
    CHECK(map_grid(GRID(8, 4), 0, "8 x 4, shuffled") <= 62);
}

/* 64 machines of 64 cores. */
static void test_large(void)
{
    sit_all(large_machine, 64, MAX, IN_ORDER);
    CHECK(map_grid(GRID(64, 64), 0, "64 x 64, in order") <= 66);
    CHECK(map_grid(GRID(16, 16, 16), 1, "16 x 16 x 16 torus, in order") <= 80);
    CHECK(map_grid(GRID(1024, 4), 0, "1024 x 4, in order") <= 100);
    CHECK(map_grid(GRID(4, 1024), 0, "4 x 1024, in order") <= 60);
    sit_all(large_machine, 64, MAX, ROUND_MACHINES);
    CHECK(map_grid(GRID(64, 64), 0, "64 x 64, by machines in turns") <= 66);
    CHECK(map_grid(GRID(16, 16, 16), 0, "16 x 16 x 16, by machines in turns") <= 63);
    sit_all(large_machine, 64, 4000, SHUFFLED);
    CHECK(map_grid(GRID(20, 20, 10), 0, "20 x 20 x 10, shuffled") <= 55);
    sit_all(large_machine, 64, 3375, IN_ORDER);
    CHECK(map_grid(GRID(15, 15, 15), 0, "15 x 15 x 15, in order") <= 80);
}

/* Groups of four that talk much among themselves, far from each other, and a little to the next ones. */
static void test_weights(void)
{
    static struct topo_pair pairs[4 * MAX];
    struct topo_talk talk;
    int64_t n = 0;

    for (int i = 0; i < 1024; i++) {
        pairs[n++] = (struct topo_pair){ i, (i + 256) % 1024, 1000 };
        pairs[n++] = (struct topo_pair){ (i + 1) % 1024, i, 1 };
        pairs[n++] = (struct topo_pair){ i, i, 1 << 30 };
        pairs[n++] = (struct topo_pair){ i, (i + 7) % 1024, 0 };
    }
    CHECK(!topo_talk_pairs(&talk, 1024, pairs, n));
    CHECK_INT(talk.begin[1024], 4096);
    sit_all(small_machine, 32, 1024, IN_ORDER);
    CHECK(map_and_check(&talk, "1,024 in groups of 4, far apart") <= 40);
    topo_talk_free(&talk);
}

/* Graphs, weights, machines by chance; some processes may run anywhere in their package. */
static void test_random(void)
{
    static const char *const machines[] = { small_machine, "NUMANode:3 Core:2", "Core:5", "Package:2 L2Cache:1 PU:2" };
    static struct topo_pair pairs[8 * SMALL];

    for (int round = 0; round < RANDOM; round++) {
        const int count = 1 + below(SMALL), n = below(8 * SMALL);
        struct topo_talk talk;

        for (int i = 0; i < n; i++)
            pairs[i] = (struct topo_pair){ below(count), below(count), below(4) * below(1000) };
        for (int i = 0; i < count; i++) {
            sit(i, machines[round % 4], 32, below(64));
            if (!below(5))
                seats[i].site.first[HWPART_CORE] = seats[i].site.first[HWPART_L3] = SITE_SEVERAL;
        }
        CHECK(!topo_talk_pairs(&talk, count, pairs, n));
        map_and_check(&talk, "random");
        topo_talk_free(&talk);
    }
}

/* All on one place, or nothing known: there is nothing to gain. */
static void test_nothing(void)
{
    for (int i = 0; i < 16; i++) {
        seats[i].node = 0;
        memset(&seats[i].site, -1, sizeof seats[i].site);
    }
    CHECK_INT(map_grid(GRID(4, 4), 0, "nothing known"), 100);
    for (int i = 0; i < 16; i++)
        sit(i, "Core:2", 2, 0);
    CHECK_INT(map_grid(GRID(4, 4), 0, "one place"), 100);
    CHECK_INT(map_grid(GRID(1), 1, "one process"), 100);
}

static void test_places(void)
{
    struct topo_places places;

    sit_all(small_machine, 32, 64, IN_ORDER);
    CHECK(!topo_places_read(&places, seats, 64));
    CHECK_INT(places.levels, 4); /* machine, package, cache, core; a processor tells no more than a core */
    CHECK_INT(topo_places_hops(&places, 0, 1), 1);
    CHECK_INT(topo_places_hops(&places, 0, 4), 2);
    CHECK_INT(topo_places_hops(&places, 0, 16), 3);
    CHECK_INT(topo_places_hops(&places, 0, 32), 4);
    CHECK_INT(topo_places_hops(&places, 5, 5), 0);
    topo_places_free(&places);
}

static void test_no_memory(void)
{
    static const int dims[] = { 4, 4 }, periods[] = { 0, 0 };
    struct topo_places places;
    struct topo_talk talk;
    bool is_better;
    int rc = 1;

    sit_all(small_machine, 32, 16, SHUFFLED);
    for (int n = 0; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        rc = topo_talk_grid(&talk, 2, dims, periods);
        if (!rc) {
            rc = topo_places_read(&places, seats, 16);
            if (!rc) {
                rc = topo_map(&talk, &places, order, &is_better);
                topo_places_free(&places);
            }
            topo_talk_free(&talk);
        }
        mem_fail_after(-1);
        CHECK(mem_live() == live && (!rc || err_class(rc) == MPI_ERR_NO_MEM));
    }
    CHECK(is_better);
}

int main(int argc, char **argv)
{
    shows = argc > 1 && !strcmp(argv[1], "show");
    test_places();
    test_small();
    test_nothing();
    test_weights();
    test_random();
    test_no_memory();
    test_large();
    return 0;
}
