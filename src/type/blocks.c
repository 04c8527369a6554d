/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The packed stream told as a list of blocks of memory, for those who move data without packing: each block
 * where it lies, in the order of the stream.
 * Knows: plans. Does not know: who copies. */
#include <assert.h>

#include "type/int_plan.h"

/* What has been told so far, and what shall be. */
struct listing {
    struct type_block *out;
    size_t count;
    size_t at, from, until; /* of the stream: where the next block begins; what is wanted of it */
};

/* The next block of the stream. */
static void add_block(struct listing *l, uintptr_t memory, size_t len)
{
    const size_t skip = l->from > l->at ? size_min(l->from - l->at, len) : 0;
    const size_t wanted = size_min(len, l->until - l->at) - skip;
    struct type_block *const last = l->count ? &l->out[l->count - 1] : NULL;
    const size_t begin = l->count > 1 ? last[-1].end : 0;

    l->at += len;
    if (!wanted)
        return;
    memory += skip;
    if (last && last->address + (last->end - begin) == memory)
        last->end += wanted;
    else
        l->out[l->count++] = (struct type_block){ memory, (last ? last->end : 0) + wanted };
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
    for (size_t i = 0; i < (size_t)plan->count && l->at < l->until; i++) {
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

size_t type_list_blocks(const struct type *type, const void *buf, MPI_Count count, size_t offset, size_t len,
                        struct type_block *out)
{
    const struct plan *const plan = type->plan.plan;
    const size_t first = offset / plan->size;
    struct listing l = { .out = out, .from = offset % plan->size, .until = offset % plan->size + len };
    uintptr_t memory = plan_place((uintptr_t)buf, type->plan.disp) + first * (uintptr_t)type->extent;

    assert(offset + len <= type_bytes(type, count));
    (void)count;
    for (; l.at < l.until; memory += (uintptr_t)type->extent)
        add_plan(&l, plan, memory);
    return l.count;
}
