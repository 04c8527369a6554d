/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Which way long blocks go in calls in which all bring and all take: through cells, or by the
 * system from memory to memory, by who brings or by who takes them. Which is fastest depends on the machine, on which
 * of the blocks lie in huge pages, and on where a hypervisor has put the processors, which changes during a run.
 * So rank 0 takes the time of all ways now and then, for each kind of calls and class of lengths, and in its line of
 * such a call tells the others which way calls of one kind and class go from the next one on. Each such call is one in
 * which all read that line.
 *
 * Not where ranks share processors, where times say little, and not where a setting has the limit. */
#ifndef COLL_INT_WAYS_H
#define COLL_INT_WAYS_H

#include "coll/int_node.h"

enum node_kind {
    NODE_KIND_EACH,     /* a block for each: alltoall */
    NODE_KIND_ONE,      /* one for all: allgather of 2 */
    NODE_KIND_ALLREDUCE,
    NODE_KIND_REDUCE_SCATTER,
    NODE_KINDS
};

enum {
    NODE_WAYS_MIN = 8192, /* bytes: the first class begins here, each other one at twice as many … */
    NODE_WAYS_CLASSES = 10, /* … and the last one has all that are longer; */
    NODE_WAYS_LONG = 8, /* from this one on, 2 MB, blocks do not go through cells */
};

/* Begin, when it is known whether members may copy and from how many bytes on that should pay. */
void node_ways_init(struct comm *comm) COLD;

/* Is this a call of blocks whose way is found by trial? */
static inline bool node_ways_are_tried(const struct node_blocks *b)
{
    return b->call->comm->shelf_has_ways && node_is_mutual(b) && !node_is_read_by_all(b);
}

static inline enum node_kind node_kind_of(const struct node_blocks *b)
{
    return b->has_one ? NODE_KIND_ONE : NODE_KIND_EACH;
}

/* This call is one of that kind, with so many bytes: its way is in call->way from now on. Is it a copy? */
bool node_ways_copy(struct node_call *call, enum node_kind kind, size_t bytes);

/* In the first line of this member, before it is posted; when that of rank 0 has come; and when all is done. The last
 * one does nothing in other calls. */
void node_ways_tell(struct node_call *call, struct shelf_line *line);
void node_ways_hear(const struct node_call *call, uint32_t round);
void node_ways_end(const struct node_call *call);

#endif
