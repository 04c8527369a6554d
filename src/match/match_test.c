/* SPDX-License-Identifier: BSD-3-Clause */
/* The matching rules of MPI 5.0 §3.5 one by one, at each depth of the queues, and what happens at the
 * borders of the stages. Each rule runs with 0, 3, 15, 16, 17, 40 and 300 entries that never match
 * standing ahead of it. */
#include "match/match.h"

#include "base/check.h"
#include "base/mem.h"
#include "match/int_match.h"
#include "match/int_table.h"

enum { MANY = 3000, KEPT_BUCKETS = 4096, ANY = -1, FILLER_TAG = 1000000, FILLER_SOURCE = 1000000 };

static struct match match;
static struct match_ctx ctx;
static struct match_entry recvs[MANY], fillers[MANY];
static struct match_arrival arrivals[MANY], filler_arrivals[MANY];

static const unsigned depths[] = { 0, 3, 15, 16, 17, 40, 300 };

/* Posts recvs[i]; says the number of the arrival it took, or -1. ANY stands for a wildcard. */
static int post(unsigned i, int source, int tag)
{
    struct match_arrival *arrival;

    match_entry_init(&recvs[i], match_key(source, tag), match_mask(source == ANY, tag == ANY));
    arrival = match_post(&ctx, &recvs[i]);
    CHECK_INT(match_is_posted(&recvs[i]), !arrival);
    return arrival ? (int)(arrival - arrivals) : -1;
}

/* Number of the receive that takes the message; without one arrivals[i] is kept, and the answer is -1. */
static int arrive(unsigned i, int source, int tag)
{
    const bool may = match_may_take(&ctx, match_key(source, tag));
    struct match_entry *recv = match_arrive(&ctx, match_key(source, tag));

    CHECK(may || !recv);
    if (!recv) {
        match_keep(&ctx, &arrivals[i], match_key(source, tag));
        return -1;
    }
    CHECK(!match_is_posted(recv));
    return (int)(recv - recvs);
}

static int probe(int source, int tag)
{
    struct match_arrival *arrival =
        match_probe(&ctx, match_key(source, tag), match_mask(source == ANY, tag == ANY));

    return arrival ? (int)(arrival - arrivals) : -1;
}

static void begin(void)
{
    match_init(&match);
    match_ctx_init(&ctx, &match, 7);
}

static void end(void)
{
    CHECK_INT(ctx.posted_count, 0);
    CHECK_INT(ctx.arrival_count, 0);
    match_ctx_fini(&ctx, NULL, NULL, NULL);
    match_fini(&match);
    CHECK_INT(mem_live(), 0);
}

/* Receives of all classes but MATCH_ANY, which no message of a rule fits. */
static void fill_posted(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const bool any_source = i % 3 == 1, any_tag = i % 3 == 2;

        match_entry_init(&fillers[i], match_key(FILLER_SOURCE + (int)i, FILLER_TAG + (int)i),
                         match_mask(any_source, any_tag));
        CHECK(!match_post(&ctx, &fillers[i]));
    }
}

static void unfill_posted(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        CHECK(match_cancel(&ctx, &fillers[i]));
}

static void fill_arrivals(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        match_keep(&ctx, &filler_arrivals[i], match_key(FILLER_SOURCE - 1 - (int)i, FILLER_TAG - 1));
}

static void unfill_arrivals(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        match_take(&ctx, &filler_arrivals[i]);
}

/* "Messages are non-overtaking": receives of the same envelope are taken in the order of posting. */
static void posted_in_order(void)
{
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(post(i, 4, 9), -1);
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(arrive(0, 4, 9), i);
}

