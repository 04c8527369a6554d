/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The constructors but those of arrays (MPI 5.0 §5.1.2, §5.1.7, §5.1.10).
 *
 * A constructor says where blocks of items of an old type lie; the plan is made of that, and from the plan follow size
 * and bounds. Bounds (§5.1.6): where types with a marked bound take part, theirs alone count for that bound; otherwise
 * the data do, and the extent is rounded up to the alignment of the most demanding element.
 * Knows: plans, contents. Does not know: how bytes are moved. */
#include "base/err.h"
#include "base/mem.h"
#include "obj/attr.h"
#include "type/int_plan.h"

int construct_check(const struct type *old)
{
    return old->is_supported ? 0 : type_check_usable(old);
}

static COLD int no_memory(void)
{
    return err(MPI_ERR_NO_MEM, "no memory for a datatype");
}

static COLD int too_large(void)
{
    return err(MPI_ERR_COUNT, "the datatype would hold more bytes, or reach further, than MPI_Count can say (%lld)",
               (long long)INT64_MAX);
}

/* --- from plan to type --- */

/* The upper bound that follows from the data: the extent is rounded up. */
static bool end_with_data(struct type *type)
{
    const struct plan *const map = type->map.plan;
    MPI_Count rest, ub;

    if (__builtin_sub_overflow(type->true_lb + type->true_extent, type->lb, &type->extent))
        return false;
    if (!map)
        return true;
    rest = type->extent % map->align; /* below 0 if the extent is */
    return !__builtin_add_overflow(type->extent, rest > 0 ? map->align - rest : -rest, &type->extent) &&
           !__builtin_add_overflow(type->lb, type->extent, &ub);
}

static bool set_bounds(struct type *type, const struct type_bounds *bounds)
{
    const struct plan *const plan = type->plan.plan;
    MPI_Count high;

    if (plan) {
        if (__builtin_add_overflow(type->plan.disp, plan->low, &type->true_lb) ||
            __builtin_add_overflow(type->plan.disp, plan->high, &high) ||
            __builtin_sub_overflow(high, type->true_lb, &type->true_extent))
            return false;
    }
    type->marks = bounds ? bounds->marks : 0;
    type->lb = type->marks & TYPE_MARKS_LB ? bounds->lb : type->true_lb;
    return type->marks & TYPE_MARKS_UB ? !__builtin_sub_overflow(bounds->ub, type->lb, &type->extent)
                                       : end_with_data(type);
}

/* Both plans, or one for both purposes if all elements are alike. */
static int make_plans(struct type *type, construct_fn *make, const void *args)
{
    struct plan_builder b = { .is_map = true };

    type->map = make(&b, args);
    type->plan = type->map;
    if (!b.has_no_memory && !b.is_too_large && type->map.plan && !type->map.plan->unit) {
        b.is_map = false;
        type->plan = make(&b, args);
    }
    type->nodes = b.nodes;
    return b.has_no_memory ? no_memory() : b.is_too_large ? too_large() : 0;
}

int construct_type(struct type_contents *contents, construct_fn *make, const void *args,
                   const struct type_bounds *bounds, struct type **out)
{
    struct type *type = contents ? obj_create(OBJ_TYPE, sizeof *type) : NULL;
    int rc;

    if (!type) {
        contents_destroy(contents, NULL);
        return no_memory();
    }
    type->contents = contents;
    type->is_supported = true;
    type->name = "";
    atomic_init(&type->handles, 1);
    rc = make_plans(type, make, args);
    if (!rc && !set_bounds(type, bounds))
        rc = too_large();
    if (rc) {
        type_destroy(type);
        return rc;
    }
    type->size = type->plan.plan ? (MPI_Count)type->plan.plan->size : 0;
    type->element = type->size ? type_find_element(type) : NULL;
    type->is_run = type->plan.plan && type->plan.plan->kind == PLAN_BLOCK;
    type->is_contig = type->size == 0 || (type->is_run && type->plan.disp == 0 && type->extent == type->size);
    *out = type;
    return 0;
}

/* --- bounds of old types that have their own --- */

struct gathered {
    struct type_bounds bounds;
    bool is_too_large;
};

