/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The packed stream told as a list of blocks of memory, for those who move data without packing: each block
 * where it lies, in the order of the stream.
 * Knows: plans. Does not know: who copies. */
#include <assert.h>

#include "type/int_plan.h"

/* What has been told so far, and what shall be. */
struct listing {
    struct type_block *out;
    size_t count, room;
    size_t at, from, until; /* of the stream: where the next block begins; what is wanted of it */
};

/* The next block of the stream. Without room for it nothing more is wanted. */
static void add_block(struct listing *l, uintptr_t memory, size_t len)
{
    const size_t skip = l->from > l->at ? size_min(l->from - l->at, len) : 0;
    const size_t wanted = size_min(len, l->until - l->at) - skip;
    struct type_block *const last = l->count ? &l->out[l->count - 1] : NULL;
    const size_t begin = l->count > 1 ? last[-1].end : 0;
    const bool is_joined = last && last->address + (last->end - begin) == memory + skip;

    if (wanted && !is_joined && l->count == l->room) {
        l->until = l->at + skip;
        return;
    }
    l->at += len;
    if (!wanted)
        return;
    memory += skip;
    if (is_joined)
        last->end += wanted;
    else
        l->out[l->count++] = (struct type_block){ memory, (last ? last->end : 0) + wanted };
}

/* `count` blocks evenly apart, none of which touches the next, behind one that has been told: as many of them as are
 * wanted whole and find room. How many that was. */
static size_t add_row(struct listing *l, uintptr_t memory, MPI_Count stride, size_t len, size_t count)
{
    struct type_block *const out = l->out + l->count;
    const size_t n = size_min(size_min(count, (l->until - l->at) / len), l->room - l->count);
    const size_t begin = out[-1].end;

    for (size_t i = 0; i < n; i++)
        out[i] = (struct type_block){ memory + i * (uintptr_t)stride, begin + (i + 1) * len };
    l->at += n * len;
    l->count += n;
    return n;
}

/* The first entry of a plan of several with something that is wanted; what is before it has been passed. */
static size_t first_entry(struct listing *l, const struct plan *plan)
{
    const size_t skip = l->from > l->at ? l->from - l->at : 0;
    size_t i, size;

    if (!skip)
        return 0;
    if (plan->kind == PLAN_LOOP || !plan->ends) {
        size = plan->kind == PLAN_LOOP ? plan->child->size : plan_even_len(plan);
        i = skip / size;
        l->at += i * size;
    } else {
        i = plan_find(plan, skip);
        l->at += plan_begin(plan, i);
    }
    return i;
}

/* A loop over a block. */
static void add_loop(struct listing *l, const struct plan *plan, uintptr_t memory)
{
    const size_t count = (size_t)plan->count, len = plan->child->size;
    size_t i = first_entry(l, plan);

    while (i < count && l->at < l->until) {
        add_block(l, memory + i * (uintptr_t)plan->stride, len);
        i++;
        if (l->count && l->at < l->until && plan->stride != (MPI_Count)len)
            i += add_row(l, memory + i * (uintptr_t)plan->stride, plan->stride, len, count - i);
    }
}

static void add_plan(struct listing *l, const struct plan *plan, uintptr_t memory)
{
    if (l->at + plan->size <= l->from) { /* nothing of it */
        l->at += plan->size;
        return;
    }
    if (plan->kind == PLAN_BLOCK) {
        add_block(l, memory, plan->size);
        return;
    }
    if (plan->kind == PLAN_LOOP && plan->child->kind == PLAN_BLOCK) {
        add_loop(l, plan, memory);
        return;
    }
    for (size_t i = first_entry(l, plan); i < (size_t)plan->count && l->at < l->until; i++) {
        if (plan->kind == PLAN_LOOP)
            add_plan(l, plan->child, memory + i * (uintptr_t)plan->stride);
        else if (plan->kind == PLAN_LIST)
            add_plan(l, plan->children[i], plan_place(memory, plan->disps[i]));
        else
            add_block(l, plan_place(memory, plan->disps[i]),
                      plan->ends ? plan->ends[i] - plan_begin(plan, i) : plan_even_len(plan));
    }
}

size_t type_block_count(const struct type *type, MPI_Count count)
{
    return type->plan.plan->blocks * (size_t)count;
}

size_t type_next_blocks(const struct type *type, uintptr_t base, size_t offset, size_t len, struct type_block *out,
                        size_t room)
{
    const struct plan *const plan = type->plan.plan;
    const size_t first = offset / plan->size;
    struct listing l = { .out = out, .room = room, .from = offset % plan->size, .until = offset % plan->size + len };
    uintptr_t memory = plan_place(base, type->plan.disp) + first * (uintptr_t)type->extent;

    if (len && type_is_run(type, 2)) {
        out[0] = (struct type_block){ plan_place(base, type->plan.disp) + offset, len };
        return 1;
    }
    for (; l.at < l.until; memory += (uintptr_t)type->extent)
        add_plan(&l, plan, memory);
    return l.count;
}

size_t type_list_blocks(const struct type *type, const void *buf, MPI_Count count, size_t offset, size_t len,
                        struct type_block *out)
{
    assert(offset + len <= type_bytes(type, count));
    (void)count;
    return type_next_blocks(type, (uintptr_t)buf, offset, len, out, SIZE_MAX);
}

/* --- order --- */

/* Where the first block of a plan begins, where the last one does, and where all ends. */
struct reach {
    MPI_Count first, last, end;
    enum type_order order;
};

/* One behind another, `disp` from where `all` is seen from; the first of all if `is_first`. */
static void add_reach(struct reach *all, struct reach next, MPI_Count disp, bool is_first)
{
    next.first += disp;
    next.last += disp;
    next.end += disp;
    if (is_first) {
        *all = next;
        return;
    }
    if (next.first < all->last)
        all->order = TYPE_ORDER_NONE;
    else if (next.first < all->end && all->order == TYPE_ORDER_RISING)
        all->order = TYPE_ORDER_OVERLAPS;
    if (next.order < all->order)
        all->order = next.order;
    all->last = next.last;
    all->end = next.end > all->end ? next.end : all->end;
}

static struct reach reach_of(const struct plan *plan);

/* What the second turn is to the first, each one is to the one before it. */
static struct reach reach_of_loop(const struct plan *plan)
{
    const struct reach turn = reach_of(plan->child);
    const MPI_Count way = (plan->count - 1) * plan->stride;
    struct reach all;

    add_reach(&all, turn, 0, true);
    add_reach(&all, turn, plan->stride, false);
    all.last = turn.last + way;
    all.end = turn.end + (way > 0 ? way : 0);
    return all;
}

static struct reach reach_of(const struct plan *plan)
{
    struct reach all = { 0, 0, (MPI_Count)plan->size, TYPE_ORDER_RISING };

    if (plan->kind == PLAN_LOOP)
        return reach_of_loop(plan);
    for (size_t i = 0; plan->kind != PLAN_BLOCK && i < (size_t)plan->count; i++) {
        const size_t len = !plan->ends ? plan_even_len(plan) : plan->ends[i] - plan_begin(plan, i);
        const struct reach block = { 0, 0, (MPI_Count)len, TYPE_ORDER_RISING };

        add_reach(&all, plan->kind == PLAN_LIST ? reach_of(plan->children[i]) : block, plan->disps[i], i == 0);
    }
    return all;
}

enum type_order type_order(const struct type *type)
{
    return type->plan.plan ? reach_of(type->plan.plan).order : TYPE_ORDER_RISING;
}
