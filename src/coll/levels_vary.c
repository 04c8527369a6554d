/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Two-level algorithms for blocks whose lengths not all processes know. Blocks of up to `most` bytes go by
 * the leaders of nodes, in one message between each two nodes that deal with each other; longer ones go straight from
 * the one that has them to the one that wants them. A leader learns how long they are from what comes, and so the
 * lengths of what it sends on are found in the run. Who wants a block is told how long it is, also if it comes
 * straight: where that is not what he expects he does as its sender does, and the call ends all the same. k is the
 * number of processes of the largest node, h that of nodes, m stands for `most`.
 *
 *   gatherv        short blocks to the leader, a message from each leader to the root: k + h rounds, k m bytes of
 *                  temporary memory at leaders, n m at the root
 *   scatterv       the same downwards, m bytes at the others
 *   alltoallv, w   short blocks to the leader, a message between each two leaders, and down: 2 k + h rounds beside
 *                  those of the others, 4 k n m bytes of temporary memory at leaders, n m at the others. Not in place
 *
 * In the root's node, and in nodes of one process, all blocks go straight.
 *
 * Blocks that go by leaders are told of by lists: so many lengths, of 32 bits, and then the bytes of those that are
 * short, one after the other. */
#include <string.h>

#include "base/err.h"
#include "coll/levels.h"

static bool is_short(const struct sched *s, const struct coll_block *block)
{
    return coll_bytes(block) <= (size_t)s->parameter;
}

/* Bytes [at, at + len) of what lies at `buf`. */
static struct coll_block bytes_in(void *buf, size_t at, size_t len)
{
    return coll_byte_block(coll_address(buf, (MPI_Count)at), len);
}

/* Whether this process is in a node whose blocks go by its leader. */
static bool is_far(const struct coll_levels *l)
{
    return l->top.place && l->node.size > 1;
}

/* Do the blocks between the root and this rank, another one, go by a leader, if they are short? */
static bool has_leader(const struct coll_levels *l, int root, int rank)
{
    const int node = coll_levels_node(l, rank);

    return node != coll_levels_node(l, root) && l->start[node + 1] - l->start[node] > 1;
}

/* --- lists --- */

static size_t list_room(size_t count, size_t most)
{
    return count * (sizeof(uint32_t) + most);
}

static uint32_t length_at(const char *list, size_t i)
{
    uint32_t len;

    memcpy(&len, list + i * sizeof len, sizeof len);
    return len;
}

static void set_length(char *list, size_t i, uint32_t len)
{
    memcpy(list + i * sizeof len, &len, sizeof len);
}

/* What a list says of a block: a length that is too long for it is told as the longest. */
static uint32_t length_of(const struct coll_block *block)
{
    return (uint32_t)size_min(coll_bytes(block), UINT32_MAX);
}

/* How many of its bytes follow. */
static size_t bytes_of(uint32_t len, size_t most)
{
    return len <= most ? len : 0;
}

/* Entry `i` of a list, and the bytes from *end on if there are any; `list` NULL: only *end. The step after which they
 * are there, or SCHED_NONE. */
static int add_entry(struct sched *s, struct coll_block block, char *list, size_t i, size_t *end)
{
    const size_t at = *end, len = bytes_of(length_of(&block), (size_t)s->parameter);

    *end += len;
    if (!list)
        return SCHED_NONE;
    set_length(list, i, length_of(&block));
    return len ? sched_copy(s, block, bytes_in(list, at, len), AT_ONCE) : SCHED_NONE;
}

/* After both steps, of which there may be none. */
static int both(struct sched *s, int one, int other)
{
    return other < 0 ? one : one < 0 ? other : sched_join(s, AFTER(one, other));
}

/* At who wants blocks: what a list will tell of each of them. One that should be long is asked for at once. */
struct wanted {
    char *list;
    int count;
    size_t most;
    int told;        /* the step that reads the list */
    struct expected {
        int source, straight, copy; /* a rank; steps: it comes straight, or is copied from the list */
        size_t room;
    } from[];
};

static COLD int truncated(const struct expected *e, size_t len)
{
    return err(MPI_ERR_TRUNCATE, "got %zu bytes, from rank %d; there is room for %zu bytes", len, e->source, e->room);
}