/* `count` items of the old type from `disp` on. */
static void gather_bounds(struct gathered *g, MPI_Count disp, MPI_Count count, const struct type *old)
{
    MPI_Count reach, low, high;

    if (count <= 0 || !old->marks)
        return;
    if (__builtin_mul_overflow(count - 1, old->extent, &reach) || __builtin_add_overflow(disp, old->lb, &low) ||
        __builtin_add_overflow(low, old->extent, &high) ||
        __builtin_add_overflow(low, reach < 0 ? reach : 0, &low) ||
        __builtin_add_overflow(high, reach > 0 ? reach : 0, &high)) {
        g->is_too_large = true;
        return;
    }
    if (old->marks & TYPE_MARKS_LB && (!(g->bounds.marks & TYPE_MARKS_LB) || low < g->bounds.lb))
        g->bounds.lb = low;
    if (old->marks & TYPE_MARKS_UB && (!(g->bounds.marks & TYPE_MARKS_UB) || high > g->bounds.ub))
        g->bounds.ub = high;
    g->bounds.marks |= old->marks;
}

static int construct_gathered(struct type_contents *contents, construct_fn *make, const void *args,
                              const struct gathered *g, struct type **out)
{
    if (g->is_too_large) {
        contents_destroy(contents, NULL);
        return too_large();
    }
    return construct_type(contents, make, args, &g->bounds, out);
}

/* --- contiguous, vector, hvector --- */

struct vector {
    MPI_Count count, length, stride; /* in bytes */
    const struct type *old;
};

static struct type_part make_vector(struct plan_builder *b, const void *args)
{
    const struct vector *const v = args;
    const struct type_part block = plan_loop(b, v->length, v->old->extent, construct_part(b, v->old));

    return plan_loop(b, v->count, v->stride, block);
}

static int construct_vector(struct type_contents *contents, const struct vector *v, struct type **out)
{
    struct gathered g = { .is_too_large = false };
    MPI_Count last = 0;

    if (v->count > 0 && v->length > 0) {
        g.is_too_large = __builtin_mul_overflow(v->count - 1, v->stride, &last);
        gather_bounds(&g, 0, v->length, v->old);
        gather_bounds(&g, last, v->length, v->old);
    }
    return construct_gathered(contents, make_vector, v, &g, out);
}

int type_contiguous(MPI_Count count, struct type *old, bool is_large, struct type **out)
{
    const struct vector v = { 1, count, 0, old };
    struct type_contents *contents;
    const int rc = construct_check(old);

    if (rc)
        return rc;
    contents = contents_create(MPI_COMBINER_CONTIGUOUS, is_large, 0, 1, 0, 1);
    if (contents) {
        contents_put_number(contents, count);
        contents_put_type(contents, old);
    }
    return construct_vector(contents, &v, out);
}

int type_vector(int combiner, const MPI_Count numbers[3], struct type *old, bool is_large, struct type **out)
{
    const bool is_bytes = combiner == MPI_COMBINER_HVECTOR;
    struct vector v = { numbers[0], numbers[1], numbers[2], old };
    struct type_contents *contents;
    const int rc = construct_check(old);

    if (rc)
        return rc;
    if (!is_bytes && __builtin_mul_overflow(numbers[2], old->extent, &v.stride)) {
        if (v.count > 1 && v.length > 0)
            return too_large();
        v.stride = 0; /* there is no second block */
    }
    contents = contents_create(combiner, is_large, 0, is_bytes ? 2 : 3, is_bytes, 1);
    if (contents) {
        contents_put_number(contents, numbers[0]);
        contents_put_number(contents, numbers[1]);
        if (is_bytes)
            contents_put_place(contents, numbers[2]);
        else
            contents_put_number(contents, numbers[2]);
        contents_put_type(contents, old);
    }
    return construct_vector(contents, &v, out);
}

/* --- indexed, hindexed, indexed_block, hindexed_block, struct --- */

struct blocks {
    const struct type_blocks *args;
    const struct type *old;     /* struct: NULL */
    const MPI_Datatype *types;
};

static bool is_in_extents(const struct type_blocks *args)
{
    return args->combiner == MPI_COMBINER_INDEXED || args->combiner == MPI_COMBINER_INDEXED_BLOCK;
}

/* Else all blocks have one. Of no blocks the array may be NULL. */
static bool has_lengths(const struct type_blocks *args)
{
    return args->combiner != MPI_COMBINER_INDEXED_BLOCK && args->combiner != MPI_COMBINER_HINDEXED_BLOCK;
}

static MPI_Count block_length(const struct type_blocks *args, MPI_Count i)
{
    return has_lengths(args) ? numbers_at(&args->lengths, i) : args->length;
}

static const struct type *block_type(const struct blocks *blocks, MPI_Count i)
{
    return blocks->old ? blocks->old : obj_type(blocks->types[i]);
}

/* False: it overflows. */
static bool block_disp(const struct blocks *blocks, MPI_Count i, MPI_Count *disp)
{
    *disp = numbers_at(&blocks->args->disps, i);
    return !is_in_extents(blocks->args) || block_length(blocks->args, i) == 0 ||
           !__builtin_mul_overflow(*disp, blocks->old->extent, disp);
}

