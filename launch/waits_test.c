/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the graph of waits: small cases by hand, and random ones against a model that tries every set. */
#include "waits.h"

#include "base/check.h"

enum { RANKS = 7, ROUNDS = 20000 };

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % n;
}

static struct wait_node blocked_on(int rank)
{
    return (struct wait_node){ .state = WAIT_BLOCKED, .need_count = 1, .need = { { .rank = rank } } };
}

static void test_ring(void)
{
    struct wait_node nodes[4];
    int cycle[4];

    for (int i = 0; i < 3; i++)
        nodes[i] = blocked_on((i + 1) % 3);
    nodes[3] = blocked_on(1); /* waits for the ring, is no part of it */
    waits_find_stuck(nodes, 4);
    for (int i = 0; i < 4; i++)
        CHECK(nodes[i].is_stuck);
    CHECK_INT(waits_cycle(nodes, 4, 1, cycle), 3);
    CHECK(cycle[0] == 0 && cycle[1] == 1 && cycle[2] == 2);
    CHECK_INT(waits_cycle(nodes, 4, 3, cycle), 0);
    nodes[1].state = WAIT_ACTS;
    waits_find_stuck(nodes, 4);
    for (int i = 0; i < 4; i++)
        CHECK(!nodes[i].is_stuck);
}

static void test_gone_and_any(void)
{
    const uint64_t set[] = { 7 };
    struct wait_node nodes[3] = { blocked_on(1), { .state = WAIT_GONE }, blocked_on(WAIT_ANYONE) };
    bool is_waiting[3];
    int stack[3];

    nodes[2].need[0].set = set;
    waits_find_stuck(nodes, 3);
    CHECK(nodes[0].is_stuck && !nodes[1].is_stuck && nodes[2].is_stuck);
    CHECK_INT(waits_next(nodes, 3, 0), 1);
    CHECK_INT(waits_next(nodes, 3, 2), WAIT_ANYONE);
    CHECK_INT(waits_next(nodes, 3, 1), WAIT_NOBODY);
    nodes[1].state = WAIT_ACTS;
    waits_find_stuck(nodes, 3);
    CHECK(!nodes[0].is_stuck && !nodes[2].is_stuck);
    CHECK_INT(waits_find_waiting(nodes, 3, 1, is_waiting, stack), 2);
    CHECK(is_waiting[0] && !is_waiting[1] && is_waiting[2]);
    CHECK_INT(waits_find_waiting(nodes, 3, 2, is_waiting, stack), 0);
    nodes[0] = nodes[1] = (struct wait_node){ .state = WAIT_BLOCKED }; /* woken by something else */
    waits_find_stuck(nodes, 3);
    CHECK(!nodes[0].is_stuck && !nodes[2].is_stuck);
}

/* One that needs two things waits for ever if one of them never comes. */
static void test_all(void)
{
    struct wait_node nodes[3] = { blocked_on(1), { .state = WAIT_ACTS }, blocked_on(0) };

    nodes[0].need_count = 2;
    nodes[0].need[1].rank = 2;
    waits_find_stuck(nodes, 3);
    CHECK(nodes[0].is_stuck && nodes[2].is_stuck);
    CHECK_INT(nodes[0].blamed, 1);
    CHECK_INT(waits_next(nodes, 3, 0), 2);
}

static uint64_t sets[RANKS][WAIT_NEEDS];

static void make_random(struct wait_node *nodes)
{
    for (int i = 0; i < RANKS; i++) {
        nodes[i] = (struct wait_node){ .state = random_below(8) ? WAIT_BLOCKED : (enum wait_state)random_below(3) };
        nodes[i].need_count = random_below(12) ? 1 + (int)random_below(3) : 0;
        for (int j = 0; j < nodes[i].need_count; j++) {
            sets[i][j] = random_below(1 << RANKS);
            nodes[i].need[j].rank = random_below(3) ? (int)random_below(RANKS) : WAIT_ANYONE;
            nodes[i].need[j].set = random_below(8) ? &sets[i][j] : NULL;
        }
    }
}

static unsigned ranks_of(const struct wait_node *nodes, int rank, int need)
{
    const struct wait_need *n = &nodes[rank].need[need];
    unsigned ranks = n->rank != WAIT_ANYONE ? 1u << n->rank : n->set ? (unsigned)*n->set : (1u << RANKS) - 1;

    return ranks & ~(1u << rank);
}

/* Nobody in `set` can be woken from outside of it. */
static bool is_closed(const struct wait_node *nodes, unsigned set)
{
    unsigned helpless = set;

    for (int i = 0; i < RANKS; i++)
        if (nodes[i].state == WAIT_GONE)
            helpless |= 1u << i;
    for (int i = 0; i < RANKS; i++) {
        bool waits_for_ever = false;
        if (!(set >> i & 1))
            continue;
        for (int j = 0; j < nodes[i].need_count; j++)
            waits_for_ever |= !(ranks_of(nodes, i, j) & ~helpless);
        if (nodes[i].state != WAIT_BLOCKED || !waits_for_ever)
            return false;
    }
    return true;
}

static void check_random(struct wait_node *nodes)
{
    unsigned stuck = 0, expected = 0;
    int cycle[RANKS];

    for (unsigned set = 0; set < 1u << RANKS; set++)
        if (is_closed(nodes, set))
            expected |= set; /* the union of closed sets is closed */
    for (int i = 0; i < RANKS; i++)
        stuck |= (unsigned)nodes[i].is_stuck << i;
    CHECK_INT(stuck, expected);
    for (int i = 0; i < RANKS; i++) {
        const int length = waits_cycle(nodes, RANKS, i, cycle);
        for (int j = 0; j < length; j++)
            CHECK(nodes[cycle[j]].is_stuck && waits_next(nodes, RANKS, cycle[j]) == cycle[(j + 1) % length] &&
                  cycle[j] >= cycle[0]);
    }
}

int main(void)
{
    struct wait_node nodes[RANKS];

    test_ring();
    test_gone_and_any();
    test_all();
    random_state = 20;
    for (int round = 0; round < ROUNDS; round++) {
        make_random(nodes);
        waits_find_stuck(nodes, RANKS);
        check_random(nodes);
    }
    return 0;
}
