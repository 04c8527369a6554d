/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Combining streams of elements with a target's memory: piece by piece, block by block of the target's
 * layout, and within one stripe at a time.
 * Knows: types, stripes, peeking. Does not know: calls, epochs, messages. */
#include "rma/combine.h"

#include <string.h>

#include "rma/stripe.h"
#include "sys/peek.h"

enum {
    PIECE = 1024,        /* bytes of the stream at a time, where a side has gaps */
    PEEKED = STRIPE_BYTES + TYPE_ELEMENT_MAX, /* what may lie in one stripe */
};

/* Streams of one piece; NULL: not wanted. */
struct piece {
    const char *from;
    char *old;
};

static bool is_no_op(const struct combine *c)
{
    return c->op->obj.predefined == (uintptr_t)MPI_NO_OP;
}

static void *place_here(const struct combine *c, uint64_t address)
{
    return (void *)(uintptr_t)(address + (uint64_t)c->shift);
}

static bool enter(const struct combine *c, struct stripe stripe)
{
    if (!c->call)
        return stripe_try(stripe);
    stripe_lock(stripe, c->call);
    return true;
}

/* What has been made of one element: seen at once by a program that waits for it by looking at its memory, and after
 * what was done before. */
static void store_word(void *to, const void *from, size_t len)
{
    uint64_t all;
    uint32_t half;

    if (len == sizeof all) {
        memcpy(&all, from, sizeof all);
        __atomic_store_n((uint64_t *)to, all, __ATOMIC_RELEASE);
    } else {
        memcpy(&half, from, sizeof half);
        __atomic_store_n((uint32_t *)to, half, __ATOMIC_RELEASE);
    }
}

static bool is_word(const void *memory, size_t len)
{
    return (len == sizeof(uint64_t) || len == sizeof(uint32_t)) && (uintptr_t)memory % len == 0;
}

/* `len` bytes of elements in a row, in memory of this process, with the lock. */
static void combine_memory(const struct combine *c, void *memory, struct piece p, size_t len)
{
    if (p.from && len == (size_t)c->element->size && is_word(memory, len)) {
        uint64_t word;

        memcpy(&word, memory, len);
        if (p.old)
            memcpy(p.old, &word, len);
        op_reduce(c->op, p.from, &word, 1, c->element);
        store_word(memory, &word, len);
        return;
    }
    if (p.old)
        memcpy(p.old, memory, len);
    if (p.from)
        op_reduce(c->op, p.from, memory, (MPI_Count)(len / (size_t)c->element->size), c->element);
}

/* The same in another process, one run. */
static int combine_peeked(const struct combine *c, uint64_t address, struct piece p, size_t len)
{
    const bool is_replace = c->op->obj.predefined == (uintptr_t)MPI_REPLACE;
    char memory[PEEKED];
    int rc = 0;

    if (!is_replace || p.old)
        rc = win_peek(c->win, c->rank, memory, address, len, false);
    if (rc)
        return rc;
    combine_memory(c, memory, p, len);
    return p.from ? win_peek(c->win, c->rank, memory, address, len, true) : 0;
}

/* As many of `len` bytes from `address` on as are of elements that begin in the same stripe. */
static size_t in_stripe(uint64_t address, size_t element, size_t len)
{
    const uint64_t rest = STRIPE_BYTES - address % STRIPE_BYTES;

    return size_min(len, (rest + element - 1) / element * element);
}

/* Elements in a row, of which no gap is a part. */
static int combine_striped(struct combine *c, uint64_t address, struct piece p, size_t len)
{
    int rc = 0;

    while (len && !rc) {
        const size_t n = in_stripe(address, (size_t)c->element->size, len);
        const struct stripe stripe = stripe_of(c->win, c->rank, address);

        if (!enter(c, stripe))
            return COMBINE_LATER;
        if (c->way == WIN_WAY_PEEK)
            rc = combine_peeked(c, address, p, n);
        else
            combine_memory(c, place_here(c, address), p, n);
        stripe_unlock(stripe);
        if (unlikely(rc))
            break;
        c->at += n;
        address += n;
        len -= n;
        p.from += p.from ? n : 0;
        p.old += p.old ? n : 0;
    }
    return rc;
}

static int combine_block(struct combine *c, uint64_t address, struct piece p, size_t len)
{
    if (c->way == WIN_WAY_DIRECT && combine_is_atomic(c->win, c->element, place_here(c, address))) {
        combine_fetch_many(c->op, c->element, place_here(c, address), p.from, p.old, len);
        c->at += len;
        return 0;
    }
    return combine_striped(c, address, p, len);
}

