/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Types for parts of arrays: a box of one, and the share of a process in one that is distributed over a
 * grid of processes (MPI 5.0 §5.1.3, §5.1.4). Both are loops over dimensions, the one that is fastest in memory
 * inside, and have the extent of the whole array.
 * Knows: plans, contents. */
#include "base/err.h"
#include "type/int_plan.h"

/* One dimension after the other, the fastest first. */
static int dimension(int order, int ndims, int step)
{
    return order == MPI_ORDER_FORTRAN ? step : ndims - 1 - step;
}

static int check_order(int order)
{
    if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN)
        return 0;
    return err(MPI_ERR_ARG, "order is %d, which is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
}

/* Bytes from the begin of one array to the next, as upper bound. */
static int array_bounds(int ndims, const struct type_numbers *sizes, const struct type *old,
                        struct type_bounds *bounds)
{
    bounds->marks = TYPE_MARKS_BOTH;
    bounds->lb = 0;
    bounds->ub = old->extent;
    for (int i = 0; i < ndims; i++)
        if (__builtin_mul_overflow(bounds->ub, numbers_at(sizes, i), &bounds->ub))
            return err(MPI_ERR_COUNT, "the array would have more bytes than MPI_Count can say (%lld)",
                       (long long)INT64_MAX);
    return 0;
}

static struct type_part moved(struct plan_builder *b, struct type_part part, MPI_Count steps, MPI_Count stride)
{
    MPI_Count disp;

    if (__builtin_mul_overflow(steps, stride, &disp) || __builtin_add_overflow(part.disp, disp, &part.disp))
        b->is_too_large = true;
    return part;
}

/* --- subarray --- */

struct box {
    const struct type_subarray *args;
    const struct type *old;
};

static struct type_part make_box(struct plan_builder *b, const void *args)
{
    const struct box *const box = args;
    const struct type_subarray *const a = box->args;
    struct type_part part = construct_part(b, box->old);
    MPI_Count stride = box->old->extent;

    for (int step = 0; step < a->ndims; step++) {
        const int i = dimension(a->order, a->ndims, step);
        part = plan_loop(b, numbers_at(&a->subsizes, i), stride, part);
        part = moved(b, part, numbers_at(&a->starts, i), stride);
        stride *= numbers_at(&a->sizes, i);
    }
    return part;
}

static int check_box(const struct type_subarray *a)
{
    for (int i = 0; i < a->ndims; i++) {
        const long long size = numbers_at(&a->sizes, i), subsize = numbers_at(&a->subsizes, i);
        const long long start = numbers_at(&a->starts, i);

        if (size < 1)
            return err(MPI_ERR_ARG, "array_of_sizes[%d] is %lld, it must be positive", i, size);
        if (subsize < 1 || subsize > size)
            return err(MPI_ERR_ARG, "array_of_subsizes[%d] is %lld, not between 1 and the size %lld", i, subsize,
                       size);
        if (start < 0 || start > size - subsize)
            return err(MPI_ERR_ARG,
                       "array_of_starts[%d] is %lld, but %lld of %lld elements can begin at 0 to %lld only", i,
                       start, subsize, size, size - subsize);
    }
    return check_order(a->order);
}

static struct type_contents *box_contents(const struct box *box)
{
    const struct type_subarray *const a = box->args;
    const struct type_numbers *const arrays[] = { &a->sizes, &a->subsizes, &a->starts };
    struct type_contents *c =
        contents_create(MPI_COMBINER_SUBARRAY, a->is_large, 2, 3 * (MPI_Count)a->ndims, 0, 1);

    if (!c)
        return NULL;
    contents_put_int(c, a->ndims);
    for (size_t k = 0; k < ARRAY_LEN(arrays); k++)
        for (int i = 0; i < a->ndims; i++)
            contents_put_number(c, numbers_at(arrays[k], i));
    contents_put_int(c, a->order);
    contents_put_type(c, (struct type *)(uintptr_t)box->old);
    return c;
}

int type_subarray(const struct type_subarray *args, struct type *old, struct type **out)
{
    const struct box box = { args, old };
    struct type_bounds bounds;
    int rc;

    if ((rc = construct_check(old)) || (rc = check_box(args)) ||
        (rc = array_bounds(args->ndims, &args->sizes, old, &bounds)))
        return rc;
    return construct_type(box_contents(&box), make_box, &box, &bounds, out);
}

/* --- distributed array --- */

struct share {
    const struct type_darray *args;
    const struct type *old;
};

/* The place of the rank in dimension i of the grid; the grid is row-major, whatever the order of the array. */
static int coordinate(const struct type_darray *a, int i)
{
    int rest = a->rank;

    for (int k = a->ndims - 1; k > i; k--)
        rest /= a->psizes[k];
    return rest % a->psizes[i];
}

/* Elements in a row that one process gets; no more than there are, so that no place overflows where nothing is. */
static MPI_Count block_size(const struct type_darray *a, int i)
{
    const MPI_Count size = numbers_at(&a->gsizes, i);

    if (a->distribs[i] == MPI_DISTRIBUTE_NONE)
        return size;
    if (a->dargs[i] != MPI_DISTRIBUTE_DFLT_DARG)
        return a->dargs[i] < size ? a->dargs[i] : size;
    return a->distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : size / a->psizes[i] + (size % a->psizes[i] != 0);
}

/* One dimension: blocks of `block`, each psize'th from the coordinate's on; the last one may be cut by the end. A block
 * distribution has one block for each process, and none at all is one block on one process. */