/* The oldest receive that fits, of whatever class: the four classes in all 24 orders. */
static void posted_oldest_of_all_classes(void)
{
    static const int source[] = { 1, 1, ANY, ANY }, tag[] = { 5, ANY, 5, ANY };

    for (unsigned first = 0; first < 24; first++) {
        unsigned order[4] = { first % 4, 0, 0, 0 }, rest = first / 4, n = 1;

        for (unsigned class = 0; class < 4; class++)
            if (class != order[0])
                order[n++] = class;
        for (unsigned swaps = rest; swaps; swaps--) {
            const unsigned at = 1 + swaps % 2, moved = order[at];

            order[at] = order[at + 1];
            order[at + 1] = moved;
        }
        for (unsigned i = 0; i < 4; i++)
            CHECK_INT(post(i, source[order[i]], tag[order[i]]), -1);
        for (unsigned i = 0; i < 4; i++)
            CHECK_INT(arrive(0, 1, 5), i);
    }
}

/* Each wildcard takes what it says and nothing else. */
static void posted_takes_only_its_own(void)
{
    CHECK_INT(post(0, 1, 5), -1);
    CHECK_INT(arrive(0, 1, 6), -1);
    CHECK_INT(arrive(1, 2, 5), -1);
    CHECK_INT(post(1, 2, ANY), 1);
    CHECK_INT(post(2, ANY, 6), 0);
    CHECK_INT(post(1, 3, ANY), -1);
    CHECK_INT(post(2, ANY, 7), -1);
    CHECK_INT(arrive(0, 4, 8), -1);
    CHECK_INT(arrive(1, 3, 8), 1);
    CHECK_INT(arrive(1, 4, 7), 2);
    CHECK_INT(arrive(1, 1, 5), 0);
    CHECK_INT(post(0, 4, ANY), 0);
}

static void posted_cancel(void)
{
    for (unsigned i = 0; i < 6; i++)
        CHECK_INT(post(i, 1, 5), -1);
    CHECK(match_cancel(&ctx, &recvs[0])); /* the leader */
    CHECK(!match_cancel(&ctx, &recvs[0]));
    CHECK(match_cancel(&ctx, &recvs[3])); /* in the middle */
    CHECK(match_cancel(&ctx, &recvs[5])); /* the last */
    CHECK_INT(arrive(0, 1, 5), 1);        /* a promoted one */
    CHECK(!match_cancel(&ctx, &recvs[1]));
    CHECK_INT(post(5, 1, 5), -1);
    CHECK_INT(arrive(0, 1, 5), 2);
    CHECK_INT(arrive(0, 1, 5), 4);
    CHECK(match_cancel(&ctx, &recvs[5]));
    CHECK_INT(post(0, ANY, ANY), -1);
    CHECK_INT(post(1, ANY, ANY), -1);
    CHECK(match_cancel(&ctx, &recvs[0]));
    CHECK_INT(arrive(0, 1, 5), 1);
}

/* Messages of one envelope are received in the order of arrival, by each class of receive. */
static void unexpected_in_order_of_class(enum match_class class)
{
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(arrive(i, 4, 9), -1);
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(post(0, class & MATCH_ANY_SOURCE ? ANY : 4, class & MATCH_ANY_TAG ? ANY : 9), i);
}

static void unexpected_in_order(void)
{
    unexpected_in_order_of_class(MATCH_EXACT);
    unexpected_in_order_of_class(MATCH_ANY_TAG);
    unexpected_in_order_of_class(MATCH_ANY_SOURCE);
}

static void unexpected_any(void)
{
    unexpected_in_order_of_class(MATCH_ANY);
    CHECK_INT(probe(ANY, ANY), -1);
    CHECK_INT(arrive(0, 1, 5), -1);
    CHECK_INT(arrive(1, 0, 0), -1);
    CHECK_INT(probe(ANY, ANY), 0);
    CHECK_INT(post(0, 0, 0), 1);
    CHECK_INT(post(0, ANY, ANY), 0);
}