/* A block of `len` bytes, at `bytes` if it is short. */
static int settle(const struct sched *s, const struct wanted *w, const struct expected *e, char *bytes, uint32_t len)
{
    sched_set_from(s, e->copy, bytes_in(bytes, 0, 0));
    if (len > w->most || (unlikely(s->steps[w->told].is_void) && e->room > w->most))
        return 0; /* it comes straight; or the list has not come, and it will */
    sched_drop(s, e->straight);
    if (unlikely(len > e->room))
        return truncated(e, len);
    sched_set_from(s, e->copy, bytes_in(bytes, 0, len));
    return 0;
}

static int read_list(const struct sched *s, void *arg)
{
    const struct wanted *w = arg;
    char *bytes = w->list + (size_t)w->count * sizeof(uint32_t);
    int rc = 0;

    for (int i = 0; i < w->count; i++) {
        const uint32_t len = length_at(w->list, (size_t)i);
        const int failed = settle(s, w, &w->from[i], bytes, len);

        rc = rc ? rc : failed;
        bytes += bytes_of(len, w->most);
    }
    return rc;
}

/* A list of `count` blocks, with room for it; without, it is where the caller sets it. */
static struct wanted *want(struct sched *s, int count, bool has_room)
{
    struct wanted *w = sched_bytes(s, sizeof *w + (size_t)count * sizeof w->from[0]);
    const size_t most = (size_t)s->parameter;

    if (w)
        *w = (struct wanted){ .list = has_room ? sched_bytes(s, list_room((size_t)count, most)) : NULL, .count = count,
                              .most = most };
    return s->failed ? NULL : w;
}

/* It has come after this step. */
static void read_after(struct sched *s, struct wanted *w, int got)
{
    w->told = sched_call(s, read_list, w, AFTER(got));
}

/* Block `i` of it, from `source`. The step that receives it if it is long, which begins after `when`. */
static int expect(struct sched *s, struct wanted *w, int i, struct coll_block block, int source, int when)
{
    struct expected *e = &w->from[i];

    e->source = source;
    e->room = coll_bytes(&block);
    e->straight = sched_recv_perhaps(s, block, source, LEVELS_ON, AFTER(is_short(s, &block) ? w->told : when));
    e->copy = sched_copy(s, bytes_in(NULL, 0, 0), block, AFTER(w->told));
    return e->straight;
}

/* --- gatherv --- */

/* At a leader: the list of its node grows from the slots in which the others' entries come, a length and so many bytes,
 * behind its own one. */
struct slots {
    char *list;
    size_t stride, most;
    int count;
    int send; /* the step that takes them to the root */
};

static size_t slot_at(const struct slots *slots, int i)
{
    return (size_t)slots->count * sizeof(uint32_t) + (size_t)i * slots->stride;
}

static int close_up(const struct sched *s, void *arg)
{
    const struct slots *slots = arg;
    size_t end = slot_at(slots, 0) + bytes_of(length_at(slots->list, 0), slots->most);

    for (int i = 1; i < slots->count; i++) {
        const char *slot = slots->list + slot_at(slots, i);
        const uint32_t len = length_at(slot, 0);

        set_length(slots->list, (size_t)i, len);
        memmove(slots->list + end, slot + sizeof len, bytes_of(len, slots->most));
        end += bytes_of(len, slots->most);
    }
    sched_set_send(s, slots->send, bytes_in(slots->list, 0, end));
    return 0;
}

static void gather_at_leader(struct sched *s, const struct coll_levels *l, struct coll_block own)
{
    const size_t most = (size_t)s->parameter, stride = list_room(1, most), count = (size_t)l->node.size;
    struct slots *slots = sched_bytes(s, sizeof *slots);
    char *list = sched_bytes(s, count * (sizeof(uint32_t) + stride));
    size_t end;
    int all;

    if (s->failed)
        return;
    *slots = (struct slots){ list, stride, most, l->node.size, SCHED_NONE };
    end = slot_at(slots, 0);
    all = add_entry(s, own, list, 0, &end);
    for (int i = 1; i < l->node.size; i++)
        all = sched_join(s, AFTER(all, sched_recv_up_to(s, bytes_in(list, slot_at(slots, i), stride),
                                                        coll_team_rank(&l->node, i), LEVELS_UP, AT_ONCE)));
    all = sched_call(s, close_up, slots, AFTER(all));
    slots->send = coll_team_send(s, &l->top, bytes_in(list, 0, 0), 0, LEVELS_ACROSS, AFTER(all));
}

