/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match. The hash table of leaders and followers drawn in int_table.h. */
#include "match/int_table.h"

#include <limits.h>

#include "base/mem.h"
#include "match/int_match.h"

enum {
    FIRST_SHIFT = 64 - 8, /* MATCH_TABLE_FIRST buckets */
    LAST_SHIFT = 64 - 28, /* it does not grow beyond that */
    KEEP_SHIFT = 64 - 12, /* a table of up to 32 KB is kept */
    SHRINK_PART = 64      /* a larger one shrinks when it has so many times as many buckets as leaders */
};

_Static_assert(MATCH_TABLE_FIRST == 1 << (64 - FIRST_SHIFT), "first buckets and their shift");

/* The upper bits are used. Sources and tags come in steps, often in step with each other (tag = source +
 * constant). The first product lays keys that follow each other closely into different buckets, but such
 * in wide equal steps may pile up in it; the second one scatters these. */
static inline uint64_t hash_of(uint64_t key, uintptr_t owner)
{
    const uint64_t space = (uint64_t)match_owner_ctx(owner)->id << 2 | match_owner_class(owner);
    const uint64_t x = key ^ space * 0xd6e8feb86659fd93u;

    return x * 0x9e3779b96a09e667u ^ (x >> 10) * 0xd6e8feb86659fd93u;
}

static inline struct match_node **bucket_of(struct match_table *table, uint64_t key, uintptr_t owner)
{
    return &table->buckets[hash_of(key, owner) >> table->shift];
}

static void use_first(struct match_table *table)
{
    table->buckets = table->first;
    table->shift = FIRST_SHIFT;
    table->grow_at = MATCH_TABLE_FIRST / 2;
    table->shrink_at = 0;
}

void match_table_init(struct match_table *table)
{
    *table = (struct match_table){ .leaders = 0 };
    use_first(table);
}

void match_table_fini(struct match_table *table)
{
    if (table->buckets != table->first)
        mem_free(table->buckets);
    use_first(table);
}

static inline struct match_node *find_in(struct match_node *leader, uint64_t key, uintptr_t owner)
{
    while (leader && (leader->key != key || leader->owner != owner))
        leader = leader->bucket_next;
    return leader;
}

/* Queues are often used in bursts of one key, hence the look at the last leader first. */
struct match_node *match_table_find(struct match_table *table, uint64_t key, uintptr_t owner)
{
    struct match_node *leader = table->hint;

    if (leader && leader->key == key && leader->owner == owner)
        return leader;
    leader = find_in(*bucket_of(table, key, owner), key, owner);
    if (leader)
        table->hint = leader;
    return leader;
}

static inline void link_leader(struct match_node *node, struct match_node **link)
{
    node->bucket_next = *link;
    node->bucket_link = link;
    if (*link)
        (*link)->bucket_link = &node->bucket_next;
    *link = node;
}

/* Another number of buckets; false: no memory, and nothing has changed. */
static bool resize(struct match_table *table, unsigned shift)
{
    const size_t size = match_table_size(table), new_size = (size_t)1 << (64 - shift);
    struct match_node **old = table->buckets;
    struct match_node **buckets = mem_zalloc(new_size * sizeof *buckets);

    if (!buckets)
        return false;
    table->buckets = buckets;
    table->shift = shift;
    table->grow_at = (unsigned)(new_size / 2);
    table->shrink_at = shift < KEEP_SHIFT ? (unsigned)(new_size / SHRINK_PART) : 0;
    for (size_t i = 0; i < size; i++)
        for (struct match_node *node = old[i], *next; node; node = next) {
            next = node->bucket_next;
            link_leader(node, bucket_of(table, node->key, node->owner));
        }
    if (old != table->first)
        mem_free(old);
    return true;
}

/* When there is no memory: try again only after as many more leaders, longer chains do until then. */
static void COLD NOINLINE grow(struct match_table *table)
{
    if (table->shift <= LAST_SHIFT || !resize(table, table->shift - 2))
        table->grow_at = table->grow_at > UINT_MAX / 2 ? UINT_MAX : table->grow_at * 2;
}

void match_table_add(struct match_table *table, struct match_node *node)
{
    struct match_node *leader = table->hint;
    struct match_node **bucket;

    if (leader && leader->key == node->key && leader->owner == node->owner)
        goto follow;
    bucket = bucket_of(table, node->key, node->owner);
    leader = find_in(*bucket, node->key, node->owner);
    if (leader)
        goto follow;
    list_init(&node->ring);
    link_leader(node, bucket);
    table->hint = node;
    if (unlikely(++table->leaders > table->grow_at))
        grow(table);
    return;
follow:
    node->bucket_link = NULL;
    list_append(&leader->ring, &node->ring);
    table->hint = leader;
}

static void empty(struct match_table *table)
{
    if (table->shift >= KEEP_SHIFT) {
        table->grow_at = (unsigned)(match_table_size(table) / 2);
        return;
    }
    mem_free(table->buckets);
    for (size_t i = 0; i < MATCH_TABLE_FIRST; i++)
        table->first[i] = NULL;
    use_first(table);
}

/* Few are left of many, and may stay for long: half as many leaders as before grow it again. When there is no memory
 * it waits until it is empty. */
static void COLD NOINLINE shrink(struct match_table *table)
{
    const unsigned shift = table->shift + 4;

    if (!table->leaders)
        empty(table);
    else if (!resize(table, shift < KEEP_SHIFT ? shift : KEEP_SHIFT))
        table->shrink_at = 0;
}

static void unlink_only(struct match_table *table, struct match_node *leader)
{
    *leader->bucket_link = leader->bucket_next;
    if (leader->bucket_next)
        leader->bucket_next->bucket_link = leader->bucket_link;
    if (table->hint == leader)
        table->hint = NULL;
    if (unlikely(--table->leaders <= table->shrink_at))
        shrink(table);
}

static void promote_next(struct match_table *table, struct match_node *leader)
{
    struct match_node *next = CONTAINER_OF(leader->ring.next, struct match_node, ring);

    next->bucket_next = leader->bucket_next;
    next->bucket_link = leader->bucket_link;
    *next->bucket_link = next;
    if (next->bucket_next)
        next->bucket_next->bucket_link = &next->bucket_next;
    list_remove(&leader->ring);
    if (table->hint == leader)
        table->hint = next;
}

void match_table_remove(struct match_table *table, struct match_node *node)
{
    node->owner = 0;
    if (!node->bucket_link)
        list_remove(&node->ring);
    else if (list_is_empty(&node->ring))
        unlink_only(table, node);
    else
        promote_next(table, node);
}
