/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Reductions of many bytes on a node, without a copy between: each member tells where its operand lies,
 * combines a slice of all operands, a piece at a time that stays in the cache, reading from the others' memories, and
 * the slices go to where they are wanted.
 *
 *   allreduce                each reads the slices of the others from their results; 2 (n - 1) / n * m bytes read by
 *                            each of n members, for m bytes
 *   reduce                   each writes its slice to the root; the root, which need not write, has a larger one
 *   reduce_scatter(_block)   the slices are the blocks
 *   scan, exscan             who wants a result combines all that goes into it
 *
 * An operator that commutes begins with the next member, so that not all read from one; another one takes operands in
 * the order of ranks. Either way one member combines an item, in an order that does not depend on time. Nobody leaves
 * before the last step, since others read or write there. */
#include <string.h>

#include "base/err.h"
#include "base/memcheck.h"
#include "coll/int_node.h"

enum {
    PIECE = 65536,  /* bytes of an operand that are combined at a time */
    ALIGN = 4096,
};

struct large {
    struct node_call *call;
    const struct coll_args *args;
    const char *in;
    char *out;          /* of this member; not used where it gets no result */
    char *scratch;      /* two pieces */
    size_t item, piece; /* bytes of an item, of whole items in a piece */
    bool is_in_place;
    int rc;             /* the first error */
};

/* --- combining --- */

static void fetch(struct large *l, int rank, size_t at, size_t len, void *to)
{
    node_note(&l->rc, node_fetch(l->call, rank, to, node_window(l->call, rank)->in + at, len));
}

static void add(struct large *l, const void *operand, char *to, size_t len)
{
    op_reduce(l->args->op, operand, to, (MPI_Count)(len / l->item), l->args->recv.type);
}

/* The others one after the other, then the own operand. */
static void combine_around(struct large *l, size_t at, size_t len, char *to)
{
    const int size = l->call->comm->size, rank = l->call->comm->rank;

    fetch(l, (rank + 1) % size, at, len, to);
    for (int distance = 2; distance < size; distance++) {
        fetch(l, (rank + distance) % size, at, len, l->scratch);
        add(l, l->scratch, to, len);
    }
    add(l, l->in + at, to, len);
}

/* From member end - 1 to 0. */
static void combine_in_order(struct large *l, int end, size_t at, size_t len, char *to)
{
    const int own = l->call->comm->rank;

    if (end - 1 == own)
        memcpy(to, l->in + at, len);
    else
        fetch(l, end - 1, at, len, to);
    for (int rank = end - 2; rank >= 0; rank--) {
        const bool is_own = rank == own;

        if (!is_own)
            fetch(l, rank, at, len, l->scratch);
        add(l, is_own ? l->in + at : l->scratch, to, len);
    }
}

/* Bytes [at, at + len) of the operands of members 0 to end - 1, combined at `to`, which is none of them. */
static void combine(struct large *l, int end, size_t at, size_t len, char *to)
{
    if (l->args->op->is_commutative && end == l->call->comm->size)
        combine_around(l, at, len, to);
    else
        combine_in_order(l, end, at, len, to);
}

/* The same for any number of bytes, to `to`, which may be where the operand of this member lies: then through the
 * scratch buffer. */
static void combine_all(struct large *l, int end, size_t at, size_t len, char *to)
{
    for (size_t done = 0; done < len; done += l->piece) {
        const size_t part = size_min(l->piece, len - done);
        char *place = l->is_in_place ? l->scratch + l->piece : to + done;

        combine(l, end, at + done, part, place);
        if (place != to + done)
            memcpy(to + done, place, part);
    }
}

/* --- slices --- */

/* Where the slice of a member begins; that of `heavy`, if it is one, is longer by one part in `size` than others. */
static size_t slice_at(const struct large *l, int rank, int heavy)
{
    const size_t size = (size_t)l->call->comm->size, parts = size * size + (heavy >= 0);
    const size_t part = (size_t)rank * size + (heavy >= 0 && rank > heavy);
    const size_t total = (size_t)l->args->recv.count * l->item, at = total / parts * part + total % parts * part / parts;

    return rank == (int)size ? total : at / ALIGN * ALIGN / l->item * l->item;
}

