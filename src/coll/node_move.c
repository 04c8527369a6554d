/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Barrier and bcast through shared memory.
 *
 *   barrier     flat: every member posts and waits for all; one hop, and one change of context for each rank where
 *               ranks share processors. As a tree for many: a member waits for up to 8 others, posts, and waits for
 *               rank 0, which posts when all have come: log8(size) hops and one more
 *   bcast       in rounds: one hop for each part of the data; parts are on their way while others are used. Many bytes:
 *               node_box.c */
#include "coll/int_node.h"

enum { FAN_OUT = 8 };

/* --- barrier --- */

static int flat(struct node_call *call)
{
    node_post(call, node_open(call, false));
    return node_meet(call, call->round);
}

static int tree(struct node_call *call)
{
    const struct comm *comm = call->comm;
    const int first = FAN_OUT * comm->rank + 1, end = first + FAN_OUT;
    struct shelf_line *line = node_open(call, false);
    int rc = 0;

    if (first < comm->size)
        rc = node_await(call, call->round, first, end < comm->size ? end : comm->size);
    if (rc)
        return rc;
    node_post(call, line);
    if (comm->rank) {
        node_wake(call, (comm->rank - 1) / FAN_OUT);
        rc = node_await(call, call->round, 0, 1);
    } else {
        node_wake_all(call);
    }
    call->comm->shelf_known = call->round;
    return rc;
}

int node_barrier(struct comm *comm)
{
    struct node_call call;
    const int rc = node_begin(&call, comm, COLL_BARRIER, -1, 0);

    if (rc)
        return rc;
    return comm->size <= node_flat_max() ? flat(&call) : tree(&call);
}

/* --- bcast --- */

static void fill_bcast(void *arg, char *place, size_t at, size_t len)
{
    node_pack(arg, at, place, len);
}

struct bcast {
    struct node_call call;
    struct coll_block block;
    int root;
};

static void drain_bcast(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct bcast *b = arg;

    node_unpack(&b->block, at, node_place(&b->call, b->root, round, len), len);
}

int node_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root)
{
    struct bcast b = { .block = { buf, count, type }, .root = root };
    const bool is_root = comm->rank == root;
    const size_t bytes = type_bytes(type, count);
    const struct node_work work = { .total = bytes, .part = node_part(), .blocks = 1, .brings = is_root,
                                    .next = root, .end = is_root ? root : root + 1,
                                    .wakes = is_root ? NODE_WAKES_ALL : NODE_WAKES_NOBODY };
    int rc = node_begin(&b.call, comm, COLL_BCAST, root, bytes);

    if (!rc && bytes >= NODE_COPY_MIN && !node_copies_clash(&b.call) && node_copies_pay(&b.call, bytes, &rc)) {
        const struct coll_data *data = &COLL_SAME(buf, count, type);
        size_t longest;

        return node_copy_blocks(&(struct node_blocks){
            .call = &b.call, .out = is_root ? data : NULL, .in = data, .first = root,
            .end = is_root ? root : root + 1, .readers_end = is_root ? comm->size : 0,
            .has_one = true }, &longest);
    }
    if (rc)
        return rc;
    return is_root ? node_run(&b.call, &work, fill_bcast, NULL, drain_bcast, &b.block)
                   : node_run(&b.call, &work, fill_bcast, NULL, drain_bcast, &b);
}