static void gather_elsewhere(struct sched *s, const struct coll_levels *l, struct coll_block own, int root)
{
    size_t len = sizeof(uint32_t);
    char *entry;

    if (!is_far(l) || !is_short(s, &own))
        sched_send(s, own, root, LEVELS_ON, AT_ONCE);
    if (!is_far(l))
        return;
    if (l->is_leader) {
        gather_at_leader(s, l, own);
        return;
    }
    entry = sched_bytes(s, len + bytes_of(length_of(&own), (size_t)s->parameter));
    if (entry) {
        const int filled = add_entry(s, own, entry, 0, &len);

        coll_team_send(s, &l->node, bytes_in(entry, 0, len), 0, LEVELS_UP, AFTER(filled));
    }
}

/* The blocks of a node with a leader, at the root. */
static void gather_from(struct sched *s, const struct coll_levels *l, const struct coll_data *recv, int node)
{
    const int first = l->start[node], count = l->start[node + 1] - first;
    struct wanted *w = want(s, count, true);

    if (!w)
        return;
    read_after(s, w, sched_recv_up_to(s, coll_byte_block(w->list, list_room((size_t)count, w->most)), l->order[first],
                                      LEVELS_ACROSS, AT_ONCE));
    for (int i = 0; i < count; i++)
        expect(s, w, i, coll_data_block(recv, l->order[first + i]), l->order[first + i], SCHED_NONE);
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
        if (source != root && !has_leader(&l, root, source))
            sched_recv(s, coll_data_block(&args->recv, source), source, LEVELS_ON, AT_ONCE);
    }
    for (int node = 0; node < l.nodes; node++) {
        if (has_leader(&l, root, l.order[l.start[node]]))
            gather_from(s, &l, &args->recv, node);
    }
    if (!coll_is_in_place(args->send.buf))
        sched_copy(s, coll_data_block(&args->send, 0), coll_data_block(&args->recv, root), AT_ONCE);
}

/* --- scatterv --- */

/* At a leader: for each process of the node a list of one block. */
struct deal {
    char *come;
    int count;
    size_t most;
    struct wanted *own;
    int first;    /* the step for process 1; the others' follow it */
};

static int deal_out(const struct sched *s, void *arg)
{
    const struct deal *deal = arg;
    size_t at = 0;

    for (int i = 0; i < deal->count; i++) {
        const size_t len = sizeof(uint32_t) + bytes_of(length_at(deal->come + at, 0), deal->most);

        if (i)
            sched_set_send(s, deal->first + i - 1, bytes_in(deal->come, at, len));
        else
            deal->own->list = deal->come;
        at += len;
    }
    return 0;
}

static void scatter_at_leader(struct sched *s, const struct coll_levels *l, struct coll_block own, int root)
{
    struct deal *deal = sched_bytes(s, sizeof *deal);
    const size_t room = list_room((size_t)l->node.size, (size_t)s->parameter);
    char *come = sched_bytes(s, room);
    struct wanted *w = want(s, 1, false);
    int got;

    if (s->failed)
        return;
    got = sched_recv_up_to(s, coll_byte_block(come, room), coll_team_rank(&l->top, 0), LEVELS_ACROSS, AT_ONCE);
    got = sched_call(s, deal_out, deal, AFTER(got));
    *deal = (struct deal){ come, l->node.size, w->most, w, SCHED_NONE };
    for (int i = 1; i < l->node.size; i++) {
        const int step = coll_team_send(s, &l->node, bytes_in(come, 0, 0), i, LEVELS_DOWN, AFTER(got));

        deal->first = i == 1 ? step : deal->first;
    }
    read_after(s, w, got);
    expect(s, w, 0, own, root, SCHED_NONE);
}

/* The blocks of a node, from the root: lists of one each, one behind the other. */
static void scatter_to(struct sched *s, const struct coll_levels *l, const struct coll_data *send, int node)
{
    const int first = l->start[node], count = l->start[node + 1] - first;
    size_t len = (size_t)count * sizeof(uint32_t), at = 0;
    int all = SCHED_NONE;
    char *out;

    for (int i = 0; i < count; i++)
        add_entry(s, coll_data_block(send, l->order[first + i]), NULL, 0, &len);
    out = sched_bytes(s, len);
    for (int i = 0; out && i < count; i++) {
        size_t end = sizeof(uint32_t);

        all = both(s, all, add_entry(s, coll_data_block(send, l->order[first + i]), out + at, 0, &end));
        at += end;
    }
    sched_send(s, coll_byte_block(out, len), l->order[first], LEVELS_ACROSS, AFTER(all));
}