static int begin(struct large *l, struct node_call *call, const struct coll_args *args, MPI_Count count)
{
    const size_t item = (size_t)args->recv.type->size;
    struct node_window window;

    *l = (struct large){ .call = call, .args = args, .in = coll_own(args), .out = args->recv.buf, .item = item,
                         .piece = PIECE / item * item, .is_in_place = coll_is_in_place(args->send.buf) };
    l->scratch = shelf_scratch(call->comm, 2 * (size_t)PIECE);
    if (!l->scratch)
        return err(MPI_ERR_NO_MEM, "no memory for %d bytes of intermediate results", 2 * PIECE);
    window = (struct node_window){ .in = (uintptr_t)l->in, .out = (uintptr_t)l->out,
                                   .len = type_bytes(args->recv.type, count) };
    return node_show(call, &window);
}

/* All are done with the memories of all. */
static int finish(struct large *l, uint32_t step)
{
    node_meet_step(l->call, step);
    return l->rc;
}

int node_allreduce_large(struct node_call *call, const struct coll_args *args)
{
    const int size = call->comm->size, own = call->comm->rank;
    struct large l;
    const int rc = begin(&l, call, args, args->recv.count);
    const size_t first = rc ? 0 : slice_at(&l, own, -1);

    if (rc)
        return rc;
    combine_all(&l, size, first, slice_at(&l, own + 1, -1) - first, l.out + first);
    node_step(call, 1);
    node_wake_all(call);
    for (int distance = 1; distance < size; distance++) {
        const int rank = (own + distance) % size;
        const size_t at = slice_at(&l, rank, -1), end = slice_at(&l, rank + 1, -1);

        node_await_step(call, 1, rank, rank + 1);
        node_note(&l.rc, node_fetch(call, rank, l.out + at, node_window(call, rank)->out + at, end - at));
    }
    return finish(&l, 2);
}

/* This member's slice, to the root. */
static void reduce_to(struct large *l, int root, size_t at, size_t end)
{
    const uint64_t out = node_window(l->call, root)->out;
    char *const place = l->scratch + l->piece;

    for (; at < end; at += l->piece) {
        const size_t part = size_min(l->piece, end - at);

        combine(l, l->call->comm->size, at, part, place);
        node_note(&l->rc, node_push(l->call, root, place, out + at, part));
    }
}

int node_reduce_large(struct node_call *call, const struct coll_args *args)
{
    const int own = call->comm->rank, root = args->root;
    struct large l;
    const int rc = begin(&l, call, args, args->recv.count);
    const size_t at = rc ? 0 : slice_at(&l, own, root), end = rc ? 0 : slice_at(&l, own + 1, root);
    int failed;

    if (rc)
        return rc;
    if (own == root)
        combine_all(&l, call->comm->size, at, end - at, l.out + at);
    else
        reduce_to(&l, root, at, end);
    failed = finish(&l, 1);
    if (own == root)
        memcheck_written(l.out, type_bytes(args->recv.type, args->recv.count));
    return failed;
}

int node_scan_large(struct node_call *call, const struct coll_args *args, int end)
{
    struct large l;
    int rc = begin(&l, call, args, args->recv.count);
    struct coll_temp result = { NULL, NULL };

    if (!rc && l.is_in_place) /* those behind read the operand */
        rc = coll_temp_alloc(&result, args->recv.type, args->recv.count);
    if (rc)
        return rc;
    l.is_in_place = false;
    if (end > 0)
        combine_all(&l, end, 0, type_bytes(args->recv.type, args->recv.count), result.buf ? result.buf : l.out);
    rc = finish(&l, 1);
    if (result.buf && end > 0)
        memcpy(l.out, result.buf, type_bytes(args->recv.type, args->recv.count));
    coll_temp_free(&result);
    return rc;
}

int node_reduce_scatter_large(struct node_call *call, const struct coll_args *args, MPI_Count before,
                              MPI_Count own)
{
    const size_t at = type_bytes(args->recv.type, before), len = type_bytes(args->recv.type, own);
    struct large l;
    int rc = begin(&l, call, args, args->recv.count);
    struct coll_temp result = { NULL, NULL };

    if (!rc && l.is_in_place)
        rc = coll_temp_alloc(&result, args->recv.type, own);
    if (rc)
        return rc;
    l.is_in_place = false;
    combine_all(&l, call->comm->size, at, len, result.buf ? result.buf : l.out);
    rc = finish(&l, 1);
    if (result.buf)
        memcpy(l.out, result.buf, len);
    coll_temp_free(&result);
    return rc;
}
