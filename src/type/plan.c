/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Making plans in canonical form. The work is linear in the arguments of the constructor, and so is the
 * memory: what is regular becomes a loop, parts of the old type are pointed at, not copied.
 * Knows: int_plan.h. Does not know: datatypes, how bytes are moved. */
#include <string.h>

#include "base/mem.h"
#include "type/int_plan.h"

enum {
    LIST_FIRST = 16,
    REGULAR = 4, /* a list becomes loops if that makes it so many times shorter */
    EVEN_LEN = 4, /* bytes; shorter blocks are not made even */
    EVEN_MORE = 4, /* nor if there would be more than so many times as many */
    WORDS_MIN = 8192, /* displacements: shorter lists stay in the caches as they are */
};

static const struct type_part nothing = { 0, NULL };

static struct plan *node_new(struct plan_builder *b, enum plan_kind kind)
{
    struct plan *plan = b->has_no_memory || b->is_too_large ? NULL : mem_zalloc(sizeof *plan);

    if (!plan) {
        b->has_no_memory |= !b->is_too_large;
        return NULL;
    }
    plan->kind = (uint8_t)kind;
    plan->next = b->nodes;
    b->nodes = plan;
    return plan;
}

void plan_free(struct plan *nodes)
{
    while (nodes) {
        struct plan *const next = nodes->next;
        mem_free(nodes->disps);
        mem_free(nodes->words);
        mem_free(nodes->runs);
        mem_free(nodes->ends);
        mem_free(nodes->external_ends);
        mem_free(nodes->children);
        mem_free(nodes);
        nodes = next;
    }
}

void plan_init_block(struct plan *plan, size_t len, const struct type_unit *unit)
{
    plan->kind = PLAN_BLOCK;
    plan->size = len;
    plan->blocks = 1;
    plan->high = (MPI_Count)len;
    plan->unit = unit;
    plan_prepare(plan);
    if (!unit)
        return;
    plan->align = unit->align;
    plan->has_any = unit->signature == TYPE_SIGNATURE_ANY;
    plan->elements = (MPI_Count)(len / unit->size);
    plan->external = (size_t)plan->elements * unit->external;
    plan->hash = signature_repeat(unit->signature, 1, plan->elements);
}

struct type_part plan_block(struct plan_builder *b, size_t len, const struct type_unit *unit)
{
    struct plan *plan = node_new(b, PLAN_BLOCK);

    if (!plan)
        return nothing;
    plan_init_block(plan, len, b->is_map ? unit : NULL);
    return (struct type_part){ 0, plan };
}

/* --- loops --- */

/* Size and bounds of a new loop; false when they are more than MPI_Count holds. */
static bool loop_measure(struct plan *plan)
{
    const struct plan *const child = plan->child;
    MPI_Count reach, size, external;

    if (__builtin_mul_overflow(plan->count, (MPI_Count)child->size, &size) ||
        __builtin_mul_overflow(plan->count, (MPI_Count)child->external, &external) ||
        __builtin_mul_overflow(plan->count - 1, plan->stride, &reach) ||
        __builtin_add_overflow(child->low, reach < 0 ? reach : 0, &plan->low) ||
        __builtin_add_overflow(child->high, reach > 0 ? reach : 0, &plan->high) ||
        __builtin_sub_overflow(plan->high, plan->low, &reach))
        return false;
    plan->size = (size_t)size;
    plan->external = (size_t)external;
    plan->blocks = (size_t)plan->count * child->blocks; /* not more than bytes */
    plan->align = child->align;
    plan->unit = child->unit;
    plan->has_any = child->has_any;
    plan->elements = plan->count * child->elements;
    return true;
}

static struct type_part new_loop(struct plan_builder *b, MPI_Count count, MPI_Count stride, struct type_part child)
{
    struct plan *plan = node_new(b, PLAN_LOOP);

