/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Two-level algorithms that carry blocks, packed in the order of nodes. k is the number of processes of the
 * largest node, h that of nodes.
 *
 *   gather     blocks to the leader, a message from each leader to the root: k + h rounds, k m bytes a message
 *   scatter    the same downwards
 *   allgather(v)  blocks to the leader, nodes' blocks around between leaders, all of it down; h - 1 + log2 k + 1
 *              rounds, n m bytes down each edge in the node, n m bytes of temporary memory
 *   alltoall   all to the leader, a message between each two leaders, and back: k n m bytes in and out of a leader, as
 *              much temporary memory three times, h + 1 rounds
 *   reduce_scatter(_block)  all blocks of the node combined at the leader, those for another node to its leader, who
 *              combines them, a block to each: log2 k + h - 1 + k rounds; operators that do not commute ask for runs */
#include <string.h>

#include "coll/levels.h"

/* --- gather and scatter --- */

static int ranks_in(const struct coll_levels *l, int node)
{
    return l->start[node + 1] - l->start[node];
}

static int node_at(const struct coll_levels *l, int place)
{
    return (place + l->top.first) % l->nodes;
}

int coll_levels_collect(struct sched *s, const struct coll_levels *l, const struct coll_data *recv, void *pack,
                        size_t len, int after)
{
    int all = after;

    if (l->top.place)
        return coll_team_send(s, &l->top, coll_blocks_at(pack, len, 0, l->node.size), 0, LEVELS_ACROSS, AFTER(after));
    for (int place = 1; place < l->nodes; place++) {
        const int node = node_at(l, place), count = ranks_in(l, node);
        void *come = sched_bytes(s, len * (size_t)count);
        const int got = coll_team_recv(s, &l->top, coll_blocks_at(come, len, 0, count), place, LEVELS_ACROSS, AT_ONCE);

        for (int i = 0; i < count; i++)
            all = sched_join(s, AFTER(all, sched_copy(s, coll_blocks_at(come, len, i, 1),
                                                      coll_data_block(recv, l->order[l->start[node] + i]),
                                                      AFTER(got))));
    }
    return all;
}

/* Blocks between the root and all. */
struct rooted {
    struct coll_levels l;
    const struct coll_data *all; /* the root's */
    bool is_root, is_in_place;
    struct coll_block own;
    size_t len;                  /* bytes of a block */
    void *pack;                  /* those of the node, at a leader that is not the root */
};

/* `one`: the own block where it is not among `all`. False: it failed. */
static bool begin_rooted(struct sched *s, int root, const struct coll_data *one, const struct coll_data *all,
                         struct rooted *r)
{
    r->all = all;
    r->is_root = s->comm->rank == root;
    r->is_in_place = r->is_root && coll_is_in_place(one->buf);
    r->own = r->is_in_place ? coll_data_block(all, root) : coll_data_block(one, 0);
    r->len = coll_bytes(&r->own);
    r->pack = NULL;
    if (!coll_levels_of(s, root, &r->l))
        return false;
    if (r->l.is_leader && !r->is_root)
        r->pack = sched_bytes(s, r->len * (size_t)r->l.node.size);
    return true;
}

/* Where a leader has the block of number `at` of its node. */
static struct coll_block block_at(const struct rooted *r, int at)
{
    return r->is_root ? coll_data_block(r->all, r->l.node.ranks[at]) : coll_blocks_at(r->pack, r->len, at, 1);
}

void coll_gather_levels(struct sched *s, const struct coll_args *args)
{
    struct rooted r;
    int all;

    if (!begin_rooted(s, args->root, &args->send, &args->recv, &r))
        return;
    if (!r.l.is_leader) {
        coll_team_send(s, &r.l.node, r.own, 0, LEVELS_UP, AT_ONCE);
        return;
    }
    all = r.is_in_place ? SCHED_NONE : sched_copy(s, r.own, block_at(&r, r.l.node.first), AT_ONCE);
    for (int i = 1; i < r.l.node.size; i++)
        all = sched_join(s, AFTER(all, coll_team_recv(s, &r.l.node, block_at(&r, (r.l.node.first + i) % r.l.node.size),
                                                      i, LEVELS_UP, AT_ONCE)));
    coll_levels_collect(s, &r.l, &args->recv, r.pack, r.len, all);
}

