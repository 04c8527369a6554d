/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Neighborhood collectives in a grid (MPI 5.0 §8.6) through shared memory: each member puts the short
 * ones of its blocks into slots (node_slots.c), which its neighbours wait for, and sends the others as messages; what
 * the slots say decides, since lengths are known to the two ends of an edge only. One hop, and nobody waits for others
 * than neighbours.
 *
 * Who brings a long block shows in its cell where all blocks lie and where those that come go to, instead of slots. Of
 * two who do, each writes into the memory of the other, where there are no gaps; but only once what goes to it twice.
 *
 * What is sent down along a dimension arrives as what comes from above: the block at place `i` lies in slot `i ^ 1` of
 * the neighbour, or in its only one. In graphs a member does not know the places that its neighbours give it. */
#include <string.h>

#include "base/memcheck.h"
#include "coll/algorithms.h"
#include "coll/int_call.h"
#include "coll/int_node.h"
#include "obj/topology.h"
#include "sys/huge.h"

enum {
    SHOWN_MIN = 16384,  /* bytes of a block that does not fit into a slot from which on memory is shown */
    ONCE_MIN = 524288,  /* from which on what goes to a member twice is written once */
    TURN = 262144,      /* bytes of one block that go to all neighbours before the next ones do */
    SHOWN = 1,          /* in a head without slots, instead of their bytes: there are boxes; 0: all goes by messages */
};

struct around {
    struct node_call call;
    const struct coll_args *args;
    int count;                  /* of neighbours */
    bool is_one;                /* all get the same block */
    bool has_long;              /* something goes by messages */
    bool can_copy, is_shown;    /* may members copy from each other, does this one show its memory? */
    bool is_message[NODE_SLOTS_MOST]; /* comes so */
    int rank[NODE_SLOTS_MOST];  /* of neighbours, or MPI_PROC_NULL */
    struct node_slots out;
};

/* Is there a neighbour for block `i`? Where not, it may lie nowhere. */
static bool goes_out(const struct around *a, int i)
{
    return a->is_one || a->rank[i] != MPI_PROC_NULL;
}

/* --- memory to memory --- */

/* Where blocks lie, and then where blocks go to; at 0: in no row. */
struct box {
    uint64_t at, len;
};

static struct box *boxes_of(const struct around *a, int rank)
{
    return (struct box *)(void *)shelf_cell(a->call.comm, rank, a->call.round);
}

static struct box box_of(const struct coll_block *block)
{
    const size_t len = type_bytes(block->type, block->count);
    struct box box = { 0, len };

    if (type_is_run(block->type, block->count))
        box.at = (uintptr_t)type_run(block->type, block->buf);
    return box;
}

/* Post them instead of slots. */
static void show(struct around *a)
{
    struct shelf_line *line = node_open(&a->call, true);
    struct box *box = boxes_of(a, a->call.comm->rank);
    const struct node_head head = { SHOWN, NODE_SLOTS_NONE };

    for (int i = 0; i < a->out.count; i++, box++) {
        a->out.len[i] = NODE_SLOTS_NONE;
        *box = goes_out(a, i) ? box_of(&a->out.block[i]) : (struct box){ 0, 0 };
    }
    for (int i = 0; i < a->count; i++, box++) {
        const struct coll_block to = coll_data_block(&a->args->recv, i);
        *box = a->rank[i] != MPI_PROC_NULL ? box_of(&to) : (struct box){ 0, 0 };
        if (box->at) /* others write there, and the system looks up each page */
            huge_note((const void *)(uintptr_t)box->at, box->len);
    }
    memcpy(line->data, &head, sizeof head);
    node_post(&a->call, line);
}

static bool has_boxes(const struct around *a, int rank)
{
    const struct node_head *head = node_head(&a->call, rank, a->call.round);

    return head->len == NODE_SLOTS_NONE && head->stride == SHOWN;
}

/* The block at place `i` of member `from` goes to place `i ^ 1` of `to`, its neighbour: is it written there? Both
 * ask. */
static bool is_written(const struct around *a, int from, int to, int i, struct box *source, struct box *goal)
{
    if (!a->is_shown || !has_boxes(a, from) || !has_boxes(a, to))
        return false;
    *source = boxes_of(a, from)[a->is_one ? 0 : i];
    *goal = boxes_of(a, to)[a->out.count + (i ^ 1)];
    return source->at && goal->at && source->len == goal->len;
}

