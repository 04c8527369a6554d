/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Moving data between memory and the packed stream, by the plan of a type.
 *
 * A range of the stream is a part of a first item, whole items, and a part of a last one, and so it is on each level of
 * the plan: the place of a byte is found by division in loops and by bisection in lists. Whole loops go to strided.c.
 * One run of bytes takes one memcpy. Gaps are never touched.
 * Knows: plans. Does not know: how a type was made. */
#include <assert.h>
#include <string.h>

#include "base/copy.h"
#include "type/int_move.h"
#include "type/int_plan.h"

enum {
    COPY_STAGE = 4096,
    FAR_STAGE = 32768,   /* a whole buffer of the transport's: each run costs a start */
    FAR_MIN = 513,       /* bytes that are worth a second copy … */
    FAR_BLOCK = 4096,    /* … in blocks of up to that on average, … */
    FAR_SHORT = 256,     /* … and if they are longer than this, … */
    FAR_MANY = 8,        /* … in so many */
    NEAR_BLOCK = 1024,   /* from here on each is written as such memory is best written, where lines are near … */
    NEAR_MIN = 2048,     /* … by messages of at least so many bytes, … */
    NEAR_LIST = 16,      /* … so many at a time */
    FIELDS_LOOP = 4,     /* so many turns are worth going field by field */
    FIELDS_BYTES = 8192, /* in chunks that stay in the first cache */
};

static void strided(const struct strided *s, uintptr_t memory, char *stream, bool is_pack)
{
    move_way(strided_ways(s), s, memory, stream, is_pack);
}

static ALWAYS_INLINE void move_whole(const struct plan *plan, uintptr_t memory, char *stream, bool is_pack)
{
    move_way(plan->ways, plan->how, memory, stream, is_pack);
}

/* --- many times a whole plan --- */

static size_t field_len(const struct plan *plan, size_t i)
{
    return plan->ends ? plan->ends[i] - plan_begin(plan, i) : plan_even_len(plan);
}

/* Fields `i` and the next one of `count` items. */
static struct strided_fields two_fields(const struct plan *plan, size_t i, MPI_Count count, MPI_Count stride)
{
    return (struct strided_fields){
        .count = (size_t)count,
        .first_len = field_len(plan, i),
        .second_len = field_len(plan, i + 1),
        .second = plan->disps[i + 1] - plan->disps[i],
        .stride = stride,
        .step = plan->size,
    };
}

/* One field of `n` items, or two; returns how many. `at` is where it begins in the stream of an item. */
static size_t move_field(const struct plan *plan, size_t i, MPI_Count n, MPI_Count stride, uintptr_t memory,
                         char *stream, bool is_pack)
{
    const size_t at = plan->ends ? plan_begin(plan, i) : i * plan_even_len(plan), len = field_len(plan, i);
    const struct strided s = { .outer = 1, .inner = (size_t)n, .len = len, .inner_stride = stride,
                               .inner_step = plan->size };

    memory = plan_place(memory, plan->disps[i]);
    if (i + 1 < (size_t)plan->count) {
        const struct strided_fields f = two_fields(plan, i, n, stride);
        const struct move_ways ways = strided_fields_ways(&f);
        if (ways.pack) {
            move_way(ways, &f, memory, stream + at, is_pack);
            return 2;
        }
    }
    strided(&s, memory, stream + at, is_pack);
    return 1;
}

/* `count` times a list of few blocks: a loop for each block or two of them, over a chunk of the items. */
static void move_fields(const struct plan *plan, MPI_Count count, MPI_Count stride, uintptr_t memory, char *stream,
                        bool is_pack)
{
    const size_t reach = (size_t)(plan->high - plan->low) + plan->size;
    const MPI_Count most = plan->count == 2 ? count : (MPI_Count)size_max(FIELDS_BYTES / reach, FIELDS_LOOP);

    for (MPI_Count done = 0, n; done < count; done += n) {
        n = count - done < most ? count - done : most;
        for (size_t i = 0; i < (size_t)plan->count;)
            i += move_field(plan, i, n, stride, memory + (uintptr_t)done * (uintptr_t)stride,
                            stream + (size_t)done * plan->size, is_pack);
    }
}

/* May the blocks of `count` items go in another order than that of the type map? Always when packing; when unpacking
 * only if no two of them share a byte. */
static bool may_go_by_fields(const struct plan *plan, MPI_Count count, MPI_Count stride, bool is_pack)
{
    const MPI_Count reach = plan->high - plan->low;

    if (count < FIELDS_LOOP || plan->count > PLAN_FIELDS)
        return false;
    return is_pack || (plan->is_disjoint && (stride >= reach || stride <= -reach));
}

