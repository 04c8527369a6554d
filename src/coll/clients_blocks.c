/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Collective calls over several clients of IMPI that carry a block for each process. Only the tags, and a
 * length from which blocks go straight, are known of what is laid down for them (4.6 to 4.9, 4.12 to 4.18), so all of
 * it stands here, for the day when the rest is. n is the number of processes, k that of clients.
 *
 *   gather, scatter      short blocks: one message for each client, with its blocks in the order of ranks, between its
 *                        master and the root, or along a tree of masters; long ones, and all of the v forms: each
 *                        process with the root
 *   allgather(v)         gather(v) to rank 0, bcast
 *   alltoall(v, w)       each process with each
 *   reduce_scatter       reduce to rank 0, scatterv
 *   scan, exscan         from each rank to the next: n - 1 messages one after the other
 *
 * A message with several blocks has a datatype of its own that says where they lie, so nothing is packed. */
#include "coll/clients.h"

#include "coll/levels.h"

enum { WINDOW = 16 };

/* Where a process has the blocks of all ranks. */
struct area {
    void *base;
    MPI_Count stride; /* bytes from one to the next */
    MPI_Count count;
    struct type *type;
};

static struct area area_of_user(const struct coll_data *data)
{
    return (struct area){ data->buf, data->count * data->type->extent, data->count, data->type };
}

static struct area area_of_own(struct sched *s, const struct coll_block *like)
{
    const struct type_span span = type_span(like->type, like->count);
    const size_t stride = (span.len + COLL_ITEMS_ALIGN - 1) / COLL_ITEMS_ALIGN * COLL_ITEMS_ALIGN;
    const void *memory = sched_bytes(s, stride * (size_t)s->comm->size + COLL_ITEMS_ALIGN);

    return (struct area){ coll_place_items(memory, span), (MPI_Count)stride, like->count, like->type };
}

static struct coll_block block_of(const struct area *area, int rank)
{
    return (struct coll_block){ coll_address(area->base, area->stride * rank), area->count, area->type };
}

/* All messages of the schedule are of this tag. */
static void retag(struct sched *s, int tag)
{
    for (int i = 0; i < s->step_count; i++)
        s->steps[i].sub = (uint8_t)tag;
}

static void fail(struct sched *s, int rc)
{
    if (!s->failed)
        s->failed = rc;
}

/* One block with those of `n` ranks in it; its type is the caller's to drop. False: the schedule has failed. */
static bool bundle(struct sched *s, const struct area *area, const int *ranks, int n, struct coll_block *out)
{
    MPI_Count *places = sched_bytes(s, (size_t)n * sizeof *places);
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_HINDEXED_BLOCK, .is_large = true, .count = n,
                                        .length = area->count, .disps = TYPE_NUMBERS(places) };
    int rc;

    if (s->failed)
        return false;
    for (int i = 0; i < n; i++)
        places[i] = area->stride * ranks[i];
    *out = (struct coll_block){ area->base, 1, NULL };
    rc = type_indexed(&blocks, area->type, &out->type);
    if (!rc)
        rc = type_commit(out->type);
    if (rc)
        fail(s, rc);
    return !rc;
}

/* --- gather and scatter of short blocks --- */

/* What a master does with the others. */
struct trade {
    struct coll_levels l;
    struct area area;
    int tag;
};

/* The blocks of the clients at `n` places from `place` on, with the master at `peer`. */
static int exchange(struct sched *s, const struct trade *t, int place, int n, int peer, bool sends, int after)
{
    const int nodes = t->l.nodes, end = place + n < nodes ? place + n : nodes;
    int *ranks = sched_bytes(s, (size_t)s->comm->size * sizeof *ranks), count = 0, step;
    struct coll_block block;

    if (s->failed)
        return SCHED_NONE;
    for (; place < end; place++) {
        const int node = (t->l.top.first + place) % nodes;

        for (int i = t->l.start[node]; i < t->l.start[node + 1]; i++)
            ranks[count++] = t->l.order[i];
    }
    if (!bundle(s, &t->area, ranks, count, &block))
        return SCHED_NONE;
    step = (sends ? clients_send : clients_recv)(s, block, coll_team_rank(&t->l.top, peer), t->tag, after);
    type_unref(block.type);
    return step;
}

static int collect(struct sched *s, const struct trade *t, int after)
{
    const int place = t->l.top.place, nodes = t->l.nodes;
    int all = after;

    if (clients_is_linear(nodes)) {
        for (int i = 1; !place && i < nodes; i++)
            all = sched_join(s, AFTER(all, exchange(s, t, i, 1, i, false, SCHED_NONE)));
        return place ? exchange(s, t, place, 1, 0, true, all) : all;
    }
    for (int bit = 1; bit < nodes; bit += bit) {
        if (place & bit)
            return exchange(s, t, place, bit, place - bit, true, all);
        if ((place | bit) < nodes)
            all = sched_join(s, AFTER(all, exchange(s, t, place | bit, bit, place | bit, false, SCHED_NONE)));
    }
    return all;
}

