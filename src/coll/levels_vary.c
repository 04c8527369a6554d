/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Two-level algorithms for blocks whose lengths not all processes know. Blocks of up to `most` bytes go by
 * the leaders of nodes, in one message between each two nodes that deal with each other; longer ones go straight from
 * the one that has them to the one that wants them, who both know how long they are. A leader learns that from what
 * comes, and so the lengths of what it sends on are found in the run. k is the number of processes of the largest
 * node, h that of nodes, m stands for `most`.
 *
 *   gatherv        short blocks to the leader, a message from each leader to the root: k + h rounds, k m bytes of
 *                  temporary memory at leaders
 *   scatterv       the same downwards
 *   alltoallv, w   short blocks to the leader, a message between each two leaders, and down: 2 k + h rounds beside
 *                  those of the others, 4 k n m bytes of temporary memory at leaders. Not in place
 *
 * In the root's node, and in nodes of one process, all blocks go straight. */
#include <string.h>

#include "coll/levels.h"

static bool is_short(const struct sched *s, const struct coll_block *block)
{
    return coll_bytes(block) <= (size_t)s->parameter;
}

/* Does a block between the root and this rank, another one, go by a leader? */
static bool goes_by_leader(const struct sched *s, const struct coll_levels *l, int root, int rank,
                           const struct coll_block *block)
{
    const int node = coll_levels_node(l, rank);

    return node != coll_levels_node(l, root) && l->start[node + 1] - l->start[node] > 1 && is_short(s, block);
}

/* Bytes [at, at + len) of what lies at `buf`. */
static struct coll_block bytes_in(void *buf, size_t at, size_t len)
{
    return coll_byte_block(coll_address(buf, (MPI_Count)at), len);
}