    if (!plan)
        return nothing;
    plan->count = count;
    plan->stride = stride;
    plan->child = child.plan;
    if (!loop_measure(plan)) {
        b->is_too_large = true;
        return nothing;
    }
    plan_prepare(plan);
    if (b->is_map)
        plan->hash = signature_repeat(child.plan->hash, child.plan->elements, count);
    return (struct type_part){ child.disp, plan };
}

static struct type_part longer_block(struct plan_builder *b, MPI_Count count, struct type_part child)
{
    struct type_part part;
    MPI_Count len;

    if (__builtin_mul_overflow(count, (MPI_Count)child.plan->size, &len)) {
        b->is_too_large = true;
        return nothing;
    }
    part = plan_block(b, (size_t)len, child.plan->unit);
    part.disp = child.disp;
    return part;
}

struct type_part plan_loop(struct plan_builder *b, MPI_Count count, MPI_Count stride, struct type_part child)
{
    const struct plan *const plan = child.plan;
    MPI_Count whole, turns;

    if (count <= 0 || !plan)
        return nothing;
    if (count == 1)
        return child;
    if (plan->kind == PLAN_BLOCK && stride == (MPI_Count)plan->size)
        return longer_block(b, count, child);
    if (plan->kind == PLAN_LOOP && !__builtin_mul_overflow(plan->count, plan->stride, &whole) && stride == whole &&
        !__builtin_mul_overflow(count, plan->count, &turns))
        return plan_loop(b, turns, plan->stride, (struct type_part){ child.disp, plan->child });
    return new_loop(b, count, stride, child);
}

/* --- lists in the making --- */

static bool make_room(struct plan_builder *b, struct plan_entries *list)
{
    const size_t room = list->room ? list->room * 2 : LIST_FIRST;
    struct plan_entry *p;

    if (list->count < list->room)
        return true;
    p = mem_realloc(list->p, room * sizeof *p);
    if (!p) {
        b->has_no_memory = true;
        return false;
    }
    list->p = p;
    list->room = room;
    return true;
}

/* From one displacement to another; the difference of unsigned numbers cannot overflow. */
static MPI_Count distance(MPI_Count from, MPI_Count to)
{
    return (MPI_Count)((uint64_t)to - (uint64_t)from);
}

/* Blocks that touch become one. */
static void add_entry(struct plan_builder *b, struct plan_entries *list, struct plan_entry entry)
{
    struct plan_entry *const last = list->count ? &list->p[list->count - 1] : NULL;

    if (last && !last->base && !entry.base && distance(last->disp, entry.disp) == (MPI_Count)last->len &&
        (!b->is_map || plan_unit_same(last->unit, entry.unit)))
        last->len += entry.len;
    else if (make_room(b, list))
        list->p[list->count++] = entry;
}

static struct plan_entry block_entry(const struct plan_builder *b, MPI_Count disp, size_t len,
                                     const struct type_unit *unit)
{
    return (struct plan_entry){ disp, NULL, len, b->is_map ? unit : NULL };
}

void plan_add_run(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, size_t len,
                  const struct type_unit *unit)
{
    add_entry(b, list, block_entry(b, disp, len, unit));
}

static bool is_short_list(const struct plan *plan)
{
    return plan->kind >= PLAN_EVEN && plan->count <= PLAN_FIELDS;
}

void plan_add(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, struct type_part part)
{
    const struct plan *const plan = part.plan;

    if (!plan)
        return;
    if (__builtin_add_overflow(disp, part.disp, &disp)) {
        b->is_too_large = true;
    } else if (plan->kind == PLAN_BLOCK) {
        add_entry(b, list, block_entry(b, disp, plan->size, plan->unit));
    } else if (!is_short_list(plan)) {
        add_entry(b, list, (struct plan_entry){ disp, plan, 0, NULL });
    } else {
        for (MPI_Count i = 0; i < plan->count; i++) {
            MPI_Count at;
            if (__builtin_add_overflow(disp, plan->disps[i], &at))
                b->is_too_large = true;
            else if (plan->kind == PLAN_LIST)
                plan_add(b, list, at, (struct type_part){ 0, plan->children[i] });
            else if (plan->kind == PLAN_EVEN)
                add_entry(b, list, block_entry(b, at, plan_even_len(plan), plan->unit));
            else
                add_entry(b, list,
                          block_entry(b, at, plan->ends[i] - plan_begin(plan, (size_t)i), plan->unit));
        }
    }
}