static void scatter_elsewhere(struct sched *s, const struct coll_levels *l, struct coll_block own, int root)
{
    struct wanted *w;

    if (!is_far(l)) {
        sched_recv(s, own, root, LEVELS_ON, AT_ONCE);
    } else if (l->is_leader) {
        scatter_at_leader(s, l, own, root);
    } else if ((w = want(s, 1, true))) {
        const struct coll_block list = coll_byte_block(w->list, list_room(1, w->most));

        read_after(s, w, sched_recv_up_to(s, list, coll_team_rank(&l->node, 0), LEVELS_DOWN, AT_ONCE));
        expect(s, w, 0, own, root, SCHED_NONE);
    }
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
        if (has_leader(&l, root, l.order[l.start[node]]))
            scatter_to(s, &l, &args->send, node);
    }
    for (int i = 1; i < size; i++) { /* as in gather.c */
        const int dest = (root + i) % size;
        const struct coll_block block = coll_data_block(&args->send, dest);

        if (!has_leader(&l, root, dest) || !is_short(s, &block))
            sched_send(s, block, dest, LEVELS_ON, AT_ONCE);
    }
    if (!coll_is_in_place(args->recv.buf))
        sched_copy(s, coll_data_block(&args->send, root), coll_data_block(&args->recv, 0), AT_ONCE);
}

/* --- alltoallv, alltoallw --- */

/* Of a leader. Lists: in `in` from each process of the node, of its blocks for all others in the order of nodes; in
 * `out` to each other node, by processes of this one and then of that one; in `come` from each node the same way. At
 * last in `down` for each process of this node, by their sources. */
struct trade {
    struct coll_levels l;
    int own, k, others;      /* this node, its processes, those of others */
    size_t most, stride;     /* of a block; of a list in `in` and in `down` */
    char *in, *out, *come, *down;
    size_t *cursor;          /* in each list of a process of this node */
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
    return list_room((size_t)t->k * (size_t)count, t->most);
}

