/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What short calls through shared memory are made of (short.h): all in one round, all data in
 * lines. Line for line they say what the general ways say (node_blocks.c, node_slots.c, node_reduce.c), since another
 * member may go one of those. */
#ifndef COLL_INT_SHORT_H
#define COLL_INT_SHORT_H

#include "coll/int_node.h"
#include "coll/short.h"

static ALWAYS_INLINE bool short_may(const struct comm *comm, enum coll_operation operation)
{
    return likely(comm->shelf_short >> operation & 1);
}

/* Is there data without gaps, at most `most` bytes of them? */
static ALWAYS_INLINE bool short_is(const void *buf, MPI_Count count, const struct type *type, size_t most)
{
    return likely(type->is_contig && type_bytes(type, count) <= most && (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE);
}

/* May `bytes` that a member keeps go from `buf` to `to`, or are they there already? */
static ALWAYS_INLINE bool short_keeps(const void *buf, MPI_Count count, const struct type *type, const void *to,
                                      size_t bytes)
{
    return buf == MPI_IN_PLACE || (type->is_contig && type_bytes(type, count) == bytes && buf != to);
}

static ALWAYS_INLINE void short_keep(const void *buf, void *to, size_t bytes)
{
    if (buf != MPI_IN_PLACE)
        copy_bytes(to, buf, bytes);
}

/* Begin the call and its round; returns this member's line. */
static ALWAYS_INLINE unsigned char *short_open(struct node_call *call, struct comm *comm,
                                               enum coll_operation operation, const char *name, int root, size_t bytes)
{
    *call = (struct node_call){ .comm = comm, .what = node_what(operation, root), .bytes = bytes };
    coll_count_call(comm, name);
    return node_open(call, false)->data;
}

static ALWAYS_INLINE void short_post(struct node_call *call)
{
    node_post(call, shelf_line(call->comm, call->comm->rank, call->round));
}

static ALWAYS_INLINE void *short_place(const struct node_call *call, int rank)
{
    return shelf_line(call->comm, rank, call->round)->data;
}

/* Wait for the line of a member. Error: E0700. */
static ALWAYS_INLINE int short_await(struct node_call *call, int rank)
{
    const struct shelf_line *line = shelf_line(call->comm, rank, call->round);
    const uint64_t stamp = (uint64_t)call->round << 32 | call->what;

    PROGRESS_LOOK_FIRST {
        if (atomic_load_explicit(&line->stamp, memory_order_acquire) == stamp) /* pairs with node_post */
            return likely(shelf_bytes(line) == call->bytes) ? 0 : node_await(call, call->round, rank, rank + 1);
    }
    return node_await(call, call->round, rank, rank + 1);
}

/* For all of them, who all wait for all. Error: E0700. */
static ALWAYS_INLINE int short_meet(struct node_call *call)
{
    struct comm *comm = call->comm;
    int rc = 0;

    if (unlikely(progress_is_oversubscribed()))
        return node_meet(call, call->round); /* which knows who shares a processor */
    for (int rank = 0; rank < comm->size && likely(!rc); rank++) {
        if (rank != comm->rank)
            rc = short_await(call, rank);
    }
    comm->shelf_known = call->round;
    node_wake_all(call);
    return rc;
}

#endif