static void unexpected_by_class(void)
{
    CHECK_INT(arrive(0, 1, 5), -1);
    CHECK_INT(arrive(1, 2, 5), -1);
    CHECK_INT(arrive(2, 1, 6), -1);
    CHECK_INT(arrive(3, 2, 6), -1);
    CHECK_INT(arrive(4, 1, 5), -1);
    CHECK_INT(probe(3, ANY), -1);
    CHECK_INT(probe(ANY, 7), -1);
    CHECK_INT(probe(2, 7), -1);
    CHECK_INT(probe(2, ANY), 1);
    CHECK_INT(probe(ANY, 6), 2);
    CHECK_INT(post(0, 2, ANY), 1);
    CHECK_INT(probe(2, ANY), 3);
    CHECK_INT(post(0, ANY, 6), 2);
    CHECK_INT(post(0, ANY, 5), 0);
    CHECK_INT(post(0, 1, ANY), 4);
    CHECK_INT(post(0, 2, 6), 3);
}

/* A probe leaves the message, a matched probe takes it out: no receive gets it then (MPI 5.0 §3.8). */
static void unexpected_probe_and_take(void)
{
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(arrive(i, 1, 5), -1);
    CHECK_INT(probe(1, 5), 0);
    CHECK_INT(probe(1, 5), 0);
    match_take(&ctx, &arrivals[0]);
    CHECK_INT(probe(ANY, 5), 1);
    match_take(&ctx, &arrivals[2]);
    CHECK_INT(post(0, 1, ANY), 1);
    CHECK_INT(post(0, 1, 5), 3);
    CHECK_INT(probe(1, 5), -1);
}

/* Tags of internal traffic are negative, and none of them is a wildcard; the greatest values are as good
 * as any. */
static void extreme_keys(void)
{
    static const int tags[] = { 0, INT32_MAX, -1, -2, INT32_MIN };

    for (unsigned i = 0; i < ARRAY_LEN(tags); i++) {
        match_entry_init(&recvs[i], match_key(INT32_MAX, tags[i]), match_mask(false, false));
        CHECK(!match_post(&ctx, &recvs[i]));
    }
    for (unsigned i = ARRAY_LEN(tags); i-- > 0;) {
        const uint64_t key = match_key(INT32_MAX, tags[i]);

        CHECK(match_arrive(&ctx, key) == &recvs[i]);
        CHECK_INT(match_key_source(key), INT32_MAX);
        CHECK_INT(match_key_tag(key), tags[i]);
    }
}

/* The wildcard half of a key may hold anything. */
static void wildcard_half_is_free(void)
{
    match_entry_init(&recvs[0], match_key(-1, 5), match_mask(true, false));
    CHECK(!match_post(&ctx, &recvs[0]));
    match_entry_init(&recvs[1], match_key(77, 5), match_mask(true, false));
    CHECK(!match_post(&ctx, &recvs[1]));
    CHECK_INT(arrive(0, 1, 5), 0);
    CHECK_INT(arrive(0, 1, 5), 1);
    CHECK_INT(arrive(0, 1, 5), -1);
    CHECK(match_probe(&ctx, match_key(1, 99), match_mask(false, true)) == &arrivals[0]);
    match_take(&ctx, &arrivals[0]);
}

static void at_depth(void (*rule)(void), unsigned posted, unsigned unexpected)
{
    begin();
    fill_posted(posted);
    fill_arrivals(unexpected);
    rule();
    rule();
    CHECK_INT(ctx.posted_count, posted);
    CHECK_INT(ctx.arrival_count, unexpected);
    unfill_posted(posted);
    unfill_arrivals(unexpected);
    end();
}

/* Rules with receives that would take any message at all, so no message may stand ahead. */
static void rules_of_posted(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(depths); i++) {
        at_depth(posted_in_order, depths[i], 0);
        at_depth(posted_oldest_of_all_classes, depths[i], 0);
        at_depth(posted_cancel, depths[i], 0);
        at_depth(unexpected_any, depths[i], 0);
    }
}

