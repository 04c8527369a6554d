/* SPDX-License-Identifier: BSD-3-Clause */
/* The matcher against its model: for each context two plain arrays searched from the front. Random steps
 * of all kinds in phases; a phase draws how many sources and tags there are, how often there are
 * wildcards, which queue grows and how far, and whether there is memory for the tables.
 *
 * Arguments: steps (default ten million, two with a sanitizer), seed (default 1). The same seed repeats the run. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "match/match.h"

enum { CONTEXTS = 4, SLOTS = 5000, DEFAULT_STEPS = CHECK_CASES(10000000) };

struct item {
    uint64_t key, mask;
    unsigned slot;
};

/* A queue as the standard says it: in order, searched from the front. */
struct queue {
    struct item items[SLOTS];
    unsigned count;
};

struct world {
    struct match_ctx ctx;
    struct queue posted, unexpected;
    struct match_entry recvs[SLOTS];
    struct match_arrival arrivals[SLOTS];
    unsigned free_recvs[SLOTS], free_arrivals[SLOTS];
};

enum step { POST, ARRIVE, PROBE, TAKE, CANCEL, CANCEL_DONE, STEPS };

struct phase {
    unsigned length;
    unsigned contexts;
    unsigned max;           /* entries in a queue */
    uint32_t sources, tags; /* how many different ones */
    uint32_t tag_step;
    unsigned any_source, any_tag;   /* percent */
    unsigned meeting;               /* percent of posts and arrivals aimed at what waits already */
    unsigned weight[STEPS];
};

static struct match match;
static struct world worlds[CONTEXTS];
static uint64_t random_state;
static uint64_t seed, now, results[STEPS];

static uint32_t random32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state * 0x2545f4914f6cdd1du >> 32);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)((uint64_t)random32() * n >> 32);
}

static bool percent(unsigned chance)
{
    return below(100) < chance;
}

static uint32_t one_of(const uint32_t *values, unsigned n)
{
    return values[below(n)];
}

static void differ(const char *what, long came, long expected)
{
    fprintf(stderr, "match_model_test: seed %" PRIu64 ", step %" PRIu64 ": %s: came %ld, expected %ld\n",
            seed, now, what, came, expected);
    exit(1);
}

static void same(const char *what, long came, long expected)
{
    if (came != expected)
        differ(what, came, expected);
}

static int find(const struct queue *queue, uint64_t key, uint64_t mask)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (((queue->items[i].key ^ key) & queue->items[i].mask & mask) == 0)
            return (int)i;
    return -1;
}

/* Slot of the entry at a place, or -1. */
static long slot_at(const struct queue *queue, int at)
{
    return at < 0 ? -1 : (long)queue->items[at].slot;
}

static void append(struct queue *queue, uint64_t key, uint64_t mask, unsigned slot)
{
    queue->items[queue->count++] = (struct item){ key, mask, slot };
}

static void cut(struct queue *queue, int at)
{
    queue->count--;
    memmove(&queue->items[at], &queue->items[at + 1], (queue->count - (unsigned)at) * sizeof queue->items[0]);
}

/* Nothing may refer to an entry that was unlinked, so what it holds is spoilt at once. */
static void free_recv(struct world *world, int at)
{
    const unsigned slot = world->posted.items[at].slot;

    cut(&world->posted, at);
    world->free_recvs[world->posted.count] = slot;
    CHECK(!match_is_posted(&world->recvs[slot]));
    memset(&world->recvs[slot], 0xd5, sizeof world->recvs[slot]);
    match_entry_init(&world->recvs[slot], 0, 0);
}

static void free_arrival(struct world *world, int at)
{
    const unsigned slot = world->unexpected.items[at].slot;

    cut(&world->unexpected, at);
    world->free_arrivals[world->unexpected.count] = slot;
    memset(&world->arrivals[slot], 0xd5, sizeof world->arrivals[slot]);
}

static uint64_t random_key(const struct phase *phase)
{
    const uint32_t source = below(phase->sources);

    if (phase->tags == 1)
        return match_key((int32_t)source, (int32_t)(source * phase->tag_step + 17));
    return match_key((int32_t)source, (int32_t)(below(phase->tags) * phase->tag_step));
}

static uint64_t random_mask(const struct phase *phase)
{
    return match_mask(percent(phase->any_source), percent(phase->any_tag));
}

/* Often the key of one that waits, so that long queues are emptied too; mostly one near the front or
 * anywhere. */
static uint64_t aimed_key(const struct phase *phase, const struct queue *queue)
{
    const uint64_t key = random_key(phase);
    const struct item *item;

    if (!queue->count || !percent(phase->meeting))
        return key;
    item = &queue->items[below(percent(30) && queue->count > 4 ? 4 : queue->count)];
    return (item->key & item->mask) | (key & ~item->mask);
}

