/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match. The short stage, where almost all programs live: bare lists with nothing else kept up to date. A list of
 * receives may be long as long as every arrival finds its receive among the first 16, as in a window that is
 * received in order; the first search that goes on hands over to posted.c. More than 16 unexpected messages go to
 * unexpected.c. */
#include "match/match.h"

#include "match/int_match.h"
#include "match/int_table.h"

void match_init(struct match *match)
{
    match_table_init(&match->posted);
    match_table_init(&match->unexpected);
    match->watch = NULL;
}

void match_set_watch(struct match *match, const struct match_watch *watch)
{
    match->watch = watch;
}

void match_fini(struct match *match)
{
    match_table_fini(&match->posted);
    match_table_fini(&match->unexpected);
}

void match_ctx_init(struct match_ctx *ctx, struct match *match, uint32_t id)
{
    assert(match_owner_class((uintptr_t)ctx) == 0);
    *ctx = (struct match_ctx){
        .arrival_limit = MATCH_SHORT, .id = id, .match = match, .is_hashed = match->watch != NULL,
    };
    list_init(&ctx->posted);
    list_init(&ctx->arrivals);
}

static inline struct match_entry *in_posted(struct list *link)
{
    return CONTAINER_OF(link, struct match_entry, node.ring);
}

static inline struct match_arrival *in_arrivals(struct list *link)
{
    return CONTAINER_OF(link, struct match_arrival, all);
}

static inline bool is_short(const struct match_ctx *ctx)
{
    return !ctx->is_hashed;
}

static inline void append_posted(struct match_ctx *ctx, struct match_entry *recv)
{
    recv->node.owner = match_owner(ctx, MATCH_EXACT);
    list_append(&ctx->posted, &recv->node.ring);
    if (++ctx->posted_count > ctx->posted_high)
        ctx->posted_high = ctx->posted_count;
}

static inline void unlink_posted(struct match_ctx *ctx, struct match_entry *recv)
{
    recv->node.owner = 0;
    list_unlink(&recv->node.ring);
    ctx->posted_count--;
}

struct match_arrival *match_post(struct match_ctx *ctx, struct match_entry *recv)
{
    assert(!match_is_posted(recv));
    if (unlikely(ctx->arrival_count)) {
        struct match_arrival *arrival = match_probe(ctx, recv->node.key, recv->mask);

        if (arrival) {
            match_take(ctx, arrival);
            return arrival;
        }
    }
    if (likely(is_short(ctx)))
        append_posted(ctx, recv);
    else
        match_posted_add(ctx, recv);
    return NULL;
}

struct match_entry *match_arrive(struct match_ctx *ctx, uint64_t key)
{
    unsigned walked = 0;

    if (unlikely(!is_short(ctx)))
        return match_posted_arrive(ctx, key);
    LIST_FOR_EACH(link, &ctx->posted) {
        struct match_entry *recv = in_posted(link);

        if (((key ^ recv->node.key) & recv->mask) == 0) {
            unlink_posted(ctx, recv);
            if (unlikely(walked))
                ctx->walked += walked;
            return recv;
        }
        if (unlikely(++walked == MATCH_SHORT)) {
            ctx->walked += walked;
            return match_posted_search(ctx, key);
        }
    }
    ctx->walked += walked;
    return NULL;
}

bool match_may_take(struct match_ctx *ctx, uint64_t key)
{
    unsigned walked = 0;

    if (unlikely(!is_short(ctx)))
        return match_posted_find(ctx, key);
    LIST_FOR_EACH(link, &ctx->posted) {
        const struct match_entry *recv = in_posted(link);

        if (((key ^ recv->node.key) & recv->mask) == 0 || ++walked == MATCH_SHORT)
            return true;
    }
    return false;
}

void match_keep(struct match_ctx *ctx, struct match_arrival *arrival, uint64_t key)
{
    arrival->exact.key = key;
    list_append(&ctx->arrivals, &arrival->all);
    if (++ctx->arrival_count > ctx->arrival_high)
        ctx->arrival_high = ctx->arrival_count;
    if (unlikely(ctx->arrival_count > ctx->arrival_limit))
        match_unexpected_add(ctx, arrival);
}

struct match_arrival *match_probe(struct match_ctx *ctx, uint64_t key, uint64_t mask)
{
    unsigned walked = 0;

    if (unlikely(ctx->index_bits))
        return match_unexpected_find(ctx, key, mask);
    LIST_FOR_EACH(link, &ctx->arrivals) {
        struct match_arrival *arrival = in_arrivals(link);

        if (((key ^ arrival->exact.key) & mask) == 0) {
            ctx->walked += walked;
            return arrival;
        }
        walked++;
    }
    ctx->walked += walked;
    return NULL;
}

void match_take(struct match_ctx *ctx, struct match_arrival *arrival)
{
    list_remove(&arrival->all);
    ctx->arrival_count--;
    if (unlikely(ctx->index_bits))
        match_unexpected_remove(ctx, arrival);
}

bool match_cancel(struct match_ctx *ctx, struct match_entry *recv)
{
    if (!match_is_posted(recv))
        return false;
    assert(match_owner_ctx(recv->node.owner) == ctx);
    if (likely(is_short(ctx)))
        unlink_posted(ctx, recv);
    else
        match_posted_remove(ctx, recv);
    return true;
}

void match_ctx_fini(struct match_ctx *ctx, match_drop_posted *drop_posted, match_drop_arrival *drop_arrival,
                    void *arg)
{
    assert(drop_posted || !ctx->posted_count);
    assert(drop_arrival || !ctx->arrival_count);
    if (!is_short(ctx))
        match_posted_drop(ctx, drop_posted, arg);
    while (!list_is_empty(&ctx->posted)) {
        struct match_entry *recv = in_posted(ctx->posted.next);

        unlink_posted(ctx, recv);
        drop_posted(recv, arg);
    }
    while (!list_is_empty(&ctx->arrivals)) {
        struct match_arrival *arrival = in_arrivals(ctx->arrivals.next);

        match_take(ctx, arrival);
        drop_arrival(arrival, arg);
    }
}

static void visit_ring(struct match_node *leader, match_visit_posted *visit, void *arg)
{
    visit(CONTAINER_OF(leader, struct match_entry, node), arg);
    LIST_FOR_EACH(link, &leader->ring)
        visit(in_posted(link), arg);
}

void match_each_posted(struct match_ctx *ctx, match_visit_posted *visit, void *arg)
{
    struct match_table *table = &ctx->match->posted;

    LIST_FOR_EACH(link, &ctx->posted)
        visit(in_posted(link), arg);
    if (is_short(ctx))
        return;
    for (size_t i = 0; i < match_table_size(table); i++)
        for (struct match_node *leader = table->buckets[i]; leader; leader = leader->bucket_next)
            if (match_owner_ctx(leader->owner) == ctx)
                visit_ring(leader, visit, arg);
}

void match_each_arrival(struct match_ctx *ctx, match_visit_arrival *visit, void *arg)
{
    LIST_FOR_EACH(link, &ctx->arrivals)
        visit(in_arrivals(link), arg);
}