int coll_levels_deal(struct sched *s, const struct coll_levels *l, const struct coll_data *send, void *pack,
                     size_t len)
{
    if (l->top.place)
        return coll_team_recv(s, &l->top, coll_blocks_at(pack, len, 0, l->node.size), 0, LEVELS_ACROSS, AT_ONCE);
    for (int place = 1; place < l->nodes; place++) {
        const int node = node_at(l, place), count = ranks_in(l, node);
        void *out = sched_bytes(s, len * (size_t)count);
        int all = SCHED_NONE;

        for (int i = 0; i < count; i++)
            all = sched_join(s, AFTER(all, sched_copy(s, coll_data_block(send, l->order[l->start[node] + i]),
                                                      coll_blocks_at(out, len, i, 1), AT_ONCE)));
        coll_team_send(s, &l->top, coll_blocks_at(out, len, 0, count), place, LEVELS_ACROSS, AFTER(all));
    }
    return SCHED_NONE;
}

void coll_scatter_levels(struct sched *s, const struct coll_args *args)
{
    struct rooted r;
    int all;

    if (!begin_rooted(s, args->root, &args->recv, &args->send, &r))
        return;
    if (!r.l.is_leader) {
        coll_team_recv(s, &r.l.node, r.own, 0, LEVELS_DOWN, AT_ONCE);
        return;
    }
    all = coll_levels_deal(s, &r.l, &args->send, r.pack, r.len);
    for (int i = 1; i < r.l.node.size; i++)
        coll_team_send(s, &r.l.node, block_at(&r, (r.l.node.first + i) % r.l.node.size), i, LEVELS_DOWN, AFTER(all));
    if (!r.is_in_place)
        sched_copy(s, block_at(&r, r.l.node.first), r.own, AFTER(all));
}

/* --- allgather --- */

struct coll_row coll_levels_row(struct sched *s, const struct coll_levels *l, const struct coll_data *recv)
{
    const struct coll_block first = coll_data_block(recv, 0);
    const int size = s->comm->size;
    struct coll_row row = { .len = coll_bytes(&first) };
    MPI_Count *at = recv->counts.p ? sched_bytes(s, ((size_t)size + 1) * sizeof *at) : NULL, end = 0;

    for (int i = 0; at && i < size; i++) {
        const struct coll_block block = coll_data_block(recv, l->order[i]);

        at[i] = end;
        end += (MPI_Count)coll_bytes(&block);
    }
    if (at)
        at[size] = end;
    row.at = at;
    return row;
}

struct coll_block coll_row_part(const struct coll_row *row, int first, int n)
{
    if (!row->at)
        return coll_blocks_at(row->buf, row->len, first, n);
    return coll_byte_block(coll_address(row->buf, row->at[first]), (size_t)(row->at[first + n] - row->at[first]));
}

int coll_levels_ring(struct sched *s, const struct coll_levels *l, const struct coll_row *all, int after)
{
    const int n = l->nodes, place = l->top.place, left = (place - 1 + n) % n;
    int last = after;

    for (int round = 0; round < n - 1; round++) {
        const int out = (place - round + n) % n, in = (left - round + n) % n;

        coll_team_send(s, &l->top, coll_row_part(all, l->start[out], ranks_in(l, out)), (place + 1) % n, LEVELS_ACROSS,
                       AFTER(last));
        last = coll_team_recv(s, &l->top, coll_row_part(all, l->start[in], ranks_in(l, in)), left, LEVELS_ACROSS,
                              AFTER(last));
    }
    return last;
}

void coll_allgather_levels(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size, rank = s->comm->rank;
    const bool is_in_place = coll_is_in_place(args->send.buf);
    const struct coll_block own = is_in_place ? coll_data_block(&args->recv, rank) : coll_data_block(&args->send, 0);
    struct coll_levels l;
    struct coll_row all;
    int last;

    if (!coll_levels_of(s, 0, &l))
        return;
    all = coll_levels_row(s, &l, &args->recv);
    if (s->failed)
        return;
    all.buf = sched_bytes(s, coll_row_bytes(&all, size));
    if (l.is_leader) {
        const int first = l.start[coll_levels_node(&l, rank)];

        last = sched_copy(s, own, coll_row_part(&all, first, 1), AT_ONCE);
        for (int i = 1; i < l.node.size; i++)
            last = sched_join(s, AFTER(last, coll_team_recv(s, &l.node, coll_row_part(&all, first + i, 1), i, LEVELS_UP,
                                                            AT_ONCE)));
        last = coll_levels_ring(s, &l, &all, last);
    } else {
        last = coll_team_send(s, &l.node, own, 0, LEVELS_UP, AT_ONCE);
    }
    last = coll_part_bcast(s, &l.node, coll_row_part(&all, 0, size), 2, LEVELS_DOWN, last);
    for (int i = 0; i < size; i++) {
        if (l.order[i] != rank || !is_in_place)
            sched_copy(s, coll_row_part(&all, i, 1), coll_data_block(&args->recv, l.order[i]), AFTER(last));
    }
}

/* --- alltoall --- */

