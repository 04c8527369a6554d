/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Calls through shared memory that only move data, in rounds: bcast, gather, scatter, allgather, alltoall,
 * and the barrier, which moves none. Two copies of each byte, one by who brings it and one by who takes it.
 *
 *   barrier     flat: every member posts and waits for all; one hop, and one change of context for each rank where
 *               ranks share processors. As a tree for many: a member waits for up to 8 others, posts, and waits for
 *               rank 0, which posts when all have come: log8(size) hops and one more
 *   others      one hop for each part of the data; parts are on their way while others are used */
#include "base/copy.h"
#include "base/err.h"
#include "coll/int_node.h"

enum { FAN_OUT = 8 };

/* The blocks that a member sends and receives. */
struct move {
    struct node_call call;
    const struct coll_data *send, *recv;
    size_t bytes; /* of a block */
};

static ALWAYS_INLINE void pack(const struct coll_block *from, size_t at, char *to, size_t len)
{
    if (likely(from->type->is_contig))
        copy_bytes(to, coll_address(from->buf, (MPI_Count)at), len);
    else
        type_pack(from->type, from->buf, from->count, at, to, len);
}

static ALWAYS_INLINE void unpack(const struct coll_block *to, size_t at, const char *from, size_t len)
{
    if (likely(to->type->is_contig))
        copy_bytes(coll_address(to->buf, (MPI_Count)at), from, len);
    else
        type_unpack(to->type, to->buf, to->count, at, from, len);
}

/* --- barrier --- */

static int flat(struct node_call *call)
{
    node_post(call, node_open(call));
    return node_meet(call, call->round);
}

static int tree(struct node_call *call)
{
    const struct comm *comm = call->comm;
    const int first = FAN_OUT * comm->rank + 1, end = first + FAN_OUT;
    struct shelf_line *line = node_open(call);
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
    const int rc = node_begin(&call, comm, NODE_BARRIER, -1, 0);

    if (rc)
        return rc;
    return comm->size <= node_flat_max() ? flat(&call) : tree(&call);
}

/* --- bcast --- */

static void fill_bcast(void *arg, char *place, size_t at, size_t len)
{
    pack(arg, at, place, len);
}

struct bcast {
    struct node_call call;
    struct coll_block block;
    int root;
};

static void drain_bcast(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct bcast *b = arg;

    unpack(&b->block, at, node_place(&b->call, b->root, round, len), len);
}

int node_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root)
{
    struct bcast b = { .block = { buf, count, type }, .root = root };
    const bool is_root = comm->rank == root;
    const size_t bytes = type_bytes(type, count);
    const struct node_work work = { .total = bytes, .part = SHELF_CELL, .blocks = 1, .brings = is_root,
                                    .next = root, .end = is_root ? root : root + 1,
                                    .wakes = is_root ? NODE_WAKES_ALL : NODE_WAKES_NOBODY };
    const int rc = node_begin(&b.call, comm, NODE_BCAST, root, bytes);

    if (rc)
        return rc;
    return is_root ? node_run(&b.call, &work, fill_bcast, drain_bcast, &b.block)
                   : node_run(&b.call, &work, fill_bcast, drain_bcast, &b);
}

/* --- gather --- */

static void fill_own(void *arg, char *place, size_t at, size_t len)
{
    const struct move *m = arg;
    const struct coll_block own =
        coll_is_in_place(m->send->buf) ? coll_data_block(m->recv, m->call.comm->rank) : coll_data_block(m->send, 0);

    pack(&own, at, place, len);
}

/* From everybody else. */
static void drain_each(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct move *m = arg;

    for (int rank = 0; rank < m->call.comm->size; rank++) {
        if (rank != m->call.comm->rank) {
            const struct coll_block to = coll_data_block(m->recv, rank);
            unpack(&to, at, node_place(&m->call, rank, round, len), len);
        }
    }
}

/* This member's block for itself. Errors: those of coll_copy, E0702. */
static int copy_own(const struct move *m, int from_rank, int to_rank)
{
    const struct coll_block from = coll_data_block(m->send, from_rank), to = coll_data_block(m->recv, to_rank);
    const size_t brings = type_bytes(from.type, from.count), wants = type_bytes(to.type, to.count);

    if (unlikely(brings < wants))
        return err(MPI_ERR_COUNT, "E0702: blocks of %zu bytes are sent, and blocks of %zu bytes are to be received",
                   brings, wants);
    return coll_copy(&from, &to);
}