static size_t aligned(size_t len)
{
    return (len + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* Whether this process is in a node whose blocks go by its leader. */
static bool is_far(const struct coll_levels *l)
{
    return l->top.place && l->node.size > 1;
}

/* --- gatherv --- */

/* At a leader: in the slot of each process of the node a length, and so many bytes. */
struct slots {
    char *at;
    size_t stride;
    int count;
    int send; /* the step that takes them to the root */
};

/* The bytes of all, one after the other, behind the first length, which stays for another run. */
static int close_up(const struct sched *s, void *arg)
{
    const struct slots *slots = arg;
    const size_t begin = sizeof(uint64_t);
    size_t end = begin;

    for (int i = 0; i < slots->count; i++) {
        const char *slot = slots->at + (size_t)i * slots->stride;
        uint64_t len;

        memcpy(&len, slot, sizeof len);
        memmove(slots->at + end, slot + sizeof len, len);
        end += len;
    }
    sched_set_send(s, slots->send, bytes_in(slots->at, begin, end - begin));
    return 0;
}

/* The own block to a slot, or that there is none. Returns the step after which it is there, *len how long it is. */
static int fill_slot(struct sched *s, struct coll_block own, char *slot, size_t *len)
{
    const uint64_t says = is_short(s, &own) ? coll_bytes(&own) : 0;

    memcpy(slot, &says, sizeof says);
    *len = sizeof says + says;
    return says ? sched_copy(s, own, bytes_in(slot, sizeof says, says), AT_ONCE) : SCHED_NONE;
}

static void gather_at_leader(struct sched *s, const struct coll_levels *l, struct coll_block own)
{
    struct slots *slots = sched_bytes(s, sizeof *slots);
    const size_t stride = aligned(sizeof(uint64_t) + (size_t)s->parameter), count = (size_t)l->node.size;
    char *at = sched_bytes(s, stride * count);
    size_t len;
    int all;

    if (s->failed)
        return;
    *slots = (struct slots){ at, stride, l->node.size, SCHED_NONE };
    all = fill_slot(s, own, at, &len);
    for (int i = 1; i < l->node.size; i++)
        all = sched_join(s, AFTER(all, sched_recv_up_to(s, bytes_in(at, (size_t)i * stride, stride),
                                                        coll_team_rank(&l->node, i), LEVELS_UP, AT_ONCE)));
    all = sched_call(s, close_up, slots, AFTER(all));
    slots->send = coll_team_send(s, &l->top, bytes_in(at, 0, 0), 0, LEVELS_ACROSS, AFTER(all));
}

static void gather_elsewhere(struct sched *s, const struct coll_levels *l, struct coll_block own, int root)
{
    const bool is_direct = !is_far(l) || !is_short(s, &own);
    size_t len;
    char *slot;

    if (is_direct)
        sched_send(s, own, root, LEVELS_ON, AT_ONCE);
    if (!is_far(l))
        return;
    if (l->is_leader) {
        gather_at_leader(s, l, own);
        return;
    }
    slot = sched_bytes(s, sizeof(uint64_t) + (is_direct ? 0 : coll_bytes(&own)));
    if (slot) {
        const int filled = fill_slot(s, own, slot, &len);

        coll_team_send(s, &l->node, bytes_in(slot, 0, len), 0, LEVELS_UP, AFTER(filled));
    }
}

/* The short blocks of a node, at the root: one message if there is a byte in it. */
static void gather_from(struct sched *s, const struct coll_levels *l, const struct coll_data *recv, int root, int node)
{
    size_t len = 0, at = 0;
    void *come;
    int got;

    for (int i = l->start[node]; i < l->start[node + 1]; i++) {
        const struct coll_block block = coll_data_block(recv, l->order[i]);

        len += goes_by_leader(s, l, root, l->order[i], &block) ? coll_bytes(&block) : 0;
    }
    if (!len)
        return;
    come = sched_bytes(s, len);
    got = sched_recv(s, coll_byte_block(come, len), l->order[l->start[node]], LEVELS_ACROSS, AT_ONCE);
    for (int i = l->start[node]; i < l->start[node + 1]; i++) {
        const struct coll_block block = coll_data_block(recv, l->order[i]);

        if (!is_short(s, &block) || !coll_bytes(&block))
            continue;
        sched_copy(s, bytes_in(come, at, coll_bytes(&block)), block, AFTER(got));
        at += coll_bytes(&block);
    }
}

void coll_gather_vary_levels(struct sched *s, const struct coll_args *args)
{
    const int root = args->root, rank = s->comm->rank;
    struct coll_levels l;

    if (!coll_levels_of(s, root, &l))
        return;
    if (rank != root) {
        gather_elsewhere(s, &l, coll_data_block(&args->send, 0), root);
        return;
    }
    for (int source = 0; source < s->comm->size; source++) {
        const struct coll_block block = coll_data_block(&args->recv, source);

        if (source != root && !goes_by_leader(s, &l, root, source, &block))
            sched_recv(s, block, source, LEVELS_ON, AT_ONCE);
    }
    for (int node = 0; node < l.nodes; node++)
        gather_from(s, &l, &args->recv, root, node);
    if (!coll_is_in_place(args->send.buf))
        sched_copy(s, coll_data_block(&args->send, 0), coll_data_block(&args->recv, root), AT_ONCE);
}

/* --- scatterv --- */

/* At a leader: lengths of what follows for each process of the node. */
struct deal {
    char *come;
    int count;
    int first;    /* the step for the first process, a copy to the own block; the others' sends follow it */
};

static int deal_out(const struct sched *s, void *arg)
{
    const struct deal *deal = arg;
    size_t at = (size_t)deal->count * sizeof(uint32_t);

    for (int i = 0; i < deal->count; i++) {
        uint32_t len;

        memcpy(&len, deal->come + (size_t)i * sizeof len, sizeof len);
        if (i)
            sched_set_send(s, deal->first + i, bytes_in(deal->come, at, len));
        else
            sched_set_from(s, deal->first, bytes_in(deal->come, at, len));
        at += len;
    }
    return 0;
}

static void scatter_at_leader(struct sched *s, const struct coll_levels *l, struct coll_block own)
{
    struct deal *deal = sched_bytes(s, sizeof *deal);
    const size_t room = (size_t)l->node.size * (sizeof(uint32_t) + (size_t)s->parameter);
    char *come = sched_bytes(s, room);
    int got;

    if (s->failed)
        return;
    got = sched_recv_up_to(s, coll_byte_block(come, room), coll_team_rank(&l->top, 0), LEVELS_ACROSS, AT_ONCE);
    got = sched_call(s, deal_out, deal, AFTER(got));
    if (!is_short(s, &own))
        own.count = 0; /* it comes from the root */
    *deal = (struct deal){ come, l->node.size, sched_copy(s, bytes_in(come, 0, 0), own, AFTER(got)) };
    for (int i = 1; i < l->node.size; i++)
        coll_team_send(s, &l->node, bytes_in(come, 0, 0), i, LEVELS_DOWN, AFTER(got));
}

/* The short blocks of a node, from the root. */
static void scatter_to(struct sched *s, const struct coll_levels *l, const struct coll_data *send, int node)
{
    const int first = l->start[node], count = l->start[node + 1] - first;
    size_t at = (size_t)count * sizeof(uint32_t), len = at;
    int all = SCHED_NONE;
    char *out;

    for (int i = 0; i < count; i++) {
        const struct coll_block block = coll_data_block(send, l->order[first + i]);

        len += is_short(s, &block) ? coll_bytes(&block) : 0;
    }
    out = sched_bytes(s, len);
    for (int i = 0; out && i < count; i++) {
        const struct coll_block block = coll_data_block(send, l->order[first + i]);
        const uint32_t says = is_short(s, &block) ? (uint32_t)coll_bytes(&block) : 0;

        memcpy(out + (size_t)i * sizeof says, &says, sizeof says);
        if (says)
            all = sched_join(s, AFTER(all, sched_copy(s, block, bytes_in(out, at, says), AT_ONCE)));
        at += says;
    }
    sched_send(s, coll_byte_block(out, len), l->order[first], LEVELS_ACROSS, AFTER(all));
}

static void scatter_elsewhere(struct sched *s, const struct coll_levels *l, struct coll_block own, int root)
{
    if (is_far(l) && l->is_leader)
        scatter_at_leader(s, l, own);
    if (!is_far(l) || !is_short(s, &own))
        sched_recv(s, own, root, LEVELS_ON, AT_ONCE);
    else if (!l->is_leader && coll_bytes(&own))
        coll_team_recv(s, &l->node, own, 0, LEVELS_DOWN, AT_ONCE);
}

void coll_scatter_vary_levels(struct sched *s, const struct coll_args *args)
{
    const int root = args->root, size = s->comm->size;
    struct coll_levels l;

    if (!coll_levels_of(s, root, &l))
        return;
    if (s->comm->rank != root) {
        scatter_elsewhere(s, &l, coll_data_block(&args->recv, 0), root);
        return;
    }
    for (int node = 0; node < l.nodes; node++) {
        if (node != coll_levels_node(&l, root) && l.start[node + 1] - l.start[node] > 1)
            scatter_to(s, &l, &args->send, node);
    }
    for (int i = 1; i < size; i++) { /* as in gather.c */
        const int dest = (root + i) % size;
        const struct coll_block block = coll_data_block(&args->send, dest);

        if (!goes_by_leader(s, &l, root, dest, &block))
            sched_send(s, block, dest, LEVELS_ON, AT_ONCE);
    }
    if (!coll_is_in_place(args->recv.buf))
        sched_copy(s, coll_data_block(&args->send, root), coll_data_block(&args->recv, 0), AT_ONCE);
}

/* --- alltoallv, alltoallw --- */

/* Of a leader. A bundle is a list of lengths and then so many bytes each: in `in` from each process of the node, for
 * all others in the order of nodes; in `out` to each other node, by processes of this one and then of that one; in
 * `come` from each node the same way. At last in `down` the bytes for each process of this node, by their sources. */
struct trade {
    struct coll_levels l;
    int own, k, others;      /* this node, its processes, those of others */
    size_t most, stride;     /* of a block; of a bundle in `in` */
    char *in, *out, *come, *down;
    size_t *cursor;          /* in each bundle or place of a process of this node */
    int *across;             /* steps: to each node; the own one has none */
    int first_down;          /* step: to process 1 of the node; the others follow */
};

static int count_in(const struct trade *t, int node)
{
    return t->l.start[node + 1] - t->l.start[node];
}

/* Where the bundle for or from a node begins, and its room. */
static size_t bundle_room(const struct trade *t, int count)
{
    return (size_t)t->k * (size_t)count * (t->most + sizeof(uint32_t));
}

static size_t bundle_at(const struct trade *t, int node)
{
    return bundle_room(t, t->l.start[node] - (node > t->own ? t->k : 0));
}

static uint32_t length_at(const char *lengths, size_t i)
{
    uint32_t len;

    memcpy(&len, lengths + i * sizeof len, sizeof len);
    return len;
}

/* What has come from the node's processes, to bundles for other nodes. */
static int bundle_up(const struct sched *s, void *arg)
{
    const struct trade *t = arg;
    size_t first = 0; /* among the others */

    for (int i = 0; i < t->k; i++)
        t->cursor[i] = (size_t)t->others * sizeof(uint32_t);
    for (int node = 0; node < t->l.nodes; node++) {
        const size_t count = node == t->own ? 0 : (size_t)count_in(t, node);
        char *bundle = t->out + bundle_at(t, node);
        size_t end = (size_t)t->k * count * sizeof(uint32_t), at = 0;

        for (int i = 0; i < t->k; i++) {
            const char *in = t->in + (size_t)i * t->stride;
            size_t len = 0;

            memcpy(bundle + at, in + first * sizeof(uint32_t), count * sizeof(uint32_t));
            at += count * sizeof(uint32_t);
            for (size_t dest = 0; dest < count; dest++)
                len += length_at(in, first + dest);
            memcpy(bundle + end, in + t->cursor[i], len);
            t->cursor[i] += len;
            end += len;
        }
        if (count)
            sched_set_send(s, t->across[node], bytes_in(bundle, 0, end));
        first += count;
    }
    return 0;
}

/* How much there is for each process of this node, and then the bytes to there. */
static void sort_bundle(const struct trade *t, int node, bool moves)
{
    const char *bundle = t->come + bundle_at(t, node);
    const size_t blocks = (size_t)t->k * (size_t)count_in(t, node);
    size_t at = blocks * sizeof(uint32_t);

    for (size_t i = 0; i < blocks; i++) {
        const uint32_t len = length_at(bundle, i);
        size_t *cursor = &t->cursor[i % (size_t)t->k];

        if (moves)
            memcpy(t->down + *cursor, bundle + at, len);
        *cursor += len;
        at += len;
    }
}

static int hand_out(const struct sched *s, void *arg)
{
    const struct trade *t = arg;
    size_t end = 0;

    memset(t->cursor, 0, (size_t)t->k * sizeof *t->cursor);
    for (int node = 0; node < t->l.nodes; node++)
        if (node != t->own)
            sort_bundle(t, node, false);
    for (int i = 0; i < t->k; i++) {
        const size_t len = t->cursor[i];

        if (i)
            sched_set_send(s, t->first_down + i - 1, bytes_in(t->down, end, len));
        t->cursor[i] = end;
        end += len;
    }
    for (int node = 0; node < t->l.nodes; node++)
        if (node != t->own)
            sort_bundle(t, node, true);
    return 0;
}

static struct trade *trade_of(struct sched *s, const struct coll_levels *l)
{
    struct trade *t = sched_bytes(s, sizeof *t);
    const size_t k = (size_t)l->node.size, others = (size_t)(s->comm->size - l->node.size);

    if (!t)
        return NULL;
    *t = (struct trade){ .l = *l, .own = coll_levels_node(l, s->comm->rank), .k = l->node.size, .others = (int)others,
                         .most = (size_t)s->parameter };
    t->stride = others * (t->most + sizeof(uint32_t));
    t->in = sched_bytes(s, k * t->stride);
    t->out = sched_bytes(s, k * t->stride);
    t->come = sched_bytes(s, k * t->stride);
    t->down = sched_bytes(s, k * others * t->most);
    t->cursor = sched_bytes(s, k * sizeof *t->cursor);
    t->across = sched_bytes(s, (size_t)l->nodes * sizeof *t->across);
    return s->failed ? NULL : t;
}

/* All short blocks of this process for other nodes, as a bundle; after *filled. With `bundle` NULL only its length. */
static size_t fill_bundle(struct sched *s, const struct coll_levels *l, const struct coll_data *send, char *bundle,
                          int *filled)
{
    const int own = coll_levels_node(l, s->comm->rank), size = s->comm->size;
    size_t at = 0, end = (size_t)(size - l->node.size) * sizeof(uint32_t);

    for (int i = 0; i < size; i++) {
        const struct coll_block block = coll_data_block(send, l->order[i]);
        const uint32_t len = is_short(s, &block) ? (uint32_t)coll_bytes(&block) : 0;

        if (coll_levels_node(l, l->order[i]) == own)
            continue;
        if (bundle) {
            memcpy(bundle + at, &len, sizeof len);
            if (len)
                *filled = sched_join(s, AFTER(*filled, sched_copy(s, block, bytes_in(bundle, end, len), AT_ONCE)));
        }
        at += sizeof len;
        end += len;
    }
    return end;
}

/* The short blocks from other nodes, which lie at `come` by their sources. With `come` NULL only their length. */
static size_t take_short(struct sched *s, const struct coll_levels *l, const struct coll_data *recv, void *come,
                         int after)
{
    const int own = coll_levels_node(l, s->comm->rank);
    size_t at = 0;

    for (int i = 0; i < s->comm->size; i++) {
        const struct coll_block block = coll_data_block(recv, l->order[i]);
        const size_t len = coll_bytes(&block);

        if (coll_levels_node(l, l->order[i]) == own || !is_short(s, &block) || !len)
            continue;
        if (come)
            sched_copy(s, bytes_in(come, at, len), block, AFTER(after));
        at += len;
    }
    return at;
}

static void trade_at_leader(struct sched *s, const struct coll_levels *l, const struct coll_args *args)
{
    struct trade *t = trade_of(s, l);
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    int all = SCHED_NONE, come;

    if (!t)
        return;
    fill_bundle(s, l, &args->send, t->in, &all);
    for (int i = 1; i < t->k; i++)
        all = sched_join(s, AFTER(all, sched_recv_up_to(s, bytes_in(t->in, (size_t)i * t->stride, t->stride),
                                                        coll_team_rank(&l->node, i), LEVELS_UP, AT_ONCE)));
    come = all = sched_call(s, bundle_up, t, AFTER(all));
    for (int distance = 1; distance < l->nodes; distance++) {
        const int to = (t->own + distance) % l->nodes, from = (t->own - distance + l->nodes) % l->nodes;
        const struct coll_block room = bytes_in(t->come, bundle_at(t, from), bundle_room(t, count_in(t, from)));

        t->across[to] = sched_send(s, nothing, l->order[l->start[to]], LEVELS_ACROSS, AFTER(all));
        come = sched_join(s, AFTER(come, sched_recv_up_to(s, room, l->order[l->start[from]], LEVELS_ACROSS, AT_ONCE)));
    }
    come = sched_call(s, hand_out, t, AFTER(come));
    take_short(s, l, &args->recv, t->down, come);
    for (int i = 1; i < t->k; i++) {
        const int step = coll_team_send(s, &l->node, nothing, i, LEVELS_DOWN, AFTER(come));

        t->first_down = i == 1 ? step : t->first_down;
    }
}

static void trade_by_leader(struct sched *s, const struct coll_levels *l, const struct coll_args *args)
{
    const size_t out = fill_bundle(s, l, &args->send, NULL, NULL), in = take_short(s, l, &args->recv, NULL, SCHED_NONE);
    char *bundle = sched_bytes(s, out), *come = sched_bytes(s, in);
    int filled = SCHED_NONE;

    if (s->failed)
        return;
    fill_bundle(s, l, &args->send, bundle, &filled);
    coll_team_send(s, &l->node, coll_byte_block(bundle, out), 0, LEVELS_UP, AFTER(filled));
    if (in)
        take_short(s, l, &args->recv, come,
                   coll_team_recv(s, &l->node, coll_byte_block(come, in), 0, LEVELS_DOWN, AT_ONCE));
}

enum { WINDOW = 16 };

/* Those of the node and long ones, as in alltoall.c. */
static void trade_straight(struct sched *s, const struct coll_levels *l, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank, own = coll_levels_node(l, rank);
    int over[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        over[i] = SCHED_NONE;
    for (int distance = 1; distance < size; distance++) {
        const int dest = (rank + distance) % size, source = (rank - distance + size) % size;
        const struct coll_block from = coll_data_block(&args->send, dest), to = coll_data_block(&args->recv, source);
        int *turn = &over[distance % WINDOW], in = SCHED_NONE, out = SCHED_NONE;

        if (coll_levels_node(l, source) == own || !is_short(s, &to))
            in = sched_recv(s, to, source, LEVELS_ON, AFTER(*turn));
        if (coll_levels_node(l, dest) == own || !is_short(s, &from))
            out = sched_send(s, from, dest, LEVELS_ON, AFTER(*turn));
        if (in >= 0 || out >= 0)
            *turn = sched_join(s, AFTER(in, out));
    }
    sched_copy(s, coll_data_block(&args->send, rank), coll_data_block(&args->recv, rank), AT_ONCE);
}

void coll_alltoall_vary_levels(struct sched *s, const struct coll_args *args)
{
    struct coll_levels l;

    if (!coll_levels_of(s, 0, &l))
        return;
    if (l.nodes > 1 && l.is_leader)
        trade_at_leader(s, &l, args);
    else if (l.nodes > 1)
        trade_by_leader(s, &l, args);
    trade_straight(s, &l, args);
}
