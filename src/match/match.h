/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match. Pairs arrivals with posted receives in MPI order (MPI 5.0 §3.5).
 * Knows: base. Does not know: requests, communicators, transports, datatypes.
 *
 * Every function takes constant time (see README.md), does not block, and is called with the lane's lock. */
#ifndef MATCH_MATCH_H
#define MATCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* Classes of a pair (source, tag) by what is a wildcard in it. */
enum match_class {
    MATCH_EXACT,      /* source and tag */
    MATCH_ANY_TAG,    /* this source, any tag */
    MATCH_ANY_SOURCE, /* this tag, any source */
    MATCH_ANY,        /* any source, any tag */
    MATCH_CLASSES
};

/* Membership in one hash table. Nodes of the same key and owner are a ring in order of age; the oldest of
 * them, the leader, is the one that hangs in the bucket. */
struct match_node {
    struct match_node *bucket_next;
    struct match_node **bucket_link; /* what points at this leader; NULL: not a leader */
    struct list ring;                /* in the short stage: the list of all */
    uint64_t key;                    /* source << 32 | tag */
    uintptr_t owner;                 /* the match_ctx plus the class; 0: not queued */
};

/* A posted receive. Stands first in the user's request, which may be on the stack of a call that waits: once
 * unlinked, nothing in the matcher points at it. */
struct match_entry {
    struct match_node node;
    uint64_t mask;     /* bits of the key that count, see match_mask */
    uint64_t sequence; /* age among the receives of the context; kept only in the hash stage */
} ALIGNED(CACHE_LINE);

/* A message that nobody has asked for yet. Stands first in the user's descriptor. */
struct match_arrival {
    struct match_node exact; /* holds the key */
    struct list all;         /* all arrivals of the context, oldest first */
    struct match_node by_tag ALIGNED(CACHE_LINE);
    struct match_node by_source ALIGNED(CACHE_LINE);
} ALIGNED(CACHE_LINE);

_Static_assert(sizeof(struct match_entry) == CACHE_LINE, "a posted receive is one cache line");
_Static_assert(sizeof(struct match_arrival) == 3 * CACHE_LINE, "an arrival is one, and one for each index");

enum { MATCH_TABLE_FIRST = 256 };

/* Hash table of leaders; the first buckets are built in, so that it works without any memory. */
struct match_table {
    struct match_node **buckets;
    unsigned shift;          /* 64 - log2 of the number of buckets */
    unsigned leaders;
    unsigned grow_at;        /* more leaders than that, and the table grows */
    unsigned shrink_at;      /* so many are left, and it shrinks or, at 0, begins anew */
    struct match_node *hint; /* the last leader touched, or NULL */
    struct match_node *first[MATCH_TABLE_FIRST];
};

struct match_ctx;

/* Who wants to know of each receive that is posted, and of each that is posted no more. Neither function may post,
 * cancel, or bring an arrival. */
struct match_watch {
    void (*posted)(struct match_ctx *ctx, struct match_entry *recv, void *arg);
    void (*unposted)(struct match_ctx *ctx, struct match_entry *recv, void *arg);
    void *arg;
};

/* Tables that all contexts of a lane share. May not be moved while in use. */
struct match {
    struct match_table posted;
    struct match_table unexpected;
    const struct match_watch *watch; /* NULL: nobody. With one, all contexts are in the hash stage from the start */
};

/* Matching state of one context of one communicator. May not be moved while in use. */
struct match_ctx {
    struct list posted;     /* short stage: all receives; hash stage: class MATCH_ANY; oldest first */
    struct list arrivals;   /* all unexpected messages, oldest first */
    unsigned posted_count;
    bool is_hashed;         /* hash stage: receives are entered by class */
    unsigned arrival_count;
    unsigned arrival_limit; /* below it an arrival is simply appended; 0 once there is an index */
    unsigned posted_high;   /* high-water marks of the two counts */
    unsigned arrival_high;
    unsigned index_bits;    /* which classes of receives find unexpected messages by index */
    uint32_t id;            /* the user's number, makes hash values differ between contexts */
    uint64_t walked;        /* entries looked at in vain, all searches together */
    uint64_t sequence;      /* of the next receive in the hash stage */
    unsigned class_count[MATCH_CLASSES]; /* receives by class, in the hash stage */
    struct match *match;
};