static void rules_of_both(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(depths); i++)
        for (unsigned j = 0; j < ARRAY_LEN(depths); j++) {
            at_depth(posted_takes_only_its_own, depths[i], depths[j]);
            at_depth(unexpected_in_order, depths[i], depths[j]);
            at_depth(unexpected_by_class, depths[i], depths[j]);
            at_depth(unexpected_probe_and_take, depths[i], depths[j]);
            at_depth(extreme_keys, depths[i], depths[j]);
            at_depth(wildcard_half_is_free, depths[i], depths[j]);
        }
}

/* The hash stage begins with a search that does not end among the first 16 receives, and ends with the last one, so
 * that a queue whose length goes up and down around 16 does not change its form each time. A queue of any length that
 * is received in order stays a list. */
static void stages_of_posted(void)
{
    begin();
    for (unsigned i = 0; i < 16; i++)
        CHECK_INT(post(i, i % 2 ? ANY : 1, (int)i / 2), -1);
    CHECK_INT(post(16, 1, 0), -1);
    CHECK_INT(post(17, 5, 99), -1);
    CHECK(!ctx.is_hashed);
    CHECK_INT(match.posted.leaders, 0);
    CHECK_INT(arrive(0, 1, 7), 14);
    CHECK(!ctx.is_hashed);
    CHECK_INT(arrive(0, 5, 99), 17);
    CHECK(ctx.is_hashed);
    for (unsigned i = 0; i < 14; i++)
        CHECK_INT(arrive(0, 1, (int)i / 2), i);
    CHECK_INT(arrive(0, 1, 7), 15);
    CHECK(ctx.is_hashed);
    CHECK_INT(ctx.posted_count, 1);
    CHECK_INT(arrive(0, 1, 0), 16);
    CHECK(!ctx.is_hashed);
    CHECK_INT(ctx.posted_high, 18);
    CHECK_INT(match.posted.leaders, 0);
    end();
}

/* The indexes with wildcards appear only when a search had to look at more than 32 messages in vain. */
static void stages_of_unexpected(void)
{
    begin();
    for (unsigned i = 0; i < 16; i++)
        CHECK_INT(arrive(i, 1, (int)i), -1);
    CHECK_INT(ctx.index_bits, 0);
    CHECK_INT(probe(ANY, 40), -1);
    CHECK_INT(ctx.walked, 16);
    CHECK_INT(arrive(16, 1, 16), -1);
    CHECK_INT(ctx.index_bits, 1 << MATCH_EXACT);
    for (unsigned i = 17; i < 32; i++)
        CHECK_INT(arrive(i, 1, (int)i), -1);
    CHECK_INT(probe(ANY, 40), -1);
    CHECK_INT(probe(2, ANY), -1);
    CHECK_INT(ctx.index_bits, 1 << MATCH_EXACT);
    CHECK_INT(arrive(32, 1, 32), -1);
    CHECK_INT(probe(ANY, 31), 31);
    CHECK_INT(ctx.index_bits, 1 << MATCH_EXACT);
    CHECK_INT(probe(ANY, 32), 32);
    CHECK_INT(ctx.index_bits, 1 << MATCH_EXACT | 1 << MATCH_ANY_SOURCE);
    CHECK_INT(probe(2, ANY), -1);
    CHECK_INT(ctx.index_bits, 1 << MATCH_EXACT | 1 << MATCH_ANY_SOURCE | 1 << MATCH_ANY_TAG);
    for (unsigned i = 0; i < 33; i++) {
        CHECK_INT(ctx.index_bits, 7);
        CHECK_INT(post(0, i % 2 ? 1 : ANY, i % 3 ? (int)i : ANY), i);
    }
    CHECK_INT(ctx.index_bits, 0);
    CHECK_INT(ctx.arrival_high, 33);
    CHECK_INT(match.unexpected.leaders, 0);
    CHECK_INT(arrive(0, 1, 5), -1);
    CHECK_INT(ctx.index_bits, 0);
    CHECK_INT(post(0, 1, 5), 0);
    end();
}