/* `count` times a whole plan, `stride` apart. */
static void move_many(const struct plan *plan, MPI_Count count, MPI_Count stride, uintptr_t memory, char *stream,
                      bool is_pack)
{
    if (plan->kind == PLAN_BLOCK) {
        const struct strided s = { .outer = 1, .inner = (size_t)count, .len = plan->size, .inner_stride = stride,
                                   .inner_step = plan->size };
        strided(&s, memory, stream, is_pack);
    } else if (plan->kind == PLAN_LOOP && plan->child->kind == PLAN_BLOCK) {
        const struct strided s = { .outer = (size_t)count, .inner = (size_t)plan->count, .len = plan->child->size,
                                   .outer_stride = stride, .inner_stride = plan->stride,
                                   .outer_step = plan->size, .inner_step = plan->child->size };
        strided(&s, memory, stream, is_pack);
    } else if ((plan->kind == PLAN_EVEN || plan->kind == PLAN_BLOCKS) &&
               may_go_by_fields(plan, count, stride, is_pack)) {
        move_fields(plan, count, stride, memory, stream, is_pack);
    } else {
        for (MPI_Count i = 0; i < count; i++)
            move_whole(plan, memory + (uintptr_t)i * (uintptr_t)stride, stream + (size_t)i * plan->size, is_pack);
    }
}

/* --- whole plans: what their `ways` are; `how` is the plan --- */

#define WAYS(name, ...) \
    static void pack_##name(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct plan *const plan = how; \
        const bool is_pack = true; \
\
        __VA_ARGS__; \
    } \
    static void unpack_##name(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct plan *const plan = how; \
        const bool is_pack = false; \
\
        __VA_ARGS__; \
    } \
    static const struct move_ways name##_ways = { pack_##name, unpack_##name }

static void move_children(const struct plan *plan, uintptr_t memory, char *stream, bool is_pack)
{
    for (size_t i = 0; i < (size_t)plan->count; i++)
        move_whole(plan->children[i], plan_place(memory, plan->disps[i]), stream + plan_begin(plan, i), is_pack);
}

WAYS(block, move(memory, stream, plan->size, is_pack));
WAYS(turns, move_many(plan->child, plan->count, plan->stride, memory, stream, is_pack));
WAYS(blocks, strided_blocks(plan->disps, plan->ends, (size_t)plan->count, 0, memory, stream, is_pack));
WAYS(children, move_children(plan, memory, stream, is_pack));
#undef WAYS

/* Loops of one or two levels over blocks, and one over two blocks, are moved by one call. False: it is none. */
static bool prepare_loop(struct plan *plan)
{
    const struct plan *const child = plan->child, *const inner = child->kind == PLAN_LOOP ? child : plan;
    const bool is_nested = inner != plan;

    if (inner->child->kind == PLAN_BLOCK) {
        plan->as.loop = (struct strided){
            .outer = is_nested ? (size_t)plan->count : 1,
            .inner = (size_t)inner->count,
            .len = inner->child->size,
            .outer_stride = plan->stride,
            .inner_stride = inner->stride,
            .outer_step = inner->size,
            .inner_step = inner->child->size,
        };
        plan->ways = strided_ways(&plan->as.loop);
        return true;
    }
    if ((child->kind != PLAN_EVEN && child->kind != PLAN_BLOCKS) || child->count != 2)
        return false;
    plan->as.fields = two_fields(child, 0, plan->count, plan->stride);
    plan->ways = strided_fields_ways(&plan->as.fields);
    return plan->ways.pack;
}

void plan_prepare(struct plan *plan)
{
    plan->how = plan;
    switch (plan->kind) {
    case PLAN_BLOCK:
        plan->ways = block_ways;
        break;
    case PLAN_LOOP:
        if (prepare_loop(plan))
            plan->how = &plan->as;
        else
            plan->ways = turns_ways;
        break;
    case PLAN_EVEN:
        plan->as.even = (struct strided_even){ plan->disps, (size_t)plan->count, plan_even_len(plan), plan->words };
        plan->ways = strided_even_ways(&plan->as.even);
        plan->how = &plan->as;
        break;
    case PLAN_BLOCKS:
        plan->ways = plan->runs ? simd_blocks(plan) : blocks_ways;
        plan->how = plan->runs ? (const void *)plan->runs : plan;
        break;
    default:
        plan->ways = children_ways;
    }
}

/* Blocks [first, first + n) of an EVEN plan. */
static void move_even(const struct plan *plan, MPI_Count first, MPI_Count n, uintptr_t memory, char *stream,
                      bool is_pack)
{
    const int32_t *const words = plan->words ? plan->words + first : NULL;
    const struct strided_even even = { plan->disps + first, (size_t)n, plan_even_len(plan), words };

    move_way(strided_even_ways(&even), &even, memory, stream, is_pack);
}

