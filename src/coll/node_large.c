/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Reductions of many bytes on a node, without a copy between: each member tells where its operand lies,
 * combines a slice of all operands, a piece at a time that stays in the cache, reading from the others' memories, and
 * the slices go to where they are wanted.
 *
 *   allreduce                each reads the slices of the others, from their results or through cells; about 2 m bytes
 *                            read by each, for m bytes
 *   reduce                   each writes its slice to the root; the root, which need not write, has a larger one
 *   reduce_scatter(_block)   the slices are the blocks
 *   scan, exscan             of two members: both make a part of the second one's result; of more: node_reduce.c
 *
 * An operator that commutes begins with the next member, so that not all read from one; another one takes operands in
 * the order of ranks. Either way one member combines an item, in an order that does not depend on time. Nobody leaves
 * before the last step, since others read or write there. */
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "base/memcheck.h"
#include "coll/int_node.h"
#include "sys/huge.h"

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

/* The slice of one member, and those of all others. */
struct shares {
    int rank;
    size_t its, others;
};

/* Where the slice of a member begins. */
static size_t slice_at(const struct large *l, int rank, const struct shares *shares)
{
    const size_t size = (size_t)l->call->comm->size, before = (size_t)rank;
    const size_t parts = (size - 1) * shares->others + shares->its;
    const size_t part = rank > shares->rank ? (before - 1) * shares->others + shares->its : before * shares->others;
    const size_t total = type_bytes(l->args->recv.type, l->args->recv.count);
    const size_t at = total / parts * part + total % parts * part / parts;

    return rank == (int)size ? total : at / ALIGN * ALIGN / l->item * l->item;
}

/* [*at, *end): that of this member. */
static void own_slice(const struct large *l, const struct shares *shares, size_t *at, size_t *end)
{
    *at = slice_at(l, l->call->comm->rank, shares);
    *end = slice_at(l, l->call->comm->rank + 1, shares);
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
    huge_note(l->in, (size_t)window.len);
    return node_show(call, &window);
}

/* All are done with the memories of all. */
static int finish(struct large *l, uint32_t step)
{
    node_meet_step(l->call, step);
    return l->rc;
}

/* The slices of all, through cells or from where they lie. */
struct results {
    struct large *l;
    struct shares shares;
    size_t at, end; /* of this member's */
};

static void fill_result(void *arg, char *place, size_t at, size_t len)
{
    const struct results *r = arg;
    const size_t from = r->at + at;

    if (from < r->end)
        memcpy(place, r->l->out + from, size_min(len, r->end - from));
}

static void drain_results(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct results *r = arg;
    const struct node_call *call = r->l->call;

    for (int rank = 0; rank < call->comm->size; rank++) {
        const size_t from = slice_at(r->l, rank, &r->shares) + at, end = slice_at(r->l, rank + 1, &r->shares);

        if (rank != call->comm->rank && from < end)
            memcpy(r->l->out + from, node_place(call, rank, round, len), size_min(len, end - from));
    }
}

/* Who posts has combined and reads no operands any more. */
static int collect_from_cells(struct results *r)
{
    const int size = r->l->call->comm->size;
    struct node_work work = { .part = node_part(), .blocks = 1, .brings = true, .end = size,
                              .wakes = NODE_WAKES_LAST };
    int rc;

    for (int rank = 0; rank < size; rank++)
        work.total = size_max(work.total, slice_at(r->l, rank + 1, &r->shares) - slice_at(r->l, rank, &r->shares));
    rc = node_run(r->l->call, &work, fill_result, NULL, drain_results, r);
    node_note(&r->l->rc, rc);
    return r->l->rc;
}

static int collect_from_memory(struct results *r)
{
    struct node_call *call = r->l->call;
    const int size = call->comm->size, own = call->comm->rank;

    huge_note(r->l->out + r->at, r->end - r->at); /* the others read it there */
    node_step(call, 1);
    node_wake_all(call);
    for (int distance = 1; distance < size; distance++) {
        const int rank = (own + distance) % size;
        const size_t at = slice_at(r->l, rank, &r->shares), end = slice_at(r->l, rank + 1, &r->shares);

        node_await_step(call, 1, rank, rank + 1);
        node_note(&r->l->rc, node_fetch(call, rank, r->l->out + at, node_window(call, rank)->out + at, end - at));
    }
    return finish(r->l, 2);
}

