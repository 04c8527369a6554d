/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match, for its own files. What the deep queues give to the dispatch in match.c:
 * receives in the hash stage (posted.c) and unexpected messages found by index (unexpected.c). */
#ifndef MATCH_INT_MATCH_H
#define MATCH_INT_MATCH_H

#include <assert.h>

#include "match/match.h"

enum {
    MATCH_SHORT = 16, /* so many entries stand in a bare list */
    MATCH_WALK = 32   /* a search may look at so many unexpected messages before it wants an index */
};

static inline enum match_class match_class_of(uint64_t mask)
{
    return (enum match_class)((~mask & MATCH_ANY_TAG) | (~mask >> 62 & MATCH_ANY_SOURCE));
}

static inline uint64_t match_class_mask(enum match_class class)
{
    return match_mask(class & MATCH_ANY_SOURCE, class & MATCH_ANY_TAG);
}

static inline uintptr_t match_owner(const struct match_ctx *ctx, enum match_class class)
{
    return (uintptr_t)ctx | class;
}

static inline struct match_ctx *match_owner_ctx(uintptr_t owner)
{
    return (struct match_ctx *)(owner & ~(uintptr_t)MATCH_ANY);
}

static inline enum match_class match_owner_class(uintptr_t owner)
{
    return (enum match_class)(owner & MATCH_ANY);
}

/* Adds `recv` in the hash stage. */
void match_posted_add(struct match_ctx *ctx, struct match_entry *recv) NOINLINE;

/* The first entries of the list do not take `key`: begins the hash stage and searches there. */
struct match_entry *match_posted_search(struct match_ctx *ctx, uint64_t key) NOINLINE;

/* Oldest receive of the hash stage that takes `key`, left in place; or NULL. */
struct match_entry *match_posted_find(struct match_ctx *ctx, uint64_t key) NOINLINE;

/* The same, unlinked. */
struct match_entry *match_posted_arrive(struct match_ctx *ctx, uint64_t key) NOINLINE;

/* Unlinks a receive in the hash stage. */
void match_posted_remove(struct match_ctx *ctx, struct match_entry *recv);

/* Unlinks all receives of a context in the hash stage and hands them over. */
void match_posted_drop(struct match_ctx *ctx, match_drop_posted *drop, void *arg) COLD;

/* The list has become long, or there is an index already: enters the newest arrival into the indexes. */
void match_unexpected_add(struct match_ctx *ctx, struct match_arrival *arrival) NOINLINE;

/* Oldest arrival that fits, among many; makes an index if it must. */
struct match_arrival *match_unexpected_find(struct match_ctx *ctx, uint64_t key, uint64_t mask) NOINLINE;

/* Takes an arrival out of the indexes. */
void match_unexpected_remove(struct match_ctx *ctx, struct match_arrival *arrival) NOINLINE;

#endif