struct coll_bundle coll_bundle_of(struct sched *s, const struct coll_levels *l, size_t len)
{
    struct coll_bundle b = { .l = l, .len = len, .k = l->node.size, .n = s->comm->size };
    const size_t room = len * (size_t)b.n * (size_t)b.k;

    b.in = sched_bytes(s, room);
    b.across = sched_bytes(s, room);
    b.come = sched_bytes(s, room);
    return b;
}

/* The blocks between this node and another one, which has `there` processes, begin at the k * start-th in both
 * buffers. */
static int cross(struct sched *s, const struct coll_bundle *b, int node, int after)
{
    const struct coll_levels *l = b->l;
    const int first = l->start[node], there = ranks_in(l, node);
    const int place = (node - l->top.first + l->nodes) % l->nodes;
    const MPI_Count at = (MPI_Count)b->k * first, all = (MPI_Count)b->k * there;
    const struct coll_block out = coll_blocks_at(b->across, b->len, at, all),
                            come = coll_blocks_at(b->come, b->len, at, all);
    int last = after;

    for (int i = 0; i < b->k; i++)
        last = sched_join(s, AFTER(last, sched_copy(s, coll_blocks_at(b->in, b->len, (MPI_Count)i * b->n + first,
                                                                      there),
                                                    coll_blocks_at(out.buf, b->len, (MPI_Count)i * there, there),
                                                    AFTER(after))));
    if (place == l->top.place)
        return sched_copy(s, out, come, AFTER(last));
    coll_team_send(s, &l->top, out, place, LEVELS_ACROSS, AFTER(last));
    return sched_join(s, AFTER(last, coll_team_recv(s, &l->top, come, place, LEVELS_ACROSS, AT_ONCE)));
}

/* The blocks for one process of the node, in the order of their sources. */
static int sort_for(struct sched *s, const struct coll_bundle *b, int i, int after)
{
    int last = after;

    for (int source = 0; source < b->n; source++)
        last = sched_join(s, AFTER(last, sched_copy(s, coll_blocks_at(b->come, b->len, (MPI_Count)source * b->k + i,
                                                                      1),
                                                    coll_blocks_at(b->in, b->len, (MPI_Count)i * b->n + source, 1),
                                                    AFTER(after))));
    return last;
}

int coll_bundle_swap(struct sched *s, const struct coll_bundle *b, int after)
{
    const struct coll_levels *l = b->l;
    int all = after, sorted;

    for (int node = 0; node < l->nodes; node++)
        all = sched_join(s, AFTER(all, cross(s, b, node_at(l, (node + l->top.place) % l->nodes), after)));
    sorted = all;
    for (int i = 0; i < b->k; i++)
        sorted = sched_join(s, AFTER(sorted, sort_for(s, b, i, all)));
    return sorted;
}

static int through_leader(struct sched *s, const struct coll_levels *l, struct coll_block own, size_t len, int after)
{
    const struct coll_bundle b = coll_bundle_of(s, l, len);
    int all = sched_copy(s, own, coll_blocks_at(b.in, len, 0, b.n), AFTER(after));

    for (int i = 1; i < b.k; i++)
        all = sched_join(s, AFTER(all, coll_team_recv(s, &l->node, coll_blocks_at(b.in, len, (MPI_Count)i * b.n, b.n),
                                                      i, LEVELS_UP, AT_ONCE)));
    all = coll_bundle_swap(s, &b, all);
    for (int i = 1; i < b.k; i++)
        coll_team_send(s, &l->node, coll_blocks_at(b.in, len, (MPI_Count)i * b.n, b.n), i, LEVELS_DOWN, AFTER(all));
    return sched_copy(s, coll_blocks_at(b.in, len, 0, b.n), own, AFTER(all));
}

void coll_alltoall_levels(struct sched *s, const struct coll_args *args)
{
    const int size = s->comm->size;
    const struct coll_data *from = coll_is_in_place(args->send.buf) ? &args->recv : &args->send;
    const struct coll_block block = coll_data_block(&args->recv, 0);
    const size_t len = coll_bytes(&block);
    struct coll_block own;
    struct coll_levels l;
    int last = SCHED_NONE;

    if (!coll_levels_of(s, 0, &l))
        return;
    own = coll_byte_block(sched_bytes(s, len * (size_t)size), len * (size_t)size);
    for (int i = 0; i < size; i++)
        last = sched_join(s, AFTER(last, sched_copy(s, coll_data_block(from, l.order[i]),
                                                    coll_blocks_at(own.buf, len, i, 1), AT_ONCE)));
    if (l.is_leader) {
        last = through_leader(s, &l, own, len, last);
    } else {
        last = coll_team_send(s, &l.node, own, 0, LEVELS_UP, AFTER(last));
        last = coll_team_recv(s, &l.node, own, 0, LEVELS_DOWN, AFTER(last));
    }
    for (int i = 0; i < size; i++)
        sched_copy(s, coll_blocks_at(own.buf, len, i, 1), coll_data_block(&args->recv, l.order[i]), AFTER(last));
}

