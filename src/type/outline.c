/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Outlines: a type told in bytes, and made again from them by another process (MPI 5.0 §12.3: a target's
 * layout is described at the origin). Told is the map, not the constructors: it is as short as what it says is regular.
 *
 * A predefined type is one number, the value of its handle. Any other: 0; lb and extent; then, if it holds data, the
 * displacement of the map and its nodes, each after those it points at, the root last:
 *
 *   BLOCK    unit, elements
 *   LOOP     child, count, stride
 *   EVEN     unit, elements of a block, count, displacements
 *   BLOCKS   unit, count, for each: displacement, elements
 *   LIST     count, for each: displacement, child
 *
 * Numbers have 7 bits a byte, the lowest first; signed ones have their sign in bit 0. A unit is a number of
 * unit_number. A child is told by how many nodes it stands before. A displacement is the distance from the one before.
 * Reading trusts no byte: it asks for no more memory than a multiple of what was read, and nodes are not deeper than
 * DEPTH, since moving data goes down by recursion.
 * Knows: plans. Does not know: who sends it. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "type/int_plan.h"

enum { DEPTH = 1000, BYTES_FIRST = 64, TABLE_FIRST = 16, PARTS_FIRST = 16, NUMBER_MAX = 10 };

static COLD int no_memory(void)
{
    return err(MPI_ERR_NO_MEM, "no memory to describe a datatype to another process");
}

/* --- writing --- */

struct seen {
    const struct plan *plan; /* NULL: free */
    size_t number;
};

struct writer {
    struct type_outline *out;
    size_t room;
    struct seen *seen;       /* open addressing, a power of two */
    size_t slots, nodes;
    bool has_no_memory, is_too_deep;
};

static void put(struct writer *w, uint64_t value)
{
    struct type_outline *larger;

    if (w->out->len + NUMBER_MAX > w->room) {
        larger = mem_realloc(w->out, sizeof *w->out + 2 * w->room);
        if (!larger) {
            w->has_no_memory = true;
            return;
        }
        w->out = larger;
        w->room *= 2;
    }
    for (; value >= 0x80; value >>= 7)
        w->out->bytes[w->out->len++] = (unsigned char)(value | 0x80);
    w->out->bytes[w->out->len++] = (unsigned char)value;
}

static void put_signed(struct writer *w, MPI_Count value)
{
    put(w, value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1);
}

static void put_elements(struct writer *w, size_t bytes, const struct type_unit *unit)
{
    put(w, bytes / unit->size);
}

/* Where the plan stands in the table, or would. */
static struct seen *find_seen(const struct writer *w, const struct plan *plan)
{
    size_t i = ((uintptr_t)plan >> 4) * 0x9E3779B1u & (w->slots - 1);

    while (w->seen[i].plan && w->seen[i].plan != plan)
        i = (i + 1) & (w->slots - 1);
    return &w->seen[i];
}

static bool grow_table(struct writer *w)
{
    struct writer larger = { .slots = w->slots * 2 };

    larger.seen = mem_zalloc(larger.slots * sizeof *larger.seen);
    if (!larger.seen) {
        w->has_no_memory = true;
        return false;
    }
    for (size_t i = 0; i < w->slots; i++)
        if (w->seen[i].plan)
            *find_seen(&larger, w->seen[i].plan) = w->seen[i];
    mem_free(w->seen);
    w->seen = larger.seen;
    w->slots = larger.slots;
    return true;
}

static void put_child(struct writer *w, const struct plan *child)
{
    put(w, w->nodes - find_seen(w, child)->number);
}

static void put_list(struct writer *w, const struct plan *plan)
{
    MPI_Count last = 0;

    if (plan->kind != PLAN_LIST)
        put(w, unit_number(plan->unit));
    if (plan->kind == PLAN_EVEN)
        put_elements(w, plan_even_len(plan), plan->unit);
    put(w, (uint64_t)plan->count);
    for (MPI_Count i = 0; i < plan->count && !w->has_no_memory; i++) {
        put_signed(w, (MPI_Count)((uint64_t)plan->disps[i] - (uint64_t)last));
        last = plan->disps[i];
        if (plan->kind == PLAN_LIST)
            put_child(w, plan->children[i]);
        else if (plan->kind == PLAN_BLOCKS)
            put_elements(w, plan->ends[i] - plan_begin(plan, (size_t)i), plan->unit);
    }
}

/* A node whose children have been written. */
static void put_node(struct writer *w, const struct plan *plan)
{
    put(w, plan->kind);
    if (plan->kind == PLAN_BLOCK) {
        put(w, unit_number(plan->unit));
        put_elements(w, plan->size, plan->unit);
    } else if (plan->kind == PLAN_LOOP) {
        put_child(w, plan->child);
        put(w, (uint64_t)plan->count);
        put_signed(w, plan->stride);
    } else {
        put_list(w, plan);
    }
}