/* Of two members each combines all: no wait for the results of the other, and fewer copies by the system. */
static int combine_twice(struct large *l, size_t len)
{
    const int own = l->call->comm->rank;

    if (l->is_in_place) {
        fetch(l, !own, 0, len, l->scratch);
        finish(l, 1); /* from here on operands may be overwritten */
    }
    if (own) {
        if (!l->is_in_place) {
            memcpy(l->out, l->in, len);
            fetch(l, 0, 0, len, l->scratch);
        }
        add(l, l->scratch, l->out, len);
    } else if (l->is_in_place) {
        add(l, l->out, l->scratch, len);
        memcpy(l->out, l->scratch, len);
    } else {
        fetch(l, 1, 0, len, l->out);
        add(l, l->in, l->out, len);
    }
    return l->is_in_place ? l->rc : finish(l, 1);
}

int node_allreduce_large(struct node_call *call, const struct coll_args *args)
{
    const size_t bytes = type_bytes(args->recv.type, args->recv.count);
    struct large l;
    struct results r = { .l = &l, .shares = { 0, 1, 1 } };
    const int rc = begin(&l, call, args, args->recv.count);

    if (rc)
        return rc;
    if (call->comm->size == 2 && bytes <= PIECE)
        return combine_twice(&l, bytes);
    own_slice(&l, &r.shares, &r.at, &r.end);
    combine_all(&l, call->comm->size, r.at, r.end - r.at, l.out + r.at);
    return node_copies_clash(call) ? collect_from_cells(&r) : collect_from_memory(&r);
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
    const size_t size = (size_t)call->comm->size;
    const struct shares shares = { root, size + 1, size };
    struct large l;
    const int rc = begin(&l, call, args, args->recv.count);
    size_t at, end;
    int failed;

    if (rc)
        return rc;
    own_slice(&l, &shares, &at, &end);
    if (own == root) {
        huge_note(l.out, type_bytes(args->recv.type, args->recv.count)); /* the others write there */
        combine_all(&l, call->comm->size, at, end - at, l.out + at);
    } else {
        reduce_to(&l, root, at, end);
    }
    failed = finish(&l, 1);
    if (own == root)
        memcheck_written(l.out, type_bytes(args->recv.type, args->recv.count));
    return failed;
}

/* A piece of the second member's result of a scan, made by either. */
static void scan_piece(struct large *l, size_t at, size_t len)
{
    char *to = l->call->comm->rank ? l->out + at : l->scratch;

    if (l->call->comm->rank) {
        if (!l->is_in_place)
            memcpy(to, l->in + at, len);
        fetch(l, 0, at, len, l->scratch);
        add(l, l->scratch, to, len);
    } else {
        fetch(l, 1, at, len, to);
        add(l, l->in + at, to, len);
        node_note(&l->rc, node_push(l->call, 1, to, node_window(l->call, 1)->out + at, len));
    }
}

/* The same of an exscan: it is the first one's operand. */
static void exscan_piece(struct large *l, size_t at, size_t len)
{
    if (l->call->comm->rank)
        fetch(l, 0, at, len, l->out + at);
    else
        node_note(&l->rc, node_push(l->call, 1, l->in + at, node_window(l->call, 1)->out + at, len));
}

int node_scan_large(struct node_call *call, const struct coll_args *args, bool is_exclusive)
{
    const size_t bytes = type_bytes(args->recv.type, args->recv.count);
    const bool is_first = call->comm->rank == 0;
    const struct shares shares = { 0, 1, is_exclusive ? 1 : 3 }; /* the first one copies its operand as well */
    struct large l;
    int rc = begin(&l, call, args, args->recv.count);
    size_t at, end;

    if (rc)
        return rc;
    own_slice(&l, &shares, &at, &end);
    if (!is_first)
        huge_note(l.out, bytes); /* the first one writes there */
    if (is_exclusive && at < end)
        exscan_piece(&l, at, end - at);
    for (; !is_exclusive && at < end; at += l.piece)
        scan_piece(&l, at, size_min(l.piece, end - at));
    if (is_first && !is_exclusive && !l.is_in_place)
        copy_long(l.out, l.in, bytes);
    rc = finish(&l, 1);
    if (!is_first)
        memcheck_written(l.out, bytes);
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