/* A very long block for all that goes to a member at several places is written once: at which `i`? */
static int first_way(const struct around *a, int from, int to, int i)
{
    const bool brings = from == a->call.comm->rank;
    struct box source, goal;

    for (int other = 0; a->is_one && other < i; other++) {
        const int rank = brings ? to : from;

        if (a->rank[brings ? other : other ^ 1] == rank && is_written(a, from, to, other, &source, &goal) &&
            source.len >= ONCE_MIN)
            return other;
    }
    return i;
}

/* What goes from place `i` of this member into a neighbour's memory, if anything. */
static bool is_to_write(const struct around *a, int i, struct box *source, struct box *goal)
{
    const int own = a->call.comm->rank, to = a->rank[i];

    return to != MPI_PROC_NULL && is_written(a, own, to, i, source, goal) && first_way(a, own, to, i) == i;
}

/* Bytes [at, at + len) to all places. */
static int write_part(const struct around *a, size_t at, size_t len)
{
    int rc = 0;

    for (int i = 0; i < a->count; i++) {
        struct box source, goal;

        if (!is_to_write(a, i, &source, &goal) || at >= source.len)
            continue;
        if (a->rank[i] == a->call.comm->rank)
            copy_long((char *)(uintptr_t)goal.at + at, (const char *)(uintptr_t)source.at + at,
                      size_min(len, source.len - at));
        else
            node_note(&rc, node_push(&a->call, a->rank[i], (const char *)(uintptr_t)source.at + at, goal.at + at,
                                     size_min(len, source.len - at)));
    }
    return rc;
}

/* All that this member writes; one block for all in parts, which are in the cache when they go to the next
 * neighbour. */
static int write_all(const struct around *a)
{
    const size_t part = a->is_one ? TURN : SIZE_MAX;
    size_t longest = 0;
    int rc = 0;

    for (int i = 0; i < a->out.count; i++)
        longest = size_max(longest, boxes_of(a, a->call.comm->rank)[i].len);
    for (size_t at = 0; at < longest; at += size_min(part, longest - at))
        node_note(&rc, write_part(a, at, part));
    return rc;
}

/* Wait for what neighbours write, and copy what has gone to an earlier place. */
static void await_written(struct around *a)
{
    const int own = a->call.comm->rank;
    struct box source, goal, first;

    for (int i = 0; i < a->count; i++) {
        const int from = a->rank[i];
        int way;

        if (from == MPI_PROC_NULL || !has_boxes(a, from))
            continue;
        node_await_step(&a->call, 1, from, from + 1);
        if (!is_written(a, from, own, i ^ 1, &source, &goal))
            continue;
        way = first_way(a, from, own, i ^ 1);
        if (way != (i ^ 1)) {
            is_written(a, from, own, way, &source, &first);
            memcheck_written((void *)(uintptr_t)first.at, first.len);
            copy_long((void *)(uintptr_t)goal.at, (const void *)(uintptr_t)first.at, goal.len);
        }
        memcheck_written((void *)(uintptr_t)goal.at, goal.len);
    }
}

/* --- slots and messages --- */

/* Bytes of a block; slots take up to `most`. */
static bool is_better_shown(const struct around *a, size_t len, size_t most)
{
    const struct comm *comm = a->call.comm;

    return a->can_copy && len >= (len > most ? SHOWN_MIN : node_copy_min_all()) &&
           node_weight(comm, len) >= comm->shelf_copy_min;
}

/* What goes into slots: blocks up to a share of a cell, all of them or none if lengths need too much room. */
static void plan(struct around *a)
{
    struct node_slots *out = &a->out;
    const size_t most = SHELF_CELL / (size_t)(a->is_one ? 1 : a->count);
    size_t longest = 0;
    bool is_equal = true;
    int first = -1;

    out->count = a->is_one ? 1 : a->count;
    a->is_shown = false;
    for (int i = 0; i < out->count; i++) {
        out->block[i] = coll_data_block(&a->args->send, i);
        out->len[i] = NODE_SLOTS_NONE;
        if (!goes_out(a, i))
            continue;
        first = first < 0 ? i : first;
        out->len[i] = type_bytes(out->block[i].type, out->block[i].count);
        a->is_shown = a->is_shown || is_better_shown(a, out->len[i], most);
        if (out->len[i] > most)
            out->len[i] = NODE_SLOTS_NONE;
        else
            longest = size_max(longest, out->len[i]);
        is_equal = is_equal && out->len[i] == out->len[first];
    }
    out->head = (struct node_head){ (uint32_t)longest, !is_equal   ? NODE_SLOTS_VARY
                                                       : first < 0 ? 0 : (uint32_t)out->len[first] };
    if (node_slots_rounds(&a->call, &out->head, out->count) > 1) {
        out->head = (struct node_head){ 0, NODE_SLOTS_NONE };
        for (int i = 0; i < out->count; i++)
            out->len[i] = NODE_SLOTS_NONE;
    }
}