static void put_plan(struct writer *w, const struct plan *plan, int depth)
{
    if (find_seen(w, plan)->plan || w->has_no_memory)
        return;
    if (depth >= DEPTH) {
        w->is_too_deep = true;
        return;
    }
    if (plan->kind == PLAN_LOOP)
        put_plan(w, plan->child, depth + 1);
    for (MPI_Count i = 0; plan->kind == PLAN_LIST && i < plan->count && !w->is_too_deep; i++)
        put_plan(w, plan->children[i], depth + 1);
    if (w->is_too_deep || w->has_no_memory || (w->nodes * 2 >= w->slots && !grow_table(w)))
        return;
    put_node(w, plan);
    *find_seen(w, plan) = (struct seen){ plan, w->nodes++ };
}

static void put_type(struct writer *w, const struct type *type)
{
    put(w, type->obj.predefined);
    if (type->obj.predefined)
        return;
    put_signed(w, type->lb);
    put_signed(w, type->extent);
    if (type->map.plan) {
        put_signed(w, type->map.disp);
        put_plan(w, type->map.plan, 0);
    }
}

static int write_outline(const struct type *type, struct type_outline **out)
{
    struct writer w = { .room = BYTES_FIRST, .slots = TABLE_FIRST };
    int rc = 0;

    w.out = mem_alloc(sizeof *w.out + w.room);
    w.seen = mem_zalloc(w.slots * sizeof *w.seen);
    if (w.out && w.seen) {
        w.out->len = 0;
        put_type(&w, type);
    }
    if (!w.out || !w.seen || w.has_no_memory)
        rc = no_memory();
    else if (w.is_too_deep)
        rc = err(MPI_ERR_TYPE, "a datatype nested more than %d levels cannot be described to another process",
                 DEPTH);
    mem_free(w.seen);
    if (rc)
        mem_free(w.out);
    else
        *out = w.out;
    return rc;
}