void plan_add_loop(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, MPI_Count count,
                   MPI_Count stride, struct type_part child)
{
    MPI_Count len;

    if (count <= 0 || !child.plan)
        return;
    if (child.plan->kind == PLAN_BLOCK && stride == (MPI_Count)child.plan->size) {
        if (__builtin_mul_overflow(count, (MPI_Count)child.plan->size, &len) ||
            __builtin_add_overflow(disp, child.disp, &disp))
            b->is_too_large = true;
        else
            add_entry(b, list, block_entry(b, disp, (size_t)len, child.plan->unit));
        return;
    }
    if (list->last_child != child.plan || list->last_count != count || list->last_stride != stride) {
        list->last = plan_loop(b, count, stride, child);
        list->last.disp -= child.disp;
        list->last_child = child.plan;
        list->last_count = count;
        list->last_stride = stride;
    }
    plan_add(b, list, disp, (struct type_part){ child.disp + list->last.disp, list->last.plan });
}

/* --- from lists to plans --- */

static bool same_base(const struct plan_entry *a, const struct plan_entry *b)
{
    return a->base == b->base && (a->base || (a->len == b->len && plan_unit_same(a->unit, b->unit)));
}

/* Entries from `from` on that are alike and evenly apart. */
static size_t regular_run(const struct plan_entries *list, size_t from)
{
    const struct plan_entry *const p = list->p;
    size_t i = from + 1;

    if (i >= list->count || !same_base(&p[from], &p[i]))
        return 1;
    while (i + 1 < list->count && same_base(&p[i], &p[i + 1]) &&
           distance(p[i].disp, p[i + 1].disp) == distance(p[from].disp, p[from + 1].disp))
        i++;
    return i + 1 - from;
}

static struct type_part entry_part(struct plan_builder *b, const struct plan_entry *entry)
{
    struct type_part part = { 0, entry->base };

    if (!entry->base)
        part = plan_block(b, entry->len, entry->unit);
    part.disp += entry->disp;
    return part;
}

static bool is_regular(const struct plan_entries *list)
{
    size_t runs = 0;

    for (size_t i = 0; i < list->count; i += regular_run(list, i))
        runs++;
    return runs == 1 || runs * REGULAR <= list->count;
}

/* Every regular run becomes one entry; equal ones get the same plan. */
static void fold_runs(struct plan_builder *b, struct plan_entries *list)
{
    struct plan_entry previous = { 0 };
    MPI_Count last_stride = 0;
    size_t out = 0, last_run = 0;
    struct type_part last = nothing;

    for (size_t i = 0, run; i < list->count; i += run) {
        const struct plan_entry first = list->p[i];
        MPI_Count stride;

        run = regular_run(list, i);
        if (run == 1) {
            list->p[out++] = first;
            continue;
        }
        if (__builtin_sub_overflow(list->p[i + 1].disp, first.disp, &stride)) {
            b->is_too_large = true;
            return;
        }
        if (!last.plan || run != last_run || stride != last_stride || !same_base(&first, &previous)) {
            last = entry_part(b, &first);
            last.disp -= first.disp;
            last = plan_loop(b, (MPI_Count)run, stride, last);
            if (!last.plan)
                return;
            previous = first;
            last_run = run;
            last_stride = stride;
        }
        list->p[out++] = (struct plan_entry){ first.disp + last.disp, last.plan, 0, NULL };
    }
    list->count = out;
}