static struct type_part make_blocks(struct plan_builder *b, const void *args)
{
    const struct blocks *const blocks = args;
    struct plan_entries list = { .p = NULL };

    for (MPI_Count i = 0; i < blocks->args->count && !b->has_no_memory && !b->is_too_large; i++) {
        const struct type *const old = block_type(blocks, i);
        MPI_Count disp;

        if (block_disp(blocks, i, &disp))
            plan_add_loop(b, &list, disp, block_length(blocks->args, i), old->extent, construct_part(b, old));
        else
            b->is_too_large = true;
    }
    return plan_list(b, &list);
}

static void put_blocks(struct type_contents *c, const struct blocks *blocks)
{
    const struct type_blocks *const args = blocks->args;

    contents_put_number(c, args->count);
    if (!has_lengths(args))
        contents_put_number(c, args->length);
    for (MPI_Count i = 0; has_lengths(args) && i < args->count; i++)
        contents_put_number(c, numbers_at(&args->lengths, i));
    for (MPI_Count i = 0; i < args->count; i++) {
        if (is_in_extents(args))
            contents_put_number(c, numbers_at(&args->disps, i));
        else
            contents_put_place(c, numbers_at(&args->disps, i));
    }
    for (MPI_Count i = 0; !blocks->old && i < args->count; i++)
        contents_put_type(c, obj_type(blocks->types[i]));
    if (blocks->old)
        contents_put_type(c, (struct type *)(uintptr_t)blocks->old);
}

static int construct_blocks(const struct blocks *blocks, struct type **out)
{
    const struct type_blocks *const args = blocks->args;
    const MPI_Count numbers = 1 + (has_lengths(args) ? args->count : 1);
    const MPI_Count extents = is_in_extents(args) ? args->count : 0;
    struct type_contents *contents;
    struct gathered g = { .is_too_large = false };

    for (MPI_Count i = 0; i < args->count; i++) {
        MPI_Count disp;
        const int rc = construct_check(block_type(blocks, i));

        if (rc)
            return rc;
        if (!block_disp(blocks, i, &disp))
            return too_large();
        gather_bounds(&g, disp, block_length(args, i), block_type(blocks, i));
    }
    contents = contents_create(args->combiner, args->is_large, 0, numbers + extents, args->count - extents,
                               blocks->old ? 1 : args->count);
    if (contents)
        put_blocks(contents, blocks);
    return construct_gathered(contents, make_blocks, blocks, &g, out);
}

int type_indexed(const struct type_blocks *args, struct type *old, struct type **out)
{
    const int rc = construct_check(old);

    return rc ? rc : construct_blocks(&(struct blocks){ args, old, NULL }, out);
}

int type_struct(const struct type_blocks *args, const MPI_Datatype *types, struct type **out)
{
    return construct_blocks(&(struct blocks){ args, NULL, types }, out);
}

/* --- the same data --- */

static struct type_part make_same(struct plan_builder *b, const void *args)
{
    return construct_part(b, args);
}

int type_resized(struct type *old, MPI_Count lb, MPI_Count extent, bool is_large, struct type **out)
{
    struct type_bounds bounds = { lb, 0, TYPE_MARKS_BOTH };
    struct type_contents *contents;
    const int rc = construct_check(old);

    if (rc)
        return rc;
    if (__builtin_add_overflow(lb, extent, &bounds.ub))
        return too_large();
    contents = contents_create(MPI_COMBINER_RESIZED, is_large, 0, 0, 2, 1);
    if (contents) {
        contents_put_place(contents, lb);
        contents_put_place(contents, extent);
        contents_put_type(contents, old);
    }
    return construct_type(contents, make_same, old, &bounds, out);
}

int type_dup(struct type *old, struct type **out)
{
    const struct type_bounds bounds = { old->lb, old->lb + old->extent, old->marks };
    struct type_contents *contents;
    int rc = construct_check(old);

    if (rc)
        return rc;
    contents = contents_create(MPI_COMBINER_DUP, false, 0, 0, 0, 1);
    if (contents)
        contents_put_type(contents, old);
    rc = construct_type(contents, make_same, old, &bounds, out);
    if (rc)
        return rc;
    if (old->is_committed)
        type_set_committed(*out);
    rc = attr_copy(&old->obj, &old->attrs, &(*out)->obj, &(*out)->attrs);
    if (rc) {
        type_unref(*out);
        *out = NULL;
    }
    return rc;
}