/* --- elements with gaps: pairs --- */

/* Read or write the data of one; `memory` has its extent. */
static int move_element(const struct combine *c, uint64_t address, char *memory, bool is_write)
{
    struct type_block blocks[2];
    const size_t n = type_list_blocks(c->element, NULL, 1, 0, (size_t)c->element->size, blocks);
    uint64_t begin = 0;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; begin = blocks[i++].end) {
        const uint64_t at = blocks[i].address;
        const size_t len = blocks[i].end - begin;

        if (c->way == WIN_WAY_PEEK)
            rc = win_peek(c->win, c->rank, memory + at, address + at, len, is_write);
        else if (is_write)
            memcpy(place_here(c, address + at), memory + at, len);
        else
            memcpy(memory + at, place_here(c, address + at), len);
    }
    return rc;
}

static int combine_element(const struct combine *c, uint64_t address, struct piece p)
{
    char there[TYPE_ELEMENT_MAX], own[TYPE_ELEMENT_MAX];
    int rc = move_element(c, address, there, false);

    if (rc)
        return rc;
    if (p.old)
        type_pack(c->element, there, 1, 0, p.old, (size_t)c->element->size);
    if (!p.from)
        return 0;
    type_unpack(c->element, own, 1, 0, p.from, (size_t)c->element->size);
    op_reduce(c->op, own, there, 1, c->element);
    return move_element(c, address, there, true);
}

/* The layout tells only where bytes lie, so each one is asked for. */
static int combine_elements(struct combine *c, struct piece p, size_t len)
{
    const size_t element = (size_t)c->element->size;
    int rc = 0;

    for (size_t i = 0; i < len && !rc; i += element) {
        struct type_block block;
        struct stripe stripe;

        type_list_blocks(c->type, (const void *)(uintptr_t)c->address, c->count, c->at, 1, &block);
        stripe = stripe_of(c->win, c->rank, block.address);
        if (!enter(c, stripe))
            return COMBINE_LATER;
        rc = combine_element(c, block.address,
                             (struct piece){ p.from ? p.from + i : NULL, p.old ? p.old + i : NULL });
        stripe_unlock(stripe);
        c->at += rc ? 0 : element;
    }
    return rc;
}

/* --- many small blocks of another process --- */

/* Blocks in a row of the stream whose elements begin in one stripe: read by one call, written by another. */
struct bunch {
    struct peek_list list; /* `there`: where they lie */
    uint64_t low, high;    /* all lie in between */
    size_t len;            /* bytes of data */
    char span[PEEKED], packed[PIECE];
};

static void bunch_add(struct bunch *g, uint64_t address, size_t len)
{
    g->list.there[g->list.there_count++] = (struct iovec){ (void *)(uintptr_t)address, len };
    g->low = address < g->low ? address : g->low;
    g->high = address + len > g->high ? address + len : g->high;
    g->len += len;
}

/* A place in a list of blocks: byte `at` of the stream, in block i. */
struct cursor {
    const struct type_block *blocks;
    size_t count, i, at;
};

static uint64_t cursor_address(const struct cursor *at)
{
    return at->blocks[at->i].address + (at->at - (at->i ? at->blocks[at->i - 1].end : 0));
}

/* As much as goes together from there on, at least an element. */
static void bunch_fill(struct bunch *g, struct cursor *at, size_t element)
{
    const uint64_t page = cursor_address(at) / STRIPE_BYTES;

    g->list.there_count = g->len = 0;
    g->low = UINT64_MAX;
    g->high = 0;
    while (at->i < at->count && g->list.there_count < PEEK_PIECES && cursor_address(at) / STRIPE_BYTES == page) {
        const uint64_t end = at->blocks[at->i].end;
        const size_t n = in_stripe(cursor_address(at), element, end - at->at);

        bunch_add(g, cursor_address(at), n);
        at->at += n;
        at->i += at->at == end;
    }
}

/* The gaps are read, too: each page of the span has some byte of a block, so all of it is there to be read. */
static int bunch_read(const struct combine *c, struct bunch *g)
{
    const int rc = win_peek(c->win, c->rank, g->span, g->low, g->high - g->low, false);
    char *to = g->packed;

    for (size_t i = 0; i < g->list.there_count && !rc; i++) {
        const struct iovec *block = &g->list.there[i];

        memcpy(to, g->span + ((uintptr_t)block->iov_base - g->low), block->iov_len);
        to += block->iov_len;
    }
    return rc;
}