/* Blocks [first, end) of a BLOCKS plan. */
static void move_blocks(const struct plan *plan, size_t first, size_t end, uintptr_t memory, char *stream,
                        bool is_pack)
{
    strided_blocks(plan->disps + first, plan->ends + first, end - first, plan_begin(plan, first), memory, stream,
                   is_pack);
}

/* --- ranges: bytes [from, from + len) of what the plan packs; len is not 0 --- */

static void move_range(const struct plan *plan, uintptr_t memory, size_t from, char *stream, size_t len,
                       bool is_pack);

/* Of items without end, `stride` apart. */
static NOINLINE void range_of_items(const struct plan *plan, MPI_Count stride, uintptr_t memory, size_t from,
                                    char *stream, size_t len, bool is_pack)
{
    const size_t size = plan->size;
    size_t skip, whole;

    if (from == 0 && len == size) {
        move_whole(plan, memory, stream, is_pack);
        return;
    }
    skip = from % size;
    memory += (uintptr_t)(from / size) * (uintptr_t)stride;
    if (skip) {
        const size_t n = size_min(size - skip, len);
        move_range(plan, memory, skip, stream, n, is_pack);
        memory += (uintptr_t)stride;
        stream += n;
        len -= n;
    }
    whole = len / size;
    if (whole)
        move_many(plan, (MPI_Count)whole, stride, memory, stream, is_pack);
    if (len % size)
        move_range(plan, memory + (uintptr_t)whole * (uintptr_t)stride, 0, stream + whole * size, len % size,
                   is_pack);
}

static void range_of_even(const struct plan *plan, uintptr_t memory, size_t from, char *stream, size_t len,
                          bool is_pack)
{
    const size_t block = plan_even_len(plan), skip = from % block;
    MPI_Count i = (MPI_Count)(from / block), whole;

    if (skip) {
        const size_t n = size_min(block - skip, len);
        move(plan_place(memory, plan->disps[i++]) + skip, stream, n, is_pack);
        stream += n;
        len -= n;
    }
    whole = (MPI_Count)(len / block);
    move_even(plan, i, whole, memory, stream, is_pack);
    if (len % block)
        move(plan_place(memory, plan->disps[i + whole]), stream + len - len % block, len % block, is_pack);
}

static void range_of_blocks(const struct plan *plan, uintptr_t memory, size_t from, char *stream, size_t len,
                            bool is_pack)
{
    const size_t first = plan_find(plan, from), last = plan_find(plan, from + len - 1);
    const size_t skip = from - plan_begin(plan, first), head = size_min(plan->ends[first] - from, len);

    move(plan_place(memory, plan->disps[first]) + skip, stream, head, is_pack);
    if (first == last)
        return;
    move_blocks(plan, first + 1, last, memory, stream + head, is_pack);
    move(plan_place(memory, plan->disps[last]), stream + (plan_begin(plan, last) - from),
         from + len - plan_begin(plan, last), is_pack);
}

static void range_of_list(const struct plan *plan, uintptr_t memory, size_t from, char *stream, size_t len,
                          bool is_pack)
{
    for (size_t i = plan_find(plan, from); len > 0; i++) {
        const size_t begin = plan_begin(plan, i), skip = from - begin;
        const size_t n = size_min(plan->ends[i] - from, len);

        move_range(plan->children[i], plan_place(memory, plan->disps[i]), skip, stream, n, is_pack);
        stream += n;
        from += n;
        len -= n;
    }
}

static void move_range(const struct plan *plan, uintptr_t memory, size_t from, char *stream, size_t len,
                       bool is_pack)
{
    if (len == plan->size)
        move_whole(plan, memory, stream, is_pack);
    else if (plan->kind == PLAN_BLOCK)
        move(memory + from, stream, len, is_pack);
    else if (plan->kind == PLAN_LOOP)
        range_of_items(plan->child, plan->stride, memory, from, stream, len, is_pack);
    else if (plan->kind == PLAN_EVEN)
        range_of_even(plan, memory, from, stream, len, is_pack);
    else if (plan->kind == PLAN_BLOCKS)
        range_of_blocks(plan, memory, from, stream, len, is_pack);
    else
        range_of_list(plan, memory, from, stream, len, is_pack);
}

static NOINLINE void many_items(const struct plan *plan, MPI_Count count, MPI_Count extent, uintptr_t memory,
                                char *stream, bool is_pack)
{
    move_many(plan, count, extent, memory, stream, is_pack);
}