static void wake(const struct around *a)
{
    for (int i = 0; i < a->count; i++) {
        if (a->rank[i] != MPI_PROC_NULL)
            node_wake(&a->call, a->rank[i]);
    }
}

/* The blocks in slots; remember which do not lie there. */
static int take(struct around *a)
{
    struct box source, goal;
    int rc = 0;

    for (int i = 0; i < a->count; i++) {
        const int rank = a->rank[i], slot = a->is_one ? 0 : i ^ 1;
        struct coll_block to;

        a->is_message[i] = false;
        if (rank == MPI_PROC_NULL || is_written(a, rank, a->call.comm->rank, i ^ 1, &source, &goal))
            continue;
        a->is_message[i] = node_slots_len(&a->call, rank, a->out.count, slot) == NODE_SLOTS_NONE;
        if (a->is_message[i]) {
            a->has_long = true;
            continue;
        }
        to = coll_data_block(&a->args->recv, i);
        node_note(&rc, node_slots_take(&a->call, rank, a->out.count, slot, &to));
    }
    return rc;
}

static bool goes_by_message(const struct around *a, int i)
{
    struct box source, goal;

    return a->rank[i] != MPI_PROC_NULL && a->out.len[a->is_one ? 0 : i] == NODE_SLOTS_NONE &&
           !is_written(a, a->call.comm->rank, a->rank[i], i, &source, &goal);
}

static int exchange_long(struct around *a)
{
    const struct coll_args *args = a->args;
    struct sched s;
    int rc;

    sched_init(&s, a->call.comm);
    s.call = a->call.comm->coll_call;
    s.sequence = a->call.comm->coll_sequence;
    s.operation = args->operation;
    s.root = 0;
    s.bytes = 0;
    s.tag = s.local_tag = a->call.tag;
    for (int i = 0; i < a->count; i++) {
        if (a->is_message[i])
            sched_recv(&s, coll_data_block(&args->recv, i), a->rank[i], i, AT_ONCE);
    }
    for (int i = 0; i < a->count; i++) {
        if (goes_by_message(a, i))
            sched_send(&s, a->out.block[a->is_one ? 0 : i], a->rank[i], i ^ 1, AT_ONCE);
    }
    rc = s.failed;
    if (!rc)
        rc = sched_run(&s);
    sched_fini(&s);
    return rc;
}

static int run(struct around *a)
{
    int rc = 0;

    plan(a);
    if (a->is_shown)
        show(a);
    else
        node_slots_post(&a->call, &a->out);
    wake(a);
    for (int i = 0; i < a->count && !rc; i++) {
        if (a->rank[i] != MPI_PROC_NULL)
            rc = node_await(&a->call, a->call.round, a->rank[i], a->rank[i] + 1);
    }
    if (rc)
        return rc;
    rc = take(a);
    for (int i = 0; i < a->count; i++)
        a->has_long = a->has_long || goes_by_message(a, i);
    if (a->is_shown) {
        node_note(&rc, write_all(a));
        node_step(&a->call, 1);
        wake(a);
    }
    if (a->has_long)
        node_note(&rc, exchange_long(a));
    if (a->is_shown)
        await_written(a);
    return rc;
}

bool node_neighbors(struct comm *comm, const struct coll_args *args, int *rc)
{
    const struct topology *t = comm->topology;
    struct around a;

    if (!t || t->kind != MPI_CART || 2 * t->cart.ndims > NODE_SLOTS_MOST || !t->cart.ndims)
        return false;
    *rc = node_begin(&a.call, comm, args->operation, -1, 0);
    if (!*rc)
        *rc = coll_neighbor_check(comm, args);
    if (!*rc)
        a.can_copy = node_copies(&a.call, rc);
    if (*rc)
        return true;
    a.args = args;
    a.count = 2 * t->cart.ndims;
    a.has_long = false;
    a.is_one = args->operation == COLL_NEIGHBOR_ALLGATHER || args->operation == COLL_NEIGHBOR_ALLGATHERV;
    for (int i = 0; i < a.count; i++)
        a.rank[i] = topology_grid_rank(t, comm->rank, i / 2, i % 2 ? 1 : -1);
    *rc = run(&a);
    return true;
}