/* No byte of a gap is written: others may change it now. With the lock. */
static int combine_bunch(const struct combine *c, struct bunch *g, struct piece p)
{
    const bool is_replace = c->op->obj.predefined == (uintptr_t)MPI_REPLACE;
    int rc = 0;

    if (!is_replace || p.old)
        rc = bunch_read(c, g);
    if (!rc && p.old)
        memcpy(p.old, g->packed, g->len);
    if (rc || !p.from)
        return rc;
    if (is_replace)
        memcpy(g->packed, p.from, g->len);
    else
        op_reduce(c->op, p.from, g->packed, (MPI_Count)(g->len / (size_t)c->element->size), c->element);
    g->list.here[0] = (struct iovec){ g->packed, g->len };
    g->list.here_count = 1;
    return win_peek_list(c->win, c->rank, &g->list, g->len, true);
}

/* A piece of the stream. */
static int combine_bunches(struct combine *c, const struct type_block *blocks, size_t count, struct piece p)
{
    struct cursor at = { blocks, count, 0, 0 };
    int rc = 0;

    while (at.i < count && !rc) {
        const struct stripe stripe = stripe_of(c->win, c->rank, cursor_address(&at));
        struct bunch g;

        bunch_fill(&g, &at, (size_t)c->element->size);
        if (!enter(c, stripe))
            return COMBINE_LATER;
        rc = combine_bunch(c, &g, p);
        stripe_unlock(stripe);
        if (unlikely(rc))
            break;
        c->at += g.len;
        p.from += p.from ? g.len : 0;
        p.old += p.old ? g.len : 0;
    }
    return rc;
}

/* --- pieces --- */

static int combine_blocks(struct combine *c, struct piece p, size_t len)
{
    struct type_block blocks[PIECE];
    const size_t n = type_list_blocks(c->type, (const void *)(uintptr_t)c->address, c->count, c->at, len, blocks);
    uint64_t begin = 0;
    int rc = 0;

    if (c->way == WIN_WAY_PEEK && n > 1)
        return combine_bunches(c, blocks, n, p);
    for (size_t i = 0; i < n && !rc; begin = blocks[i++].end)
        rc = combine_block(c, blocks[i].address,
                           (struct piece){ p.from ? p.from + begin : NULL, p.old ? p.old + begin : NULL },
                           blocks[i].end - begin);
    return rc;
}

static bool is_run(const struct win_data *data)
{
    return type_is_run(data->type, data->count);
}

/* The next `len` bytes, all of them if nothing has gaps. */
static int combine_piece(struct combine *c, size_t len)
{
    char from[PIECE], old[PIECE];
    const size_t begin = c->at;
    struct piece p = { NULL, NULL };
    int rc;

    if (!is_no_op(c)) {
        p.from = from;
        if (is_run(&c->from))
            p.from = type_run(c->from.type, c->from.buf) + (c->at - c->from_at);
        else
            type_pack(c->from.type, c->from.buf, c->from.count, c->at - c->from_at, from, len);
    }
    if (c->result.type)
        p.old = is_run(&c->result) ? type_run(c->result.type, c->result.buf) + (c->at - c->result_at) : old;
    if (!c->element->is_contig)
        rc = combine_elements(c, p, len);
    else if (type_is_run(c->type, c->count))
        rc = combine_block(c, (uintptr_t)type_run(c->type, (const void *)(uintptr_t)c->address) + c->at, p, len);
    else
        rc = combine_blocks(c, p, len);
    if (p.old == old)
        type_unpack(c->result.type, c->result.buf, c->result.count, begin - c->result_at, old, c->at - begin);
    return rc;
}

int combine_run(struct combine *c)
{
    const bool is_whole = c->element->is_contig && type_is_run(c->type, c->count) &&
                          (is_no_op(c) || is_run(&c->from)) && (!c->result.type || is_run(&c->result));
    const size_t step = PIECE / (size_t)c->element->size * (size_t)c->element->size;
    int rc = 0;

    while (c->at < c->end && !rc)
        rc = combine_piece(c, is_whole ? c->end - c->at : size_min(step, c->end - c->at));
    return rc;
}

int combine_swap_striped(struct combine *c, const void *compare)
{
    const size_t len = (size_t)c->element->size;
    const struct stripe stripe = stripe_of(c->win, c->rank, c->address);
    char there[TYPE_ELEMENT_MAX];
    int rc;

    if (!enter(c, stripe))
        return COMBINE_LATER;
    rc = move_element(c, c->address, there, false);
    if (!rc && !memcmp(there, compare, len))
        rc = move_element(c, c->address, c->from.buf, true);
    stripe_unlock(stripe);
    if (!rc)
        memcpy(c->result.buf, there, len);
    return rc;
}