/* --- reduce_scatter --- */

static MPI_Count count_of(const struct coll_data *recv, int rank)
{
    return recv->counts.p ? coll_number(&recv->counts, rank) : recv->count;
}

/* Items of the ranks before this one, by rank. */
static MPI_Count items_before(const struct coll_data *recv, int rank)
{
    return recv->counts.p ? coll_sum(recv, rank) : recv->count * rank;
}

/* Items for the processes number `from` to `to` - 1 in the order of nodes. */
static MPI_Count items_of(const struct coll_levels *l, const struct coll_data *recv, int from, int to)
{
    MPI_Count items = 0;

    for (int i = from; i < to; i++)
        items += count_of(recv, l->order[i]);
    return items;
}

/* The vector in the order of nodes. */
static struct coll_block by_nodes(struct sched *s, const struct coll_levels *l, const struct coll_data *recv,
                                  struct coll_block value, int *last)
{
    struct coll_block sorted;
    MPI_Count at = 0;
    const int after = *last;

    if (l->has_runs)
        return value;
    sorted = sched_items(s, value.type, value.count);
    for (int i = 0; i < s->comm->size; i++) {
        const int rank = l->order[i];
        const MPI_Count count = count_of(recv, rank);

        *last = sched_join(s, AFTER(*last, sched_copy(s, coll_part(value, items_before(recv, rank), count),
                                                      coll_part(sorted, at, count), AFTER(after))));
        at += count;
    }
    return sorted;
}

struct coll_share coll_levels_share(struct sched *s, const struct coll_levels *l, const struct coll_data *recv,
                                    struct coll_block value, int after)
{
    int last = after;
    const struct coll_block all = by_nodes(s, l, recv, value, &last);
    const int own = node_at(l, l->top.place);
    const MPI_Count first = items_of(l, recv, 0, l->start[own]);
    const struct coll_block mine = coll_part(all, first, items_of(l, recv, l->start[own], l->start[own + 1]));
    struct coll_share share = { .last = SCHED_NONE };
    const int ready = last;
    MPI_Count end = items_of(l, recv, 0, l->start[l->nodes]);

    for (int node = l->nodes - 1; node >= 0; node--) { /* the last ranks first */
        const MPI_Count count = items_of(l, recv, l->start[node], l->start[node + 1]);
        const int place = (node - l->top.first + l->nodes) % l->nodes;
        struct coll_block in = mine;
        int got = ready;

        end -= count;
        if (node != own) {
            coll_team_send(s, &l->top, coll_part(all, end, count), place, LEVELS_ACROSS, AFTER(ready));
            in = sched_items(s, value.type, mine.count);
            got = coll_team_recv(s, &l->top, in, place, LEVELS_ACROSS, AT_ONCE);
        }
        if (share.last == SCHED_NONE && node == l->nodes - 1)
            share = (struct coll_share){ in, got };
        else
            share.last = sched_reduce(s, in, share.result, AFTER(got, share.last));
    }
    return share;
}

/* A leader's blocks to the processes of its node. */
static void hand_out(struct sched *s, const struct coll_levels *l, const struct coll_data *recv,
                     const struct coll_share *share)
{
    MPI_Count at = 0;

    for (int i = 0; i < l->node.size; i++) {
        const int rank = l->node.ranks[i];
        const struct coll_block block = coll_part(share->result, at, count_of(recv, rank));

        at += block.count;
        if (rank == s->comm->rank)
            sched_copy(s, block, coll_part((struct coll_block){ recv->buf, block.count, recv->type }, 0, block.count),
                       AFTER(share->last));
        else
            sched_send(s, block, rank, LEVELS_DOWN, AFTER(share->last));
    }
}

void coll_reduce_scatter_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_data *recv = &args->recv;
    const struct coll_block own = { (void *)(uintptr_t)coll_own(args), items_before(recv, s->comm->size), recv->type };
    const MPI_Count count = count_of(recv, s->comm->rank);
    struct coll_block value = own;
    struct coll_share share;
    struct coll_levels l;
    int last;

    if (!coll_levels_of(s, 0, &l))
        return;
    if (l.is_leader)
        value = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &l.node, own, value, LEVELS_UP, SCHED_NONE);
    if (!l.is_leader) {
        sched_recv(s, (struct coll_block){ recv->buf, count, recv->type }, coll_team_rank(&l.node, 0), LEVELS_DOWN,
                   AFTER(last));
        return;
    }
    share = coll_levels_share(s, &l, recv, value, last);
    hand_out(s, &l, recv, &share);
}