static void step_post(struct world *world, const struct phase *phase)
{
    const uint64_t key = aimed_key(phase, &world->unexpected), mask = random_mask(phase);
    const int at = find(&world->unexpected, key, mask);
    const unsigned slot = world->free_recvs[world->posted.count];
    struct match_entry *recv = &world->recvs[slot];
    struct match_arrival *arrival;

    match_entry_init(recv, key, mask);
    arrival = match_post(&world->ctx, recv);
    same("post", arrival ? arrival - world->arrivals : -1, slot_at(&world->unexpected, at));
    same("posted", match_is_posted(recv), at < 0);
    results[POST] += at >= 0;
    if (at < 0)
        append(&world->posted, key, mask, slot);
    else
        free_arrival(world, at);
}

static void step_arrive(struct world *world, const struct phase *phase)
{
    const uint64_t key = aimed_key(phase, &world->posted);
    const int at = find(&world->posted, key, UINT64_MAX);
    const bool is_hashed = world->ctx.is_hashed, may = match_may_take(&world->ctx, key);
    struct match_entry *recv = match_arrive(&world->ctx, key);

    CHECK(is_hashed ? may == (recv != NULL) : may || !recv);
    same("arrive", recv ? recv - world->recvs : -1, slot_at(&world->posted, at));
    results[ARRIVE] += at >= 0;
    if (at < 0) {
        const unsigned slot = world->free_arrivals[world->unexpected.count];

        match_keep(&world->ctx, &world->arrivals[slot], key);
        append(&world->unexpected, key, UINT64_MAX, slot);
    } else {
        free_recv(world, at);
    }
}

static void step_probe(struct world *world, const struct phase *phase, bool take)
{
    const uint64_t key = aimed_key(phase, &world->unexpected), mask = random_mask(phase);
    const int at = find(&world->unexpected, key, mask);
    struct match_arrival *arrival = match_probe(&world->ctx, key, mask);

    same("probe", arrival ? arrival - world->arrivals : -1, slot_at(&world->unexpected, at));
    results[take ? TAKE : PROBE] += at >= 0;
    if (!arrival || !take)
        return;
    same("key of the message", match_arrival_key(arrival) == world->unexpected.items[at].key, true);
    match_take(&world->ctx, arrival);
    free_arrival(world, at);
}

static void step_cancel(struct world *world)
{
    int at;

    if (!world->posted.count)
        return;
    at = (int)below(world->posted.count);
    same("cancel", match_cancel(&world->ctx, &world->recvs[world->posted.items[at].slot]), true);
    results[CANCEL]++;
    free_recv(world, at);
}

static void step_cancel_done(struct world *world)
{
    if (world->posted.count == SLOTS)
        return;
    same("cancel of a receive that is not posted",
         match_cancel(&world->ctx, &world->recvs[world->free_recvs[world->posted.count]]), false);
    results[CANCEL_DONE]++;
}

static void one_step(struct world *world, const struct phase *phase)
{
    unsigned sum = 0, step = 0, drawn;

    for (unsigned i = 0; i < STEPS; i++)
        sum += phase->weight[i];
    for (drawn = below(sum); drawn >= phase->weight[step]; step++)
        drawn -= phase->weight[step];
    if (step == POST && world->posted.count >= phase->max)
        step = ARRIVE;
    if (step == ARRIVE && world->unexpected.count >= phase->max)
        step = world->posted.count >= phase->max ? CANCEL : POST;
    if (step == POST)
        step_post(world, phase);
    else if (step == ARRIVE)
        step_arrive(world, phase);
    else if (step == CANCEL)
        step_cancel(world);
    else if (step == CANCEL_DONE)
        step_cancel_done(world);
    else
        step_probe(world, phase, step == TAKE);
}

/* Deep queues are rare, for the model takes time in their length. */
static struct phase random_phase(void)
{
    static const uint32_t maxima[] = { 1, 3, 8, 14, 16, 17, 18, 20, 33, 40, 70, 150, 300 };
    static const uint32_t numbers[] = { 1, 1, 2, 3, 8, 40, 1000, 1000000, INT32_MAX };
    static const uint32_t steps[] = { 1, 1, 1, 64, 1000, 4096, 65536, 0x80000001u };
    static const uint32_t chances[] = { 0, 0, 1, 10, 50, 100 };
    struct phase phase = {
        .length = 1 + below(6000),
        .contexts = 1 + below(CONTEXTS),
        .max = one_of(maxima, ARRAY_LEN(maxima)),
        .sources = one_of(numbers, ARRAY_LEN(numbers)),
        .tags = one_of(numbers, ARRAY_LEN(numbers)),
        .tag_step = one_of(steps, ARRAY_LEN(steps)),
        .any_source = one_of(chances, ARRAY_LEN(chances)),
        .any_tag = one_of(chances, ARRAY_LEN(chances)),
        .meeting = one_of(chances, ARRAY_LEN(chances)),
        .weight = { 40, 40, 8, 8, 4, 1 },
    };