int type_get_outline(struct type *type, const struct type_outline **out)
{
    struct type_outline *made, *kept = atomic_load_explicit(&type->outline, memory_order_acquire);
    int rc;

    if (!kept) {
        rc = write_outline(type, &made);
        if (rc)
            return rc;
        if (atomic_compare_exchange_strong_explicit(&type->outline, &kept, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            kept = made;
        else
            mem_free(made); /* another thread was faster */
    }
    *out = kept;
    return 0;
}

/* --- reading --- */

struct reader {
    const unsigned char *p, *end;
    bool is_bad;
};

static uint64_t get(struct reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; r->p < r->end && shift < 64; shift += 7) {
        const unsigned char byte = *r->p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->is_bad = true;
    return 0;
}

static MPI_Count get_signed(struct reader *r)
{
    const uint64_t value = get(r);

    return (MPI_Count)(value & 1 ? ~(value >> 1) : value >> 1);
}

/* At least 1. */
static MPI_Count get_count(struct reader *r)
{
    const uint64_t value = get(r);

    if (value >= 1 && value <= INT64_MAX)
        return (MPI_Count)value;
    r->is_bad = true;
    return 1;
}

static const struct type_unit *get_unit(struct reader *r)
{
    const struct type_unit *unit = unit_of_number(get(r));

    if (!unit) {
        r->is_bad = true;
        unit = unit_of_number(0);
    }
    return unit;
}

static size_t get_elements(struct reader *r, const struct type_unit *unit)
{
    const MPI_Count elements = get_count(r);

    if (elements <= INT64_MAX / unit->size)
        return (size_t)elements * unit->size;
    r->is_bad = true;
    return unit->size;
}

/* What has been read: the part of each node, and how deep it is. */
struct node {
    struct type_part part;
    int depth;
};

struct nodes {
    struct node *p;
    size_t count, room;
};

/* NULL: there is no such node, or it is too deep to be pointed at. */
static const struct node *get_child(struct reader *r, const struct nodes *nodes)
{
    const uint64_t before = get(r);
    const struct node *child = before >= 1 && before <= nodes->count ? &nodes->p[nodes->count - before] : NULL;

    if (child && child->depth < DEPTH)
        return child;
    r->is_bad = true;
    return NULL;
}

static struct node read_loop(struct reader *r, struct plan_builder *b, const struct nodes *nodes)
{
    const struct node *const child = get_child(r, nodes);
    const MPI_Count count = get_count(r), stride = get_signed(r);
    struct node node = { .depth = 0 };

    if (!r->is_bad) {
        node.depth = child->depth + 1;
        node.part = plan_loop(b, count, stride, child->part);
    }
    return node;
}

/* One entry of a list, whose blocks, if they are alike, have `len` bytes. */
static void read_entry(struct reader *r, struct plan_builder *b, const struct nodes *nodes, struct plan_entries *list,
                       struct node *node, MPI_Count disp, const struct type_unit *unit, size_t len)
{
    if (!unit) {
        const struct node *const child = get_child(r, nodes);
        if (!child)
            return;
        node->depth = child->depth >= node->depth ? child->depth + 1 : node->depth;
        plan_add(b, list, disp, child->part);
        return;
    }
    plan_add_run(b, list, disp, len ? len : get_elements(r, unit), unit);
}

static struct node read_list(struct reader *r, struct plan_builder *b, const struct nodes *nodes, unsigned kind)
{
    const struct type_unit *const unit = kind == PLAN_LIST ? NULL : get_unit(r);
    const size_t len = kind == PLAN_EVEN ? get_elements(r, unit) : 0;
    struct plan_entries list = { .p = NULL };
    struct node node = { .depth = 0 };
    uint64_t disp = 0;

    for (MPI_Count left = get_count(r); left > 0 && !r->is_bad && !b->has_no_memory && !b->is_too_large; left--) {
        disp += (uint64_t)get_signed(r);
        if (!r->is_bad)
            read_entry(r, b, nodes, &list, &node, (MPI_Count)disp, unit, len);
    }
    if (r->is_bad)
        mem_free(list.p);
    else
        node.part = plan_list(b, &list);
    return node;
}

static struct node read_node(struct reader *r, struct plan_builder *b, const struct nodes *nodes)
{
    const uint64_t kind = get(r);
    struct node node = { .depth = 0 };

    if (kind == PLAN_LOOP)
        return read_loop(r, b, nodes);
    if (kind == PLAN_EVEN || kind == PLAN_BLOCKS || kind == PLAN_LIST)
        return read_list(r, b, nodes, (unsigned)kind);
    if (kind == PLAN_BLOCK) {
        const struct type_unit *const unit = get_unit(r);
        const size_t len = get_elements(r, unit);
        if (!r->is_bad)
            node.part = plan_block(b, len, unit);
    } else {
        r->is_bad = true;
    }
    return node;
}

static bool keep_node(struct nodes *nodes, struct node node)
{
    const size_t room = nodes->room ? nodes->room * 2 : PARTS_FIRST;
    struct node *larger;

    if (nodes->count == nodes->room) {
        larger = mem_realloc(nodes->p, room * sizeof *larger);
        if (!larger)
            return false;
        nodes->p = larger;
        nodes->room = room;
    }
    nodes->p[nodes->count++] = node;
    return true;
}

struct outline_args {
    const unsigned char *p, *end; /* from the displacement on; empty: no data */
    bool *is_bad;
};

static struct type_part make_from_outline(struct plan_builder *b, const void *args)
{
    const struct outline_args *const a = args;
    struct reader r = { a->p, a->end, false };
    struct type_part root = { 0, NULL };
    struct nodes nodes = { .p = NULL };
    MPI_Count disp;

    if (r.p == r.end)
        return root;
    disp = get_signed(&r);
    while (!r.is_bad && !b->has_no_memory && !b->is_too_large && r.p < r.end) {
        const struct node node = read_node(&r, b, &nodes);
        b->has_no_memory |= !keep_node(&nodes, node);
    }
    if (nodes.count)
        root = nodes.p[nodes.count - 1].part;
    else
        r.is_bad = true;
    if (!r.is_bad && root.plan && __builtin_add_overflow(root.disp, disp, &root.disp))
        r.is_bad = true;
    mem_free(nodes.p);
    *a->is_bad |= r.is_bad;
    return r.is_bad ? (struct type_part){ 0, NULL } : root;
}

static COLD int malformed(size_t len)
{
    return err(MPI_ERR_TYPE, "the description of a datatype by another process, %zu bytes, makes no sense", len);
}

static int find_predefined(uint64_t value, size_t len, struct type **out)
{
    struct obj *const obj = value < OBJ_PREDEFINED_END ? obj_table[value] : NULL;
    struct type *const type = obj && obj->kind == OBJ_TYPE ? CONTAINER_OF(obj, struct type, obj) : NULL;

    if (!type || !type->is_supported)
        return malformed(len);
    *out = type;
    return 0;
}

int type_from_outline(const void *bytes, size_t len, struct type **out)
{
    struct reader r = { bytes, (const unsigned char *)bytes + len, false };
    const uint64_t predefined = get(&r);
    struct type_bounds bounds = { 0, 0, TYPE_MARKS_BOTH };
    struct outline_args args;
    struct type *type;
    int rc;

    if (predefined)
        return r.p == r.end ? find_predefined(predefined, len, out) : malformed(len);
    bounds.lb = get_signed(&r);
    if (__builtin_add_overflow(bounds.lb, get_signed(&r), &bounds.ub) || r.is_bad)
        return malformed(len);
    args = (struct outline_args){ r.p, r.end, &r.is_bad };
    rc = construct_type(contents_create(MPI_COMBINER_DUP, false, 0, 0, 0, 0), make_from_outline, &args, &bounds, &type);
    if (rc)
        return rc;
    if (r.is_bad) {
        type_unref(type);
        return malformed(len);
    }
    type_set_committed(type);
    *out = type;
    return 0;
}