static int deal(struct sched *s, const struct trade *t)
{
    const int place = t->l.top.place, nodes = t->l.nodes;
    int bit = 1, last = SCHED_NONE;

    if (clients_is_linear(nodes)) {
        for (int i = 1; !place && i < nodes; i++)
            exchange(s, t, i, 1, i, true, SCHED_NONE);
        return place ? exchange(s, t, place, 1, 0, false, SCHED_NONE) : SCHED_NONE;
    }
    while (bit < nodes && !(place & bit)) /* the lowest bit of this place; below it are its children */
        bit += bit;
    if (place)
        last = exchange(s, t, place, bit, place - bit, false, SCHED_NONE);
    for (bit /= 2; bit > 0; bit /= 2)
        if ((place | bit) < nodes)
            exchange(s, t, place | bit, bit, place | bit, true, last);
    return last;
}

/* To the root, whose `recv` counts; `own` is this process's block. Over when all have come, or have gone. */
static int gather_short(struct sched *s, struct coll_block own, const struct coll_data *recv, int root)
{
    struct trade t = { .tag = CLIENTS_GATHER };
    int all = SCHED_NONE;

    if (!coll_levels_of(s, root, &t.l))
        return SCHED_NONE;
    if (!t.l.is_leader)
        return coll_team_send(s, &t.l.node, own, 0, LEVELS_UP, AT_ONCE);
    t.area = s->comm->rank == root ? area_of_user(recv) : area_of_own(s, &own);
    if (own.buf != block_of(&t.area, s->comm->rank).buf)
        all = sched_copy(s, own, block_of(&t.area, s->comm->rank), AT_ONCE);
    for (int i = 1; i < t.l.node.size; i++) {
        const int rank = coll_team_rank(&t.l.node, i);

        all = sched_join(s, AFTER(all, sched_recv(s, block_of(&t.area, rank), rank, LEVELS_UP, AT_ONCE)));
    }
    return collect(s, &t, all);
}

static void scatter_short(struct sched *s, struct coll_block own, const struct coll_data *send, int root)
{
    struct trade t = { .tag = CLIENTS_SCATTER };
    int last;

    if (!coll_levels_of(s, root, &t.l))
        return;
    if (!t.l.is_leader) {
        coll_team_recv(s, &t.l.node, own, 0, LEVELS_DOWN, AT_ONCE);
        return;
    }
    t.area = s->comm->rank == root ? area_of_user(send) : area_of_own(s, &own);
    last = deal(s, &t);
    for (int i = 1; i < t.l.node.size; i++) {
        const int rank = coll_team_rank(&t.l.node, i);

        sched_send(s, block_of(&t.area, rank), rank, LEVELS_DOWN, AFTER(last));
    }
    if (own.buf != block_of(&t.area, s->comm->rank).buf)
        sched_copy(s, block_of(&t.area, s->comm->rank), own, AFTER(last));
}

static bool is_long(const struct coll_block *block)
{
    return clients_is_long(external_bytes(block->type, block->count));
}

void clients_build_gather(struct sched *s, const struct coll_args *args)
{
    const bool has_own = s->comm->rank == args->root && coll_is_in_place(args->send.buf);
    const struct coll_block own = has_own ? coll_data_block(&args->recv, args->root) : coll_data_block(&args->send, 0);

    if (!is_long(&own)) {
        gather_short(s, own, &args->recv, args->root);
        return;
    }
    coll_gather_linear(s, args);
    retag(s, CLIENTS_GATHER);
}

void clients_build_scatter(struct sched *s, const struct coll_args *args)
{
    const bool has_own = s->comm->rank == args->root && coll_is_in_place(args->recv.buf);
    const struct coll_block own = has_own ? coll_data_block(&args->send, args->root) : coll_data_block(&args->recv, 0);

    if (!is_long(&own)) {
        scatter_short(s, own, &args->send, args->root);
        return;
    }
    coll_scatter_linear(s, args);
    retag(s, CLIENTS_SCATTER);
}

void clients_build_gatherv(struct sched *s, const struct coll_args *args)
{
    coll_gather_linear(s, args);
    retag(s, CLIENTS_GATHERV);
}

void clients_build_scatterv(struct sched *s, const struct coll_args *args)
{
    coll_scatter_linear(s, args);
    retag(s, CLIENTS_SCATTERV);
}

/* --- allgather --- */

/* Over when all steps so far are. */
static int join_all(struct sched *s)
{
    const int count = s->step_count, all = sched_join(s, AT_ONCE);

    for (int i = 0; i < count; i++)
        sched_also(s, all, i);
    return all;
}

