/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport shm: which slots of a ring records take, to and fro and in rows, and that those left out are
 * never taken for records. */
#include "net/shm/shm.h"

#include <string.h>

#include "net/net_suite.h"
#include "net/shm/shm_segment.h"
#include "progress/progress.h"
#include "sys/wake.h"

static const struct net_head head = { { 1, 2 } };

struct pair {
    struct job_head *segment;
    struct suite_end a, b;
    struct shm_peer *out, *in; /* of the ring from a to b */
};

static int count(void *arg, int proc, struct net_head got, const void *payload, uint32_t len)
{
    (void)proc, (void)got, (void)payload, (void)len;
    ++*(int *)arg;
    return 0;
}

static void pair_open(struct pair *p, int *arrivals)
{
    p->segment = segment_create(2);
    suite_open(&p->a, &shm_ops, config_of(p->segment, 0, 2, 0), 1);
    suite_open(&p->b, &shm_ops, config_of(p->segment, 1, 2, 0), 0);
    p->a.net->sink = p->b.net->sink = (struct net_sink){ .arrive = count, .arg = arrivals };
    p->out = (struct shm_peer *)(void *)p->a.ep;
    p->in = (struct shm_peer *)(void *)p->b.ep;
}

static void pair_close(struct pair *p)
{
    shm_ops.close(p->a.net);
    shm_ops.close(p->b.net);
    segment_destroy(p->segment, 2);
}

/* One record and its answer, both read. */
static void exchange(struct pair *p, uint32_t len)
{
    static const char payload[SHM_SHORT_MAX] = "x";

    CHECK(!shm_ops.send(p->a.ep, head, payload, len) && shm_ops.poll(p->b.net) == 1);
    CHECK(!shm_ops.send(p->b.ep, head, payload, len) && shm_ops.poll(p->a.net) == 1);
}

static long slot_of(const struct pair *p)
{
    return p->out->out_slot - p->out->out->slot;
}

/* Records that go to and fro leave out every second slot, always the same ones; rows leave out none. */
static void test_short(void)
{
    int arrivals = 0;
    struct pair p;

    pair_open(&p, &arrivals);
    exchange(&p, 8);
    for (int i = 0; i < 1000; i++) {
        const long before = slot_of(&p);
        exchange(&p, 8);
        CHECK_INT(slot_of(&p), (before + 2) % SHM_SLOTS);
    }
    for (int i = 1; i < SHM_SLOTS; i++) /* the first record began a row */
        CHECK(!atomic_load(&p.out->out->slot[i].seq) == ((i + slot_of(&p)) % 2 == 1));
    CHECK(!shm_ops.send(p.a.ep, head, "", 0));
    for (int i = 0; i < 20; i++) {
        const long before = slot_of(&p);
        CHECK(!shm_ops.send(p.a.ep, head, "", 0));
        CHECK_INT(slot_of(&p), (before + 1) % SHM_SLOTS);
    }
    while (shm_ops.poll(p.b.net))
        ;
    CHECK_INT(arrivals, 2 * 1001 + 21);
    pair_close(&p);
}

static void forget(struct pair *p)
{
    memset(p->out->out->slot, 0, sizeof p->out->out->slot);
}

static bool is_empty(const struct pair *p, uint32_t slot)
{
    static const struct shm_slot empty;

    return !memcmp(&p->out->out->slot[slot], &empty, sizeof empty);
}

/* Those of several slots have one behind them that is never written, and begin anew where the ring does. */
static void test_spread(uint32_t len)
{
    const uint32_t slots = 1 + (len - SHM_INLINE + SHM_MORE - 1) / SHM_MORE;
    bool begins[SHM_SLOTS] = { false };
    int arrivals = 0;
    struct pair p;

    pair_open(&p, &arrivals);
    exchange(&p, len);
    for (int i = 0; i < 1000; i++) {
        if (i == 100) /* the first records lay elsewhere */
            forget(&p);
        if (i >= 100)
            begins[slot_of(&p)] = true;
        exchange(&p, len);
    }
    for (uint32_t i = 0; i < SHM_SLOTS; i++) {
        const bool is_taken = i % (slots + 1) < slots && i - i % (slots + 1) + slots <= SHM_SLOTS;
        CHECK_INT(begins[i], is_taken && i % (slots + 1) == 0);
        CHECK(is_taken || is_empty(&p, i));
    }
    CHECK_INT(arrivals, 2 * 1001);
    pair_close(&p);
}

/* A slot is left out for two thousand million others, and then its number would be the right one. */
static void test_old_numbers(void)
{
    enum { PARTS = 4, LAPS = 2, EXCHANGES = LAPS * SHM_SLOTS / 2, FIRST = SHM_SLOTS + 2 };
    const uint32_t whole = (UINT32_C(1) << 31) - FIRST / SHM_SLOTS * SHM_SLOTS;
    int arrivals = 0;
    struct pair p;

    pair_open(&p, &arrivals);
    for (int i = 0; i < SHM_SLOTS; i++)
        CHECK(!shm_ops.send(p.a.ep, head, "", 0) && shm_ops.poll(p.b.net) == 1);
    CHECK(!shm_ops.send(p.b.ep, head, "", 0) && shm_ops.poll(p.a.net) == 1);
    exchange(&p, 8);
    CHECK_INT(p.out->out_pos, FIRST);
    CHECK_INT(slot_of(&p), FIRST % SHM_SLOTS);
    for (int part = 0; part < PARTS; part++) {
        go_round(p.a.ep, p.b.ep, (whole - PARTS * LAPS * SHM_SLOTS) / PARTS + (part ? 0 : whole % PARTS));
        for (int i = 0; i < EXCHANGES; i++)
            exchange(&p, 8);
    }
    CHECK_INT(p.out->out_pos & ~SHM_VALID, slot_of(&p)); /* as in the first round */
    arrivals = 0;
    CHECK(!shm_ops.send(p.a.ep, head, "", 0) && !shm_ops.send(p.a.ep, head, "", 0));
    CHECK_INT(slot_of(&p) % 2, 1);
    for (int i = 0; i < 10; i++)
        shm_ops.poll(p.b.net);
    CHECK_INT(arrivals, 2);
    CHECK(shm_ops.is_silent(p.b.ep));
    pair_close(&p);
}

int main(void)
{
    wake_barrier_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    test_short();
    for (uint32_t len = SHM_INLINE + 1; len <= SHM_SHORT_MAX; len += SHM_MORE)
        test_spread(len);
    test_spread(SHM_SHORT_MAX);
    test_old_numbers();
    return 0;
}