static size_t bundle_at(const struct trade *t, int node)
{
    return bundle_room(t, t->l.start[node] - (node > t->own ? t->k : 0));
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
                len += bytes_of(length_at(in, first + dest), t->most);
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

/* What a list from another node has for the processes of this one, whose sources begin with number `first`. */
static void sort_bundle(const struct trade *t, int node, size_t first)
{
    const char *bundle = t->come + bundle_at(t, node);
    const size_t k = (size_t)t->k, blocks = k * (size_t)count_in(t, node);
    size_t at = blocks * sizeof(uint32_t);

    for (size_t i = 0; i < blocks; i++) {
        const uint32_t len = length_at(bundle, i);
        char *down = t->down + i % k * t->stride;
        size_t *cursor = &t->cursor[i % k];

        set_length(down, first + i / k, len);
        memcpy(down + *cursor, bundle + at, bytes_of(len, t->most));
        *cursor += bytes_of(len, t->most);
        at += bytes_of(len, t->most);
    }
}

static int hand_out(const struct sched *s, void *arg)
{
    const struct trade *t = arg;
    size_t first = 0;

    for (int i = 0; i < t->k; i++)
        t->cursor[i] = (size_t)t->others * sizeof(uint32_t);
    for (int node = 0; node < t->l.nodes; node++) {
        if (node == t->own)
            continue;
        sort_bundle(t, node, first);
        first += (size_t)count_in(t, node);
    }
    for (int i = 1; i < t->k; i++)
        sched_set_send(s, t->first_down + i - 1, bytes_in(t->down, (size_t)i * t->stride, t->cursor[i]));
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
    t->stride = list_room(others, t->most);
    t->in = sched_bytes(s, k * t->stride);
    t->out = sched_bytes(s, k * t->stride);
    t->come = sched_bytes(s, k * t->stride);
    t->down = sched_bytes(s, k * t->stride);
    t->cursor = sched_bytes(s, k * sizeof *t->cursor);
    t->across = sched_bytes(s, (size_t)l->nodes * sizeof *t->across);
    return s->failed ? NULL : t;
}

/* The blocks of this process for other nodes; they are there after *filled. With `list` NULL only its length. */
static size_t fill_list(struct sched *s, const struct coll_levels *l, const struct coll_data *send, char *list,
                        int *filled)
{
    const int own = coll_levels_node(l, s->comm->rank), size = s->comm->size;
    size_t end = (size_t)(size - l->node.size) * sizeof(uint32_t), entries = 0;

    for (int i = 0; i < size; i++) {
        if (coll_levels_node(l, l->order[i]) == own)
            continue;
        *filled = both(s, *filled, add_entry(s, coll_data_block(send, l->order[i]), list, entries, &end));
        entries++;
    }
    return end;
}

/* What this process will have for it when `w` is read. */
static struct wanted *trade_at_leader(struct sched *s, const struct coll_levels *l, const struct coll_args *args)
{
    struct trade *t = trade_of(s, l);
    struct wanted *w = want(s, s->comm->size - l->node.size, false);
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    int all = SCHED_NONE, come;

    if (s->failed)
        return NULL;
    w->list = t->down;
    fill_list(s, l, &args->send, t->in, &all);
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
    for (int i = 1; i < t->k; i++) {
        const int step = coll_team_send(s, &l->node, nothing, i, LEVELS_DOWN, AFTER(come));

        t->first_down = i == 1 ? step : t->first_down;
    }
    read_after(s, w, come);
    return w;
}

static struct wanted *trade_by_leader(struct sched *s, const struct coll_levels *l, const struct coll_args *args)
{
    const int others = s->comm->size - l->node.size;
    struct wanted *w = want(s, others, true);
    int filled = SCHED_NONE;
    const size_t len = fill_list(s, l, &args->send, NULL, &filled);
    char *list = sched_bytes(s, len);

    if (s->failed)
        return NULL;
    fill_list(s, l, &args->send, list, &filled);
    coll_team_send(s, &l->node, coll_byte_block(list, len), 0, LEVELS_UP, AFTER(filled));
    read_after(s, w, sched_recv_up_to(s, coll_byte_block(w->list, list_room((size_t)others, w->most)),
                                      coll_team_rank(&l->node, 0), LEVELS_DOWN, AT_ONCE));
    return w;
}

/* Where ranks of other nodes stand in the lists of this process. */
static int *entries_of(struct sched *s, const struct coll_levels *l)
{
    int *entries = sched_bytes(s, (size_t)s->comm->size * sizeof *entries);
    int next = 0;

    for (int i = 0; entries && i < s->comm->size; i++) {
        if (coll_levels_node(l, l->order[i]) != coll_levels_node(l, s->comm->rank))
            entries[l->order[i]] = next++;
    }
    return entries;
}

enum { WINDOW = 16 };

/* Those of the node and long ones, as in alltoall.c, and those of which a list tells. */
static void trade_straight(struct sched *s, const struct coll_levels *l, const struct coll_args *args, struct wanted *w)
{
    const int size = s->comm->size, rank = s->comm->rank, own = coll_levels_node(l, rank);
    const int *entries = entries_of(s, l);
    int over[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        over[i] = SCHED_NONE;
    for (int distance = 1; distance < size && !s->failed; distance++) {
        const int dest = (rank + distance) % size, source = (rank - distance + size) % size;
        const struct coll_block from = coll_data_block(&args->send, dest), to = coll_data_block(&args->recv, source);
        int *turn = &over[distance % WINDOW], in = SCHED_NONE, out = SCHED_NONE;

        if (coll_levels_node(l, source) == own) {
            in = sched_recv(s, to, source, LEVELS_ON, AFTER(*turn));
        } else {
            const int straight = expect(s, w, entries[source], to, source, *turn);

            in = is_short(s, &to) ? SCHED_NONE : straight;
        }
        if (coll_levels_node(l, dest) == own || !is_short(s, &from))
            out = sched_send(s, from, dest, LEVELS_ON, AFTER(*turn));
        if (in >= 0 || out >= 0)
            *turn = sched_join(s, AFTER(in, out));
    }
    sched_copy(s, coll_data_block(&args->send, rank), coll_data_block(&args->recv, rank), AT_ONCE);
}

void coll_alltoall_vary_levels(struct sched *s, const struct coll_args *args)
{
    struct wanted *w = NULL;
    struct coll_levels l;

    if (!coll_levels_of(s, 0, &l))
        return;
    if (l.nodes > 1)
        w = l.is_leader ? trade_at_leader(s, &l, args) : trade_by_leader(s, &l, args);
    trade_straight(s, &l, args, w);
}