    switch (below(4)) {
    case 0:
        phase.weight[POST] = 300; /* receives pile up */
        phase.weight[CANCEL] = 1;
        break;
    case 1:
        phase.weight[ARRIVE] = 300; /* messages pile up */
        phase.weight[TAKE] = 1;
        break;
    case 2:
        phase.meeting = 95; /* both are worked off */
        phase.any_source = phase.any_tag = below(20);
        break;
    }
    if (percent(8)) {
        phase.max = percent(30) ? SLOTS : 1500;
        phase.length *= 6;
        phase.contexts = 1;
    }
    return phase;
}

static void count_recv(const struct match_entry *recv, void *arg)
{
    unsigned *count = arg;

    same("a visited receive is posted", match_is_posted(recv), true);
    ++*count;
}

struct in_order {
    const struct world *world;
    unsigned count;
};

static void compare_arrival(const struct match_arrival *arrival, void *arg)
{
    struct in_order *order = arg;

    same("message in order", arrival - order->world->arrivals,
         slot_at(&order->world->unexpected, (int)order->count));
    order->count++;
}

static void compare_all(struct world *world)
{
    struct in_order order = { .world = world };
    unsigned count = 0;

    same("number of receives", world->ctx.posted_count, world->posted.count);
    same("number of messages", world->ctx.arrival_count, world->unexpected.count);
    match_each_posted(&world->ctx, count_recv, &count);
    same("receives visited", count, world->posted.count);
    match_each_arrival(&world->ctx, compare_arrival, &order);
    same("messages visited", order.count, world->unexpected.count);
}

static void drop_recv(struct match_entry *recv, void *arg)
{
    struct world *world = arg;
    unsigned at = 0;

    while (at < world->posted.count && world->posted.items[at].slot != recv - world->recvs)
        at++;
    same("a dropped receive was posted", at < world->posted.count, true);
    free_recv(world, (int)at);
}

static void drop_arrival(struct match_arrival *arrival, void *arg)
{
    struct world *world = arg;

    same("dropped message", arrival - world->arrivals, world->unexpected.items[0].slot);
    free_arrival(world, 0);
}

static void end_world(struct world *world)
{
    match_ctx_fini(&world->ctx, drop_recv, drop_arrival, world);
    same("receives left", world->posted.count, 0);
    same("messages left", world->unexpected.count, 0);
}

static void run_phase(uint64_t steps)
{
    const struct phase phase = random_phase();

    mem_fail_after(percent(10) ? 0 : -1);
    for (unsigned i = 0; i < phase.length && now < steps; i++, now++)
        one_step(&worlds[below(phase.contexts)], &phase);
    for (unsigned i = 0; i < CONTEXTS; i++)
        compare_all(&worlds[i]);
    if (percent(5)) {
        struct world *world = &worlds[below(CONTEXTS)];

        end_world(world);
        match_ctx_init(&world->ctx, &match, random32());
    }
}

static void begin_world(struct world *world, uint32_t id)
{
    match_ctx_init(&world->ctx, &match, id);
    for (unsigned i = 0; i < SLOTS; i++) {
        world->free_recvs[i] = world->free_arrivals[i] = i;
        match_entry_init(&world->recvs[i], 0, 0);
    }
}

int main(int argc, char **argv)
{
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_STEPS;
    unsigned high = 0;

    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    printf("seed %" PRIu64 ", %" PRIu64 " steps\n", seed, steps);
    match_init(&match);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        begin_world(&worlds[i], i);
    while (now < steps)
        run_phase(steps);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        high = worlds[i].ctx.posted_high > high ? worlds[i].ctx.posted_high : high;
        end_world(&worlds[i]);
    }
    match_fini(&match);
    CHECK_INT(mem_live(), 0);
    printf("found: post %" PRIu64 ", arrive %" PRIu64 ", probe %" PRIu64 ", take %" PRIu64 "\n",
           results[POST], results[ARRIVE], results[PROBE], results[TAKE]);
    printf("cancelled %" PRIu64 ", not posted %" PRIu64 "; receives at most %u\n", results[CANCEL],
           results[CANCEL_DONE], high);
    return 0;
}