void match_init(struct match *match);
/* Before the first context is made. */
void match_set_watch(struct match *match, const struct match_watch *watch);
/* No context is used any more; one that was not closed, as of a communicator that the program never frees, may have
 * messages yet. */
void match_fini(struct match *match);

void match_ctx_init(struct match_ctx *ctx, struct match *match, uint32_t id);

/* Takes a receive or an arrival that was left in a context and is unlinked by now; may free it. */
typedef void match_drop_posted(struct match_entry *recv, void *arg);
typedef void match_drop_arrival(struct match_arrival *arrival, void *arg);

/* Unlinks what is left, in no particular order, and hands each one over. The functions may be NULL when
 * nothing can be left (asserted). */
void match_ctx_fini(struct match_ctx *ctx, match_drop_posted *drop_posted, match_drop_arrival *drop_arrival,
                    void *arg);

/* Sources are 0..INT32_MAX, or have the top bit set, for a space of their own where there are no wildcards; a tag is
 * any 32-bit number, negative ones (of internal traffic) included. */
static inline uint64_t match_key(int32_t source, int32_t tag)
{
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
}

/* What of a key counts. The wildcard half of a key may hold anything. */
static inline uint64_t match_mask(bool any_source, bool any_tag)
{
    return (any_source ? 0 : 0xffffffff00000000u) | (any_tag ? 0 : 0x00000000ffffffffu);
}

static inline int32_t match_key_source(uint64_t key)
{
    return (int32_t)(uint32_t)(key >> 32);
}

static inline int32_t match_key_tag(uint64_t key)
{
    return (int32_t)(uint32_t)key;
}

/* Is nothing posted here and nothing kept? */
static inline bool match_is_empty(const struct match_ctx *ctx)
{
    return !(ctx->posted_count | ctx->arrival_count);
}

/* Once before an entry is posted or cancelled for the first time; to change key and mask later, while the
 * entry is not posted, call it again. */
static inline void match_entry_init(struct match_entry *recv, uint64_t key, uint64_t mask)
{
    recv->node.key = key;
    recv->node.owner = 0;
    recv->mask = mask;
}

/* Is the receive waiting for its message? */
static inline bool match_is_posted(const struct match_entry *recv)
{
    return recv->node.owner != 0;
}

static inline uint64_t match_arrival_key(const struct match_arrival *arrival)
{
    return arrival->exact.key;
}

/* Oldest unexpected message that `recv` takes, unlinked, and then recv is not posted. Or NULL, and then
 * recv is posted: it stays the caller's, but may not go away until match_arrive returns it or match_cancel
 * says true. */
struct match_arrival *match_post(struct match_ctx *ctx, struct match_entry *recv) HOT;

/* Oldest posted receive that takes a message with this key, unlinked; or NULL, and then the caller keeps the
 * message by match_keep before anything else happens in this context. */
struct match_entry *match_arrive(struct match_ctx *ctx, uint64_t key) HOT;

/* May a posted receive take a message with this key? Nothing changes. Yes also where it takes long to tell. */
bool match_may_take(struct match_ctx *ctx, uint64_t key) HOT;

/* Adds an arrival that match_arrive had no receive for. It stays the caller's, but may not go away until
 * match_post returns it or match_take has been called. Its fields need no preparation. */
void match_keep(struct match_ctx *ctx, struct match_arrival *arrival, uint64_t key) HOT;

/* Oldest unexpected message that a receive with this key and mask would take, left in place; or NULL. */
struct match_arrival *match_probe(struct match_ctx *ctx, uint64_t key, uint64_t mask) HOT;

/* Unlinks a message that match_probe has found. */
void match_take(struct match_ctx *ctx, struct match_arrival *arrival);

/* True: `recv` was posted and is now unlinked. False: it is not posted (any more); its message is found. */
bool match_cancel(struct match_ctx *ctx, struct match_entry *recv);

/* For people who look in (debuggers, the hang report): calls `visit` for each; it may change nothing here.
 * Arrivals come oldest first, receives in no particular order. Takes time in the size of the tables. */
typedef void match_visit_posted(const struct match_entry *recv, void *arg);
typedef void match_visit_arrival(const struct match_arrival *arrival, void *arg);
void match_each_posted(struct match_ctx *ctx, match_visit_posted *visit, void *arg);
void match_each_arrival(struct match_ctx *ctx, match_visit_arrival *visit, void *arg);

#endif