static void fill_and_drain_table(void)
{
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(post(i, (int)i, (int)i + 1000), -1);
    for (unsigned i = MANY; i-- > 0;)
        CHECK_INT(arrive(0, (int)i, (int)i + 1000), i);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(arrive(i, (int)i, (int)i + 1000), -1);
    for (unsigned i = MANY; i-- > 0;)
        CHECK_INT(post(0, i % 2 ? ANY : (int)i, (int)i + 1000), i);
}

/* As if a search had gone on beyond the first 16: from here on every receive is entered in the table. */
static void begin_hash_stage(struct match_ctx *of)
{
    CHECK(!match_posted_search(of, match_key(1 << 30, 1 << 30)));
}

static void count_dropped(struct match_entry *recv, void *arg)
{
    (void)recv;
    ++*(int *)arg;
}

static bool is_small(const struct match_table *table)
{
    return match_table_size(table) <= KEPT_BUCKETS;
}

/* The tables grow with the queues and give large memory back; a small one is kept for the next time. */
static void table_grows_and_shrinks(void)
{
    begin();
    begin_hash_stage(&ctx);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(post(i, (int)i, 0), -1);
    CHECK(match_table_size(&match.posted) >= MANY);
    CHECK_INT(mem_live(), 1);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(arrive(0, (int)i, 0), i);
    CHECK(is_small(&match.posted));
    begin_hash_stage(&ctx);
    for (unsigned i = 0; i < MATCH_TABLE_FIRST; i++)
        CHECK_INT(post(i, (int)i, 0), -1);
    for (unsigned i = 0; i < MATCH_TABLE_FIRST; i++)
        CHECK_INT(arrive(0, (int)i, 0), i);
    CHECK_INT(mem_live(), 1);
    fill_and_drain_table();
    CHECK(is_small(&match.posted) && is_small(&match.unexpected));
    end();
}

/* Those that stay behind keep no large table, and are still found; so they are when there is no memory for a small one,
 * and when the context is closed while the table shrinks. */
static void table_shrinks_around_strays(void)
{
    int dropped = 0;

    for (int has_memory = 0; has_memory < 2; has_memory++) {
        begin();
        begin_hash_stage(&ctx);
        for (unsigned i = 0; i < MANY; i++)
            CHECK_INT(post(i, (int)i, 0), -1);
        mem_fail_after(has_memory ? -1 : 0);
        for (unsigned i = 0; i < MANY - 3; i++)
            CHECK_INT(arrive(0, (int)i, 0), i);
        mem_fail_after(-1);
        CHECK_INT(is_small(&match.posted), has_memory);
        for (unsigned i = MANY - 3; i < MANY; i++)
            CHECK_INT(arrive(0, (int)i, 0), i);
        CHECK(is_small(&match.posted));
        end();
    }
    begin();
    begin_hash_stage(&ctx);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(post(i, (int)i, 0), -1);
    match_ctx_fini(&ctx, count_dropped, NULL, &dropped);
    CHECK_INT(dropped, MANY);
    CHECK(is_small(&match.posted));
    match_ctx_init(&ctx, &match, 7);
    end();
}

/* Without memory everything works on, at the size that it has. */
static void table_cannot_grow(void)
{
    for (long n = 0; n < 8; n++) {
        begin();
        mem_fail_after(n);
        fill_and_drain_table();
        if (n == 0) {
            CHECK_INT(match_table_size(&match.posted), MATCH_TABLE_FIRST);
            CHECK_INT(match_table_size(&match.unexpected), MATCH_TABLE_FIRST);
        }
        mem_fail_after(-1);
        fill_and_drain_table();
        CHECK(is_small(&match.posted) && is_small(&match.unexpected));
        end();
    }
}