static enum plan_kind kind_of_list(const struct plan_builder *b, const struct plan_entries *list)
{
    enum plan_kind kind = PLAN_EVEN;

    for (size_t i = 0; i < list->count; i++) {
        if (list->p[i].base || (b->is_map && !plan_unit_same(list->p[i].unit, list->p[0].unit)))
            return PLAN_LIST;
        if (list->p[i].len != list->p[0].len)
            kind = PLAN_BLOCKS;
    }
    return kind;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Long lists of blocks with few lengths, which are multiples of one: blocks of that one length are moved faster, since
 * the processor need not guess. */
static void make_even(struct plan_builder *b, struct plan_entries *list)
{
    struct plan_entries even = { .p = NULL };
    size_t len = 0, sum = 0;

    if (list->count <= PLAN_FIELDS || kind_of_list(b, list) != PLAN_BLOCKS)
        return;
    for (size_t i = 0; i < list->count; i++) {
        len = common_divisor(list->p[i].len, len);
        sum += list->p[i].len;
    }
    if (len < EVEN_LEN || sum / len > EVEN_MORE * list->count)
        return;
    for (size_t i = 0; i < list->count; i++)
        for (size_t at = 0; at < list->p[i].len && make_room(b, &even); at += len) {
            even.p[even.count] = list->p[i];
            even.p[even.count].len = len;
            even.p[even.count++].disp += (MPI_Count)at;
        }
    mem_free(list->p);
    *list = even;
}

/* Do no two of the blocks share a byte? */
static bool are_disjoint(const struct plan *plan, const struct plan_entries *list)
{
    if (list->count > PLAN_FIELDS || plan->kind == PLAN_LIST)
        return false;
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < i; j++)
            if (plan->disps[i] < plan->disps[j] + (MPI_Count)list->p[j].len &&
                plan->disps[j] < plan->disps[i] + (MPI_Count)list->p[i].len)
                return false;
    return true;
}

/* The sums over one more entry; false when they overflow. */
static bool list_count(struct plan *plan, const struct plan *child, MPI_Count disp, bool is_map)
{
    MPI_Count low, high, size;
    const bool is_first = plan->size == 0;

    if (__builtin_add_overflow((MPI_Count)plan->size, (MPI_Count)child->size, &size) ||
        __builtin_add_overflow(disp, child->low, &low) || __builtin_add_overflow(disp, child->high, &high))
        return false;
    plan->size = (size_t)size;
    plan->blocks += child->blocks;
    plan->low = is_first || low < plan->low ? low : plan->low;
    plan->high = is_first || high > plan->high ? high : plan->high;
    if (__builtin_sub_overflow(plan->high, plan->low, &size))
        return false;
    if (!is_map)
        return true;
    plan->unit = is_first || plan_unit_same(plan->unit, child->unit) ? child->unit : NULL;
    plan->align = child->align > plan->align ? child->align : plan->align;
    plan->has_any |= child->has_any;
    plan->hash = signature_join(plan->hash, child->hash, child->elements);
    plan->elements += child->elements;
    plan->external += child->external;
    return true;
}

static bool list_alloc(struct plan_builder *b, struct plan *plan, size_t count)
{
    plan->disps = mem_alloc(count * sizeof *plan->disps);
    plan->ends = plan->kind == PLAN_EVEN ? NULL : mem_alloc(count * sizeof *plan->ends);
    plan->children = plan->kind == PLAN_LIST ? mem_alloc(count * sizeof *plan->children) : NULL;
    if (b->is_map && plan->kind == PLAN_LIST)
        plan->external_ends = mem_alloc(count * sizeof *plan->external_ends);
    if (plan->disps && (plan->ends || plan->kind == PLAN_EVEN) && (plan->children || plan->kind != PLAN_LIST) &&
        (plan->external_ends || !b->is_map || plan->kind != PLAN_LIST))
        return true;
    b->has_no_memory = true;
    return false;
}