int node_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    const bool is_root = comm->rank == root;
    const struct coll_data *own = is_root ? recv : send;
    const size_t bytes = type_bytes(own->type, own->count);
    const struct node_work work = { .total = bytes, .part = SHELF_CELL, .blocks = 1, .brings = !is_root,
                                    .end = is_root ? comm->size : 0, .wakes = is_root ? NODE_WAKES_NOBODY : root };
    struct move m = { .send = send, .recv = recv, .bytes = bytes };
    int rc = node_begin(&m.call, comm, NODE_GATHER, root, bytes);

    if (!rc && is_root && !coll_is_in_place(send->buf))
        rc = copy_own(&m, 0, root);
    return rc ? rc : node_run(&m.call, &work, fill_own, drain_each, &m);
}

/* --- scatter, alltoall --- */

/* A block for each member, one after the other, as long as the part. */
static void fill_all(void *arg, char *place, size_t at, size_t len)
{
    const struct move *m = arg;
    const struct coll_data *blocks = coll_is_in_place(m->send->buf) ? m->recv : m->send;

    for (int rank = 0; rank < m->call.comm->size; rank++, place += len) {
        if (rank != m->call.comm->rank) {
            const struct coll_block from = coll_data_block(blocks, rank);
            pack(&from, at, place, len);
        }
    }
}

struct scatter {
    struct move move;
    int root;
};

static void drain_scatter(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct scatter *s = arg;
    const struct comm *comm = s->move.call.comm;
    const struct coll_block to = coll_data_block(s->move.recv, 0);
    const char *place = node_place(&s->move.call, s->root, round, (size_t)comm->size * len);

    unpack(&to, at, place + (size_t)comm->rank * len, len);
}

/* Parts of so many blocks that go into one place together. */
static size_t part_of(int blocks)
{
    const size_t part = SHELF_CELL / (size_t)blocks;

    return part > CACHE_LINE ? part / CACHE_LINE * CACHE_LINE : part;
}

int node_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    const bool is_root = comm->rank == root;
    const struct coll_data *own = is_root ? send : recv;
    const size_t bytes = type_bytes(own->type, own->count);
    const struct node_work work = { .total = bytes, .part = part_of(comm->size), .blocks = comm->size,
                                    .brings = is_root, .next = root, .end = is_root ? root : root + 1,
                                    .wakes = is_root ? NODE_WAKES_ALL : NODE_WAKES_NOBODY };
    struct scatter s = { .move = { .send = send, .recv = recv, .bytes = bytes }, .root = root };
    int rc = node_begin(&s.move.call, comm, NODE_SCATTER, root, bytes);

    if (!rc && is_root && !coll_is_in_place(recv->buf))
        rc = copy_own(&s.move, root, 0);
    return rc ? rc : node_run(&s.move.call, &work, fill_all, drain_scatter, &s);
}

static void drain_all(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct move *m = arg;
    const struct comm *comm = m->call.comm;

    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank) {
            const struct coll_block to = coll_data_block(m->recv, rank);
            const char *place = node_place(&m->call, rank, round, (size_t)comm->size * len);
            unpack(&to, at, place + (size_t)comm->rank * len, len);
        }
    }
}

int node_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const size_t bytes = type_bytes(recv->type, recv->count);
    const struct node_work work = { .total = bytes, .part = part_of(comm->size), .blocks = comm->size, .brings = true,
                                    .end = comm->size, .wakes = NODE_WAKES_LAST };
    struct move m = { .send = send, .recv = recv, .bytes = bytes };
    int rc = node_begin(&m.call, comm, NODE_ALLTOALL, -1, bytes);

    if (!rc && !coll_is_in_place(send->buf))
        rc = copy_own(&m, comm->rank, comm->rank);
    return rc ? rc : node_run(&m.call, &work, fill_all, drain_all, &m);
}

/* --- allgather --- */

int node_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const size_t bytes = type_bytes(recv->type, recv->count);
    const struct node_work work = { .total = bytes, .part = SHELF_CELL, .blocks = 1, .brings = true,
                                    .end = comm->size, .wakes = NODE_WAKES_LAST };
    struct move m = { .send = send, .recv = recv, .bytes = bytes };
    int rc = node_begin(&m.call, comm, NODE_ALLGATHER, -1, bytes);

    if (!rc && !coll_is_in_place(send->buf))
        rc = copy_own(&m, 0, comm->rank);
    return rc ? rc : node_run(&m.call, &work, fill_own, drain_each, &m);
}
