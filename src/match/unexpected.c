/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match. Unexpected messages when there are many.
 * The list of all in order of arrival is always kept. From the 17th on there is an index of exact keys; the
 * indexes by source (for any tag) and by tag (for any source) are made when a search has walked too far for
 * want of one. An index is kept until no message is left, so that making it costs each message one step. */
#include "match/int_match.h"
#include "match/int_table.h"

static const size_t node_offset[] = {
    [MATCH_EXACT] = offsetof(struct match_arrival, exact),
    [MATCH_ANY_TAG] = offsetof(struct match_arrival, by_source),
    [MATCH_ANY_SOURCE] = offsetof(struct match_arrival, by_tag),
};

static inline struct match_node *node_of(struct match_arrival *arrival, enum match_class class)
{
    return (struct match_node *)(void *)((char *)arrival + node_offset[class]);
}

static inline struct match_arrival *arrival_of(struct match_node *node, enum match_class class)
{
    return node ? (struct match_arrival *)(void *)((char *)node - node_offset[class]) : NULL;
}

static inline struct match_arrival *in_all(struct list *link)
{
    return CONTAINER_OF(link, struct match_arrival, all);
}

static inline bool has_index(const struct match_ctx *ctx, enum match_class class)
{
    return ctx->index_bits >> class & 1;
}

static inline void enter(struct match_ctx *ctx, struct match_arrival *arrival, enum match_class class)
{
    struct match_node *node = node_of(arrival, class);

    node->key = arrival->exact.key & match_class_mask(class);
    node->owner = match_owner(ctx, class);
    match_table_add(&ctx->match->unexpected, node);
}

static void COLD NOINLINE make_index(struct match_ctx *ctx, enum match_class class)
{
    ctx->index_bits |= 1u << class;
    LIST_FOR_EACH(link, &ctx->arrivals)
        enter(ctx, in_all(link), class);
}

void match_unexpected_add(struct match_ctx *ctx, struct match_arrival *arrival)
{
    if (unlikely(!ctx->index_bits)) {
        ctx->arrival_limit = 0;
        make_index(ctx, MATCH_EXACT);
        return;
    }
    enter(ctx, arrival, MATCH_EXACT);
    if (has_index(ctx, MATCH_ANY_TAG))
        enter(ctx, arrival, MATCH_ANY_TAG);
    if (has_index(ctx, MATCH_ANY_SOURCE))
        enter(ctx, arrival, MATCH_ANY_SOURCE);
}

void match_unexpected_remove(struct match_ctx *ctx, struct match_arrival *arrival)
{
    struct match_table *table = &ctx->match->unexpected;

    match_table_remove(table, &arrival->exact);
    if (has_index(ctx, MATCH_ANY_TAG))
        match_table_remove(table, &arrival->by_source);
    if (has_index(ctx, MATCH_ANY_SOURCE))
        match_table_remove(table, &arrival->by_tag);
    if (list_is_empty(&ctx->arrivals)) {
        ctx->index_bits = 0;
        ctx->arrival_limit = MATCH_SHORT;
    }
}

/* Looks at the first MATCH_WALK messages; `all_seen`: there are no more. */
static struct match_arrival *walk(struct match_ctx *ctx, uint64_t key, uint64_t mask, bool *all_seen)
{
    unsigned walked = 0;

    *all_seen = false;
    LIST_FOR_EACH(link, &ctx->arrivals) {
        struct match_arrival *arrival = in_all(link);

        if (((key ^ arrival->exact.key) & mask) == 0) {
            ctx->walked += walked;
            return arrival;
        }
        if (++walked == MATCH_WALK && link->next != &ctx->arrivals) {
            ctx->walked += walked;
            return NULL;
        }
    }
    ctx->walked += walked;
    *all_seen = true;
    return NULL;
}

struct match_arrival *match_unexpected_find(struct match_ctx *ctx, uint64_t key, uint64_t mask)
{
    const enum match_class class = match_class_of(mask);

    if (class == MATCH_ANY)
        return in_all(ctx->arrivals.next);
    if (!has_index(ctx, class)) {
        bool all_seen;
        struct match_arrival *arrival = walk(ctx, key, mask, &all_seen);

        if (arrival || all_seen)
            return arrival;
        make_index(ctx, class);
    }
    return arrival_of(match_table_find(&ctx->match->unexpected, key & mask, match_owner(ctx, class)), class);
}