/* The blocks of all ranks as one; its type is the caller's to drop. */
static bool whole_of(struct sched *s, const struct coll_data *data, struct coll_block *out)
{
    const int size = s->comm->size;
    MPI_Count *lengths = sched_bytes(s, 2 * (size_t)size * sizeof *lengths), *places = lengths + size;
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_HINDEXED, .is_large = true, .count = size,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(places) };
    int rc;

    if (s->failed)
        return false;
    for (int rank = 0; rank < size; rank++) {
        const struct coll_block block = coll_data_block(data, rank);

        lengths[rank] = block.count;
        places[rank] = (MPI_Count)((uintptr_t)block.buf - (uintptr_t)data->buf);
    }
    *out = (struct coll_block){ data->buf, 1, NULL };
    rc = type_indexed(&blocks, data->type, &out->type);
    if (!rc)
        rc = type_commit(out->type);
    if (rc)
        fail(s, rc);
    return !rc;
}

void clients_build_allgather(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank;
    const bool is_in_place = coll_is_in_place(args->send.buf);
    const struct coll_block own = is_in_place ? coll_data_block(&args->recv, rank) : coll_data_block(&args->send, 0);
    struct coll_args up = *args;
    struct coll_block whole;

    up.root = 0;
    if (is_in_place && rank)
        up.send = COLL_SAME(own.buf, own.count, own.type);
    if (args->operation == COLL_ALLGATHERV)
        clients_build_gatherv(s, &up);
    else
        clients_build_gather(s, &up);
    if (!whole_of(s, &args->recv, &whole))
        return;
    clients_bcast(s, whole, 0, join_all(s));
    type_unref(whole.type);
}

/* --- alltoall --- */

static int tag_of_alltoall(enum coll_operation operation)
{
    return operation == COLL_ALLTOALL ? CLIENTS_ALLTOALL : operation == COLL_ALLTOALLV ? CLIENTS_ALLTOALLV : 0;
}

/* What goes to a rank: of an exchange in place a copy, made after `*last`, which moves on. */
static struct coll_block outgoing(struct sched *s, const struct coll_args *args, int dest, int *last)
{
    struct coll_block block, copy;

    if (!coll_is_in_place(args->send.buf))
        return coll_data_block(&args->send, dest);
    block = coll_data_block(&args->recv, dest);
    copy = sched_items(s, block.type, block.count);
    *last = sched_copy(s, block, copy, AFTER(*last));
    return copy;
}

void clients_build_alltoall(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, tag = tag_of_alltoall(args->operation);
    int over[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        over[i] = SCHED_NONE;
    for (int round = 0; round < size; round++) { /* partners have the same sum */
        const int peer = (round - rank + size) % size;
        int *last = &over[round % WINDOW];
        struct coll_block out;
        int in;

        if (peer == rank)
            continue;
        out = outgoing(s, args, peer, last);
        in = clients_recv(s, coll_data_block(&args->recv, peer), peer, tag, *last);
        *last = sched_join(s, AFTER(in, clients_send(s, out, peer, tag, *last)));
    }
    if (!coll_is_in_place(args->send.buf))
        sched_copy(s, coll_data_block(&args->send, rank), coll_data_block(&args->recv, rank), AT_ONCE);
}

/* --- reduce_scatter, scan --- */

void clients_build_reduce_scatter(struct sched *s, const struct coll_args *args)
{
    const struct coll_data *recv = &args->recv;
    const int size = s->comm->size, rank = s->comm->rank;
    const MPI_Count total = recv->counts.p ? coll_sum(recv, size) : recv->count * size;
    const struct coll_block own = { (void *)(uintptr_t)coll_own(args), total, recv->type };
    struct coll_block full = rank ? own : sched_items(s, own.type, total);
    const struct coll_block mine = { recv->buf, recv->counts.p ? coll_number(&recv->counts, rank) : recv->count,
                                     recv->type };
    MPI_Count first = 0;
    const int last = clients_reduce(s, own, full, 0);

    if (rank) {
        clients_recv(s, mine, 0, CLIENTS_SCATTERV, last);
        return;
    }
    for (int dest = 0; dest < size; dest++) {
        const MPI_Count count = recv->counts.p ? coll_number(&recv->counts, dest) : recv->count;

        if (dest)
            clients_send(s, coll_part(full, first, count), dest, CLIENTS_SCATTERV, last);
        else
            sched_copy(s, coll_part(full, first, count), mine, AFTER(last));
        first += count;
    }
}

void clients_build_scan(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const int size = s->comm->size, rank = s->comm->rank;
    const bool is_exclusive = args->operation == COLL_EXSCAN;
    const struct coll_block value = is_exclusive ? sched_items(s, own.type, own.count) : result;
    struct coll_block in;
    int last = value.buf == own.buf ? SCHED_NONE : sched_copy(s, own, value, AT_ONCE);

    if (rank) {
        in = sched_items(s, own.type, own.count);
        last = sched_reduce(s, in, value, AFTER(last, clients_recv(s, in, rank - 1, CLIENTS_SCAN, SCHED_NONE)));
        if (is_exclusive)
            last = sched_copy(s, in, result, AFTER(last));
    }
    if (rank + 1 < size)
        clients_send(s, value, rank + 1, CLIENTS_SCAN, last);
}