/* One whole item, or all of them, need no division. */
static ALWAYS_INLINE void move_items(const struct type *type, uintptr_t buf, MPI_Count count, size_t offset,
                                     char *stream, size_t len, bool is_pack)
{
    const struct plan *const plan = type->plan.plan;
    const uintptr_t memory = plan_place(buf, type->plan.disp);

    if (likely(!offset && len == plan->size))
        move_whole(plan, memory, stream, is_pack);
    else if (!offset && len == plan->size * (size_t)count)
        many_items(plan, count, type->extent, memory, stream, is_pack);
    else
        range_of_items(plan, type->extent, memory, offset, stream, len, is_pack);
}

/* --- the stream of a type --- */

void type_pack(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out,
               size_t len)
{
    assert(offset + len <= type_bytes(type, count));
    if (len == 0)
        return;
    if (likely(type->is_contig))
        memcpy(out, (const void *)((uintptr_t)buf + offset), len);
    else
        move_items(type, (uintptr_t)buf, count, offset, out, len, true);
}

void type_unpack(const struct type *type, void *buf, MPI_Count count, size_t offset, const void *in,
                 size_t len)
{
    assert(offset + len <= type_bytes(type, count));
    if (len == 0)
        return;
    if (likely(type->is_contig))
        memcpy((void *)((uintptr_t)buf + offset), in, len);
    else
        move_items(type, (uintptr_t)buf, count, offset, (char *)(uintptr_t)in, len, false);
}

/* How long the blocks of an item are on average. */
static size_t block_of(const struct type *type)
{
    return type->plan.plan->size / type->plan.plan->blocks;
}

static bool pays_staging(const struct type *type, size_t len)
{
    const size_t block = block_of(type);

    return len >= FAR_MIN && block <= FAR_BLOCK && (block < FAR_SHORT || len / block >= FAR_MANY);
}

static NOINLINE void pack_staged(const struct type *type, const void *buf, MPI_Count count, size_t offset, char *out,
                                 size_t len)
{
    char stage[FAR_STAGE];

    for (size_t done = 0, n; done < len; done += n) {
        n = size_min(len - done, sizeof stage);
        type_pack(type, buf, count, offset + done, stage, n);
        shared_write(out + done, stage, n, true);
    }
}

/* Block by block, each as a message of its own would be written. */
static NOINLINE void pack_long_blocks(const struct type *type, const void *buf, size_t offset, char *out, size_t len)
{
    struct type_block blocks[NEAR_LIST];
    size_t n, at;

    for (size_t done = 0; done < len; done += at) {
        n = type_next_blocks(type, (uintptr_t)buf, offset + done, len - done, blocks, NEAR_LIST);
        at = 0;
        for (size_t i = 0; i < n; at = blocks[i++].end)
            shared_write_block(out + done + at, (const void *)(uintptr_t)blocks[i].address, blocks[i].end - at);
    }
}

static NOINLINE void unpack_staged(const struct type *type, void *buf, MPI_Count count, size_t offset, const char *in,
                                   size_t len)
{
    char stage[FAR_STAGE];

    for (size_t done = 0, n; done < len; done += n) {
        n = size_min(len - done, sizeof stage);
        shared_read(stage, in + done, n);
        type_unpack(type, buf, count, offset + done, stage, n);
    }
}

void type_pack_far(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out, size_t len,
                   bool is_far)
{
    if (type_is_run(type, count))
        shared_write(out, type_run(type, buf) + offset, len, is_far);
    else if (is_far && pays_staging(type, len))
        pack_staged(type, buf, count, offset, out, len);
    else if (!is_far && len >= NEAR_MIN && block_of(type) >= NEAR_BLOCK)
        pack_long_blocks(type, buf, offset, out, len);
    else
        type_pack(type, buf, count, offset, out, len);
}

void type_unpack_far(const struct type *type, void *buf, MPI_Count count, size_t offset, const void *in, size_t len,
                     bool is_far)
{
    if (type_is_run(type, count))
        shared_read(type_run(type, buf) + offset, in, len);
    else if (is_far && pays_staging(type, len))
        unpack_staged(type, buf, count, offset, in, len);
    else
        type_unpack(type, buf, count, offset, in, len);
}

size_t type_copy(void *dst, MPI_Count dst_count, const struct type *dst_type, const void *src,
                 MPI_Count src_count, const struct type *src_type)
{
    const size_t len = size_min(type_bytes(dst_type, dst_count), type_bytes(src_type, src_count));
    char stage[COPY_STAGE];

    if (len == 0 || (dst == src && dst_type == src_type))
        return len;
    if (src_type->is_contig) {
        type_unpack(dst_type, dst, dst_count, 0, src, len);
        return len;
    }
    if (dst_type->is_contig) {
        type_pack(src_type, src, src_count, 0, dst, len);
        return len;
    }
    for (size_t done = 0, n; done < len; done += n) {
        n = size_min(len - done, sizeof stage);
        type_pack(src_type, src, src_count, done, stage, n);
        type_unpack(dst_type, dst, dst_count, done, stage, n);
    }
    return len;
}