/* The plan of an entry: in a LIST a node, which equal neighbours share; else only for a moment. */
static const struct plan *entry_plan(struct plan_builder *b, const struct plan *list_plan,
                                     const struct plan_entries *list, size_t i, struct plan *passing)
{
    const struct plan_entry *const entry = &list->p[i];

    if (entry->base)
        return entry->base;
    if (list_plan->kind == PLAN_LIST)
        return i && same_base(entry, entry - 1) ? list_plan->children[i - 1]
                                                : plan_block(b, entry->len, entry->unit).plan;
    *passing = (struct plan){ 0 };
    plan_init_block(passing, entry->len, b->is_map ? entry->unit : NULL);
    return passing;
}

/* A long list of words of 8 bytes is read from memory, like the data: half as wide, if that can say it. */
static void make_words(struct plan_builder *b, struct plan *plan)
{
    const MPI_Count width = sizeof(uint64_t);

    if (plan->kind != PLAN_EVEN || plan->count < WORDS_MIN || plan_even_len(plan) != (size_t)width)
        return;
    for (MPI_Count i = 0; i < plan->count; i++)
        if (plan->disps[i] % width || plan->disps[i] / width != (int32_t)(plan->disps[i] / width))
            return;
    plan->words = mem_alloc((size_t)plan->count * sizeof *plan->words);
    b->has_no_memory |= !plan->words;
    for (MPI_Count i = 0; plan->words && i < plan->count; i++)
        plan->words[i] = (int32_t)(plan->disps[i] / width);
}

static void make_runs(struct plan_builder *b, struct plan *plan)
{
    if (plan->kind != PLAN_BLOCKS || !simd_takes_blocks(plan))
        return;
    plan->runs = mem_alloc(sizeof *plan->runs + (size_t)plan->count * sizeof plan->runs->at[0]);
    if (!plan->runs) {
        b->has_no_memory = true;
        return;
    }
    plan->runs->count = (size_t)plan->count;
    for (size_t i = 0; i < plan->runs->count; i++) {
        const size_t begin = plan_begin(plan, i);

        plan->runs->at[i] = (struct strided_run){ plan->disps[i], begin, plan->ends[i] - begin };
    }
}

static struct type_part new_list(struct plan_builder *b, const struct plan_entries *list)
{
    struct plan *plan = node_new(b, kind_of_list(b, list));
    const MPI_Count origin = list->p[0].disp;

    if (!plan || !list_alloc(b, plan, list->count))
        return nothing;
    plan->count = (MPI_Count)list->count;
    for (size_t i = 0; i < list->count; i++) {
        struct plan passing;
        const struct plan *const child = entry_plan(b, plan, list, i, &passing);

        if (!child)
            return nothing;
        if (__builtin_sub_overflow(list->p[i].disp, origin, &plan->disps[i]) ||
            !list_count(plan, child, plan->disps[i], b->is_map)) {
            b->is_too_large = true;
            return nothing;
        }
        if (plan->ends)
            plan->ends[i] = plan->size;
        if (plan->external_ends)
            plan->external_ends[i] = plan->external;
        if (plan->children)
            plan->children[i] = child;
    }
    plan->is_disjoint = are_disjoint(plan, list);
    make_words(b, plan);
    make_runs(b, plan);
    plan_prepare(plan);
    return (struct type_part){ origin, plan };
}

struct type_part plan_list(struct plan_builder *b, struct plan_entries *list)
{
    struct type_part part = nothing;

    while (list->count > 1 && !b->has_no_memory && !b->is_too_large && is_regular(list))
        fold_runs(b, list);
    make_even(b, list);
    if (b->has_no_memory || b->is_too_large || list->count == 0)
        part = nothing;
    else if (list->count == 1)
        part = entry_part(b, &list->p[0]);
    else
        part = new_list(b, list);
    mem_free(list->p);
    return part;
}
