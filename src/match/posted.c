/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match. Posted receives in the hash stage, that is from the first search that did not end among the first 16
 * until none is left.
 * The three classes with a source or a tag stand in the lane's table, the fourth in the list of the context.
 * Each has its oldest at hand; the sequence number tells which of these is the oldest of all. */
#include "match/int_match.h"
#include "match/int_table.h"

static inline struct match_entry *entry_of(struct match_node *node)
{
    return node ? CONTAINER_OF(node, struct match_entry, node) : NULL;
}

static inline void enter(struct match_ctx *ctx, struct match_entry *recv)
{
    const enum match_class class = match_class_of(recv->mask);

    recv->sequence = ctx->sequence++;
    recv->node.key &= recv->mask;
    recv->node.owner = match_owner(ctx, class);
    ctx->class_count[class]++;
    if (class == MATCH_ANY)
        list_append(&ctx->posted, &recv->node.ring);
    else
        match_table_add(&ctx->match->posted, &recv->node);
}

/* The list is taken apart and entered again from the front, so that the sequence is that of posting. */
static void COLD NOINLINE leave_short_stage(struct match_ctx *ctx)
{
    struct list *node = ctx->posted.next;

    ctx->is_hashed = true;
    list_init(&ctx->posted);
    while (node != &ctx->posted) {
        struct list *next = node->next;

        enter(ctx, CONTAINER_OF(node, struct match_entry, node.ring));
        node = next;
    }
}

void match_posted_add(struct match_ctx *ctx, struct match_entry *recv)
{
    const struct match_watch *watch = ctx->match->watch;

    enter(ctx, recv);
    if (++ctx->posted_count > ctx->posted_high)
        ctx->posted_high = ctx->posted_count;
    if (unlikely(watch))
        watch->posted(ctx, recv, watch->arg);
}

static inline struct match_entry *older(struct match_entry *a, struct match_entry *b)
{
    if (!a || !b)
        return a ? a : b;
    return a->sequence < b->sequence ? a : b;
}

static inline struct match_entry *oldest_of_class(struct match_ctx *ctx, uint64_t key, enum match_class class)
{
    const uintptr_t owner = match_owner(ctx, class);

    return entry_of(match_table_find(&ctx->match->posted, key & match_class_mask(class), owner));
}

struct match_entry *match_posted_find(struct match_ctx *ctx, uint64_t key)
{
    struct match_entry *recv = NULL;

    if (ctx->class_count[MATCH_EXACT])
        recv = oldest_of_class(ctx, key, MATCH_EXACT);
    if (ctx->class_count[MATCH_ANY_TAG])
        recv = older(recv, oldest_of_class(ctx, key, MATCH_ANY_TAG));
    if (ctx->class_count[MATCH_ANY_SOURCE])
        recv = older(recv, oldest_of_class(ctx, key, MATCH_ANY_SOURCE));
    if (ctx->class_count[MATCH_ANY])
        recv = older(recv, CONTAINER_OF(ctx->posted.next, struct match_entry, node.ring));
    return recv;
}

struct match_entry *match_posted_arrive(struct match_ctx *ctx, uint64_t key)
{
    struct match_entry *const recv = match_posted_find(ctx, key);

    if (recv)
        match_posted_remove(ctx, recv);
    return recv;
}

struct match_entry *match_posted_search(struct match_ctx *ctx, uint64_t key)
{
    leave_short_stage(ctx);
    return match_posted_arrive(ctx, key);
}

void match_posted_remove(struct match_ctx *ctx, struct match_entry *recv)
{
    const enum match_class class = match_owner_class(recv->node.owner);
    const struct match_watch *watch = ctx->match->watch;

    ctx->class_count[class]--;
    if (class == MATCH_ANY) {
        list_remove(&recv->node.ring);
        recv->node.owner = 0;
    } else {
        match_table_remove(&ctx->match->posted, &recv->node);
    }
    if (--ctx->posted_count == 0)
        ctx->is_hashed = watch != NULL;
    if (unlikely(watch))
        watch->unposted(ctx, recv, watch->arg);
}

static void drop_one(struct match_ctx *ctx, struct match_node *node, match_drop_posted *drop, void *arg)
{
    struct match_entry *recv = entry_of(node);

    match_posted_remove(ctx, recv);
    drop(recv, arg);
}

/* True when the bucket is done; false when the table has shrunk meanwhile, or nothing is left at all. */
static bool drop_bucket(struct match_ctx *ctx, size_t bucket, match_drop_posted *drop, void *arg)
{
    const struct match_table *table = &ctx->match->posted;
    const unsigned shift = table->shift;
    struct match_node **link = &table->buckets[bucket];

    while (*link) {
        if (match_owner_ctx((*link)->owner) != ctx) {
            link = &(*link)->bucket_next;
            continue;
        }
        drop_one(ctx, *link, drop, arg);
        if (table->shift != shift || !ctx->posted_count)
            return false;
    }
    return true;
}

void match_posted_drop(struct match_ctx *ctx, match_drop_posted *drop, void *arg)
{
    while (!list_is_empty(&ctx->posted))
        drop_one(ctx, CONTAINER_OF(ctx->posted.next, struct match_node, ring), drop, arg);
    for (size_t i = 0; ctx->posted_count;)
        i = drop_bucket(ctx, i, drop, arg) ? i + 1 : 0;
}
