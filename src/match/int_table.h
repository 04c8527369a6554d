/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match, for its own files. Hash table of leaders and followers:
 *
 *   bucket --> leader --> leader --> NULL         linked by bucket_next, back by bucket_link; keys all differ
 *                |  ^
 *                v  |
 *              follower <-> follower              same key and owner, by age; a ring with the leader
 *
 * The oldest of a key is found in one step from its bucket and a new one is put at the end of the ring in one
 * step. When the leader goes, the next in its ring takes its place in the bucket.
 *
 * The table starts with the buckets that are built in, grows fourfold when there are half as many leaders as
 * buckets, and gives large memory back when few are left. It never fails: without memory it stays as it is. */
#ifndef MATCH_INT_TABLE_H
#define MATCH_INT_TABLE_H

#include "match/match.h"

void match_table_init(struct match_table *table);
/* What is still in it stays with its owners. */
void match_table_fini(struct match_table *table);

/* Oldest node with this key and owner, or NULL. */
struct match_node *match_table_find(struct match_table *table, uint64_t key, uintptr_t owner);

/* Adds `node`, whose key and owner are set, as the youngest of them. */
void match_table_add(struct match_table *table, struct match_node *node);

/* Unlinks `node`; its owner becomes 0. */
void match_table_remove(struct match_table *table, struct match_node *node);

static inline size_t match_table_size(const struct match_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

#endif