static struct type_part make_cyclic(struct plan_builder *b, const struct type_darray *a, int i, MPI_Count stride,
                                    struct type_part child)
{
    const MPI_Count size = numbers_at(&a->gsizes, i), block = block_size(a, i);
    const MPI_Count blocks = size / block, rest = size % block; /* in all; elements of the one that is cut */
    const MPI_Count place = coordinate(a, i), procs = a->psizes[i];
    const MPI_Count own = blocks / procs + (place < blocks % procs);
    const struct type_part whole = plan_loop(b, block, stride, child);
    struct plan_entries list = { .p = NULL };
    MPI_Count apart = 0, first;

    if (__builtin_mul_overflow(block, stride, &first) ||
        (own > 1 && __builtin_mul_overflow(first, procs, &apart)))
        b->is_too_large = true;
    plan_add_loop(b, &list, 0, own, apart, moved(b, whole, own ? place : 0, first));
    if (rest && blocks % procs == place)
        plan_add(b, &list, 0, moved(b, plan_loop(b, rest, stride, child), blocks, first));
    return plan_list(b, &list);
}

static struct type_part make_share(struct plan_builder *b, const void *args)
{
    const struct share *const share = args;
    const struct type_darray *const a = share->args;
    struct type_part part = construct_part(b, share->old);
    MPI_Count stride = share->old->extent;

    for (int step = 0; step < a->ndims; step++) {
        const int i = dimension(a->order, a->ndims, step);
        part = make_cyclic(b, a, i, stride, part);
        stride *= numbers_at(&a->gsizes, i);
    }
    return part;
}

static int check_distribution(const struct type_darray *a, int i)
{
    const long long size = numbers_at(&a->gsizes, i);
    const int distrib = a->distribs[i], darg = a->dargs[i], procs = a->psizes[i];

    if (size < 1)
        return err(MPI_ERR_ARG, "array_of_gsizes[%d] is %lld, it must be positive", i, size);
    if (procs < 1)
        return err(MPI_ERR_ARG, "array_of_psizes[%d] is %d, it must be positive", i, procs);
    if (distrib != MPI_DISTRIBUTE_BLOCK && distrib != MPI_DISTRIBUTE_CYCLIC && distrib != MPI_DISTRIBUTE_NONE)
        return err(MPI_ERR_ARG, "array_of_distribs[%d] is %d, none of the MPI_DISTRIBUTE_ constants", i, distrib);
    if (distrib == MPI_DISTRIBUTE_NONE && procs != 1)
        return err(MPI_ERR_ARG, "dimension %d is not distributed, but array_of_psizes[%d] is %d", i, i, procs);
    if (distrib != MPI_DISTRIBUTE_NONE && darg != MPI_DISTRIBUTE_DFLT_DARG && darg < 1)
        return err(MPI_ERR_ARG, "array_of_dargs[%d] is %d, it must be positive or MPI_DISTRIBUTE_DFLT_DARG", i,
                   darg);
    if (distrib == MPI_DISTRIBUTE_BLOCK && darg != MPI_DISTRIBUTE_DFLT_DARG && (long long)darg * procs < size)
        return err(MPI_ERR_ARG, "array_of_dargs[%d]: %d blocks of %d hold less than the %lld elements", i, procs,
                   darg, size);
    return 0;
}

static int check_share(const struct type_darray *a)
{
    MPI_Count procs = 1;

    for (int i = 0; i < a->ndims; i++) {
        const int rc = check_distribution(a, i);
        if (rc)
            return rc;
        if (__builtin_mul_overflow(procs, (MPI_Count)a->psizes[i], &procs))
            procs = 0;
    }
    if (procs != a->size)
        return err(MPI_ERR_ARG, "the grid of array_of_psizes has %lld processes, but size is %d", (long long)procs,
                   a->size);
    if (a->rank < 0 || a->rank >= a->size)
        return err(MPI_ERR_ARG, "rank is %d, not between 0 and %d", a->rank, a->size - 1);
    return check_order(a->order);
}

static struct type_contents *share_contents(const struct share *share)
{
    const struct type_darray *const a = share->args;
    const int *const arrays[] = { a->distribs, a->dargs, a->psizes };
    struct type_contents *c =
        contents_create(MPI_COMBINER_DARRAY, a->is_large, 3 * (MPI_Count)a->ndims + 4, a->ndims, 0, 1);

    if (!c)
        return NULL;
    contents_put_int(c, a->size);
    contents_put_int(c, a->rank);
    contents_put_int(c, a->ndims);
    for (int i = 0; i < a->ndims; i++)
        contents_put_number(c, numbers_at(&a->gsizes, i));
    for (size_t k = 0; k < ARRAY_LEN(arrays); k++)
        for (int i = 0; i < a->ndims; i++)
            contents_put_int(c, arrays[k][i]);
    contents_put_int(c, a->order);
    contents_put_type(c, (struct type *)(uintptr_t)share->old);
    return c;
}

int type_darray(const struct type_darray *args, struct type *old, struct type **out)
{
    const struct share share = { args, old };
    struct type_bounds bounds;
    int rc;

    if ((rc = construct_check(old)) || (rc = check_share(args)) ||
        (rc = array_bounds(args->ndims, &args->gsizes, old, &bounds)))
        return rc;
    return construct_type(share_contents(&share), make_share, &share, &bounds, out);
}