static unsigned longest_chain(const struct match_table *table)
{
    unsigned longest = 0;

    for (size_t i = 0; i < match_table_size(table); i++) {
        unsigned length = 0;

        for (struct match_node *node = table->buckets[i]; node; node = node->bucket_next)
            length++;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Keys as programs make them, in steps and in step with each other, spread well over the table at any size
 * of it. With random keys the longest chain is of 4 to 6. */
static void keys_spread(uint32_t id)
{
    static const int32_t step[][2] = { /* of the source, of the tag */
        { 0, 1 }, { 1, 0 }, { 1, 1 }, { 0, 2 }, { 0, 64 }, { 0, 100 }, { 0, 1000 }, { 0, 987 }, { 0, 1024 },
        { 0, 4096 }, { 0, 28657 }, { 0, 46368 }, { 0, 65536 }, { 0, 317811 }, { 0, -1 }, { 1, -1 }, { 64, 0 },
        { 128, 128 }, { 4096, 1 }, { 16, 4096 }, { 1, 65536 }, { 46368, 28657 }, { 1, 1000 },
    };

    for (unsigned i = 0; i < ARRAY_LEN(step); i++) {
        begin();
        ctx.id = id;
        begin_hash_stage(&ctx);
        for (unsigned j = 0; j < MANY; j++) {
            CHECK_INT(post(j, (int)j * step[i][0], 1000 + (int)j * step[i][1]), -1);
            if (longest_chain(&match.posted) > 8) {
                fprintf(stderr, "source + %d, tag + %d: a chain of %u among %u\n", step[i][0], step[i][1],
                        longest_chain(&match.posted), j);
                exit(1);
            }
        }
        CHECK_INT(match.posted.leaders, MANY);
        for (unsigned j = 0; j < MANY; j++)
            CHECK_INT(arrive(0, (int)j * step[i][0], 1000 + (int)j * step[i][1]), j);
        end();
    }
}

/* The same keys in many contexts spread as well. */
static void contexts_spread(void)
{
    enum { CONTEXTS = 100, EACH = 20 };
    static struct match_ctx many[CONTEXTS];

    begin();
    for (unsigned i = 0; i < CONTEXTS; i++) {
        match_ctx_init(&many[i], &match, i);
        begin_hash_stage(&many[i]);
        for (unsigned j = 0; j < EACH; j++) {
            struct match_entry *recv = &recvs[i * EACH + j];

            match_entry_init(recv, match_key((int)j / 4, (int)j % 4), match_mask(false, false));
            CHECK(!match_post(&many[i], recv));
        }
    }
    CHECK_INT(match.posted.leaders, CONTEXTS * EACH);
    CHECK(longest_chain(&match.posted) <= 8);
    for (unsigned i = 0; i < CONTEXTS * EACH; i++)
        CHECK(match_cancel(&many[i / EACH], &recvs[i]));
    for (unsigned i = 0; i < CONTEXTS; i++)
        match_ctx_fini(&many[i], NULL, NULL, NULL);
    end();
}

/* Contexts share the tables, but not the messages, even if they have the same number. */
static void contexts_are_apart(void)
{
    static struct match_ctx other;

    for (unsigned n = 1; n <= 64; n *= 8) {
        begin();
        match_ctx_init(&other, &match, 7);
        for (unsigned i = 0; i < n; i++) {
            CHECK_INT(post(i, i % 2 ? ANY : 1, 5), -1);
            CHECK(!match_arrive(&other, match_key(1, 5)));
            match_keep(&other, &arrivals[i], match_key(1, 5));
        }
        CHECK_INT(probe(ANY, ANY), -1);
        CHECK_INT(other.posted_count, 0);
        CHECK_INT(other.arrival_count, n);
        for (unsigned i = 0; i < n; i++)
            CHECK_INT(arrive(0, 1, 5), i);
        for (unsigned i = 0; i < n; i++) {
            match_entry_init(&recvs[0], match_key(1, 0), match_mask(false, true));
            CHECK(match_post(&other, &recvs[0]) == &arrivals[i]);
        }
        match_ctx_fini(&other, NULL, NULL, NULL);
        end();
    }
}

struct seen {
    unsigned recvs[MANY], arrivals[MANY];
    unsigned recv_count, arrival_count;
};

static void see_recv(const struct match_entry *recv, void *arg)
{
    struct seen *seen = arg;

    seen->recvs[recv - recvs]++;
    seen->recv_count++;
}

static void see_arrival(const struct match_arrival *arrival, void *arg)
{
    struct seen *seen = arg;

    CHECK_INT(arrival - arrivals, seen->arrival_count);
    seen->arrivals[arrival - arrivals]++;
    seen->arrival_count++;
}

static void drop_recv(struct match_entry *recv, void *arg)
{
    CHECK(!match_is_posted(recv));
    see_recv(recv, arg);
}

static void drop_arrival(struct match_arrival *arrival, void *arg)
{
    see_arrival(arrival, arg);
}

static void all_seen_once(struct seen *seen, unsigned n)
{
    CHECK_INT(seen->recv_count, n);
    CHECK_INT(seen->arrival_count, n);
    for (unsigned i = 0; i < n; i++) {
        CHECK_INT(seen->recvs[i], 1);
        CHECK_INT(seen->arrivals[i], 1);
    }
    *seen = (struct seen){ .recv_count = 0 };
}

static void fill_for_visit(struct match_ctx *other, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        match_entry_init(&recvs[i], match_key((int)i % 7, (int)i % 5), match_mask(i % 2, i % 3 == 0));
        CHECK(!match_post(&ctx, &recvs[i]));
        match_entry_init(&fillers[i], match_key((int)i % 7, (int)i % 5), match_mask(i % 2, i % 3 == 0));
        CHECK(!match_post(other, &fillers[i]));
    }
    for (unsigned i = 0; i < n; i++) {
        match_keep(&ctx, &arrivals[i], match_key((int)i % 7, 100));
        match_keep(other, &filler_arrivals[i], match_key((int)i % 7, 100));
    }
}

/* What is left in a context is seen by those who look in, and handed over when the context ends; that of
 * another one stays. */
static void visit_and_drop(void)
{
    static struct match_ctx other;
    static struct seen seen;

    for (unsigned n = 1; n <= MANY; n = n * 3 + 1) {
        begin();
        match_ctx_init(&other, &match, 8);
        fill_for_visit(&other, n);
        probe(3, 7);
        match_each_posted(&ctx, see_recv, &seen);
        match_each_arrival(&ctx, see_arrival, &seen);
        all_seen_once(&seen, n);
        match_ctx_fini(&ctx, drop_recv, drop_arrival, &seen);
        all_seen_once(&seen, n);
        CHECK_INT(other.posted_count, n);
        for (unsigned i = 0; i < n; i++)
            CHECK(match_cancel(&other, &fillers[i]));
        for (unsigned i = 0; i < n; i++)
            match_take(&other, &filler_arrivals[i]);
        match_ctx_fini(&other, NULL, NULL, NULL);
        end();
    }
}

/* A program leaves messages on a communicator that it never frees. */
static void left_at_the_end(void)
{
    begin();
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(arrive(i, 1, (int)i), -1);
    CHECK(match.unexpected.leaders > 0);
    match_fini(&match);
    CHECK_INT(mem_live(), 0);
}

int main(void)
{
    rules_of_posted();
    rules_of_both();
    stages_of_posted();
    stages_of_unexpected();
    table_grows_and_shrinks();
    table_shrinks_around_strays();
    table_cannot_grow();
    keys_spread(0);
    keys_spread(7);
    contexts_spread();
    contexts_are_apart();
    visit_and_drop();
    left_at_the_end();
    return 0;
}
