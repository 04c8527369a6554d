/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Long messages with gaps, copied once from layout to layout. A side whose bytes are not one run tells where
 * they lie as a list of blocks in its own memory; the other side reads that list, and then each of the two can copy
 * any part of the message. A side of one run is a list of one block.
 * Knows: type, net. Does not know: who copies which part (copies.c). */
#include <errno.h>

#include "base/mem.h"
#include "base/memcheck.h"
#include "p2p/int_p2p.h"
#include "sys/peek.h"

struct p2p_lists {
    struct type_block *own, *remote; /* owned unless it is the next one of these */
    struct type_block own_run, remote_run;
    size_t own_count, remote_count;  /* remote: 0: not known, nothing can be copied */
};

bool lists_pay(const struct p2p_req *r, size_t len)
{
    if (len < SPEED_TOGETHER)
        return false;
    return type_is_run(r->type, r->count) ||
           type_block_count(r->type, r->count) <= type_bytes(r->type, r->count) / SPEED_BLOCK_MIN;
}

size_t lists_block(const struct p2p_req *r, size_t len)
{
    const size_t own = type_is_run(r->type, r->count) ? 1 : type_block_count(r->type, r->count);
    const size_t own_mean = type_bytes(r->type, r->count) / own;
    const size_t other_mean = r->flags & WIRE_LISTED ? len / r->remote_blocks : len;

    return size_min(own_mean, other_mean);
}

bool lists_open(struct p2p_req *r, size_t offset, size_t len)
{
    struct p2p_lists *lists = mem_zalloc(sizeof *lists);

    if (!lists)
        return false;
    if (type_is_run(r->type, r->count)) {
        lists->own = &lists->own_run;
        lists->own_run = (struct type_block){ (uintptr_t)type_run(r->type, r->buf) + offset, len };
        lists->own_count = 1;
    } else {
        lists->own = mem_alloc(type_block_count(r->type, r->count) * sizeof *lists->own);
        if (!lists->own) {
            mem_free(lists);
            return false;
        }
        lists->own_count = type_list_blocks(r->type, r->buf, r->count, offset, len, lists->own);
    }
    r->lists = lists;
    r->flags |= P2P_LISTS;
    r->is_special = true;
    return true;
}

bool lists_meet(struct p2p_req *r, uint64_t address, size_t blocks, size_t len)
{
    struct p2p_lists *const lists = r->lists;
    const size_t bytes = blocks * sizeof *lists->remote;
    int failed;

    if (!blocks) {
        lists->remote = &lists->remote_run;
        lists->remote_run = (struct type_block){ address, len };
        lists->remote_count = 1;
        return true;
    }
    lists->remote = mem_alloc(bytes);
    failed = lists->remote ? r->peer->ops->copy_from(r->peer->ep, lists->remote, address, bytes) : ENOMEM;
    if (!failed)
        lists->remote_count = blocks;
    else if (peek_is_refused(failed))
        r->peer->ops->refuse_copy(r->peer->ep);
    return lists->remote_count;
}

const struct type_block *lists_own(const struct p2p_req *r, size_t *count)
{
    *count = r->lists->own_count;
    return r->lists->own;
}

void lists_close(struct p2p_req *r)
{
    struct p2p_lists *const lists = r->lists;

    if (lists->own != &lists->own_run)
        mem_free(lists->own);
    if (lists->remote != &lists->remote_run)
        mem_free(lists->remote);
    mem_free(lists);
    r->flags &= (uint8_t)~P2P_LISTS;
}

void lists_written(const struct p2p_req *r)
{
    const struct p2p_lists *const lists = r->lists;
    uint64_t begin = 0;

    if (!memcheck_is_on())
        return;
    for (size_t i = 0; i < lists->own_count; begin = lists->own[i++].end)
        memcheck_written((const void *)(uintptr_t)lists->own[i].address, lists->own[i].end - begin);
}

/* --- copying --- */

/* The block that holds byte `at`. */
static size_t find_block(const struct type_block *blocks, size_t count, uint64_t at)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (blocks[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many of `len` bytes from `at` on lie in as many blocks as one call takes. */
static size_t reach(const struct type_block *blocks, size_t count, uint64_t at, size_t len)
{
    const size_t last = size_min(find_block(blocks, count, at) + PEEK_PIECES, count) - 1;

    return size_min(len, (size_t)(blocks[last].end - at));
}

static size_t fill(struct iovec *pieces, const struct type_block *blocks, size_t count, uint64_t at, size_t len)
{
    size_t n = 0;

    for (size_t i = find_block(blocks, count, at); len; i++) {
        const uint64_t skip = at - (i ? blocks[i - 1].end : 0);
        const size_t piece = size_min(len, (size_t)(blocks[i].end - at));
        pieces[n++] = (struct iovec){ (void *)(uintptr_t)(blocks[i].address + skip), piece };
        at += piece;
        len -= piece;
    }
    return n;
}

int lists_copy(const struct p2p_req *r, uint64_t at, size_t len)
{
    const struct p2p_lists *const lists = r->lists;
    struct peek_list list;
    int failed = 0;

    while (len && !failed) {
        size_t n = reach(lists->own, lists->own_count, at, len);
        n = reach(lists->remote, lists->remote_count, at, n);
        list.here_count = fill(list.here, lists->own, lists->own_count, at, n);
        list.there_count = fill(list.there, lists->remote, lists->remote_count, at, n);
        failed = r->peer->ops->copy_list(r->peer->ep, &list, r->req.is_send);
        at += n;
        len -= n;
    }
    return failed;
}

bool lists_can_copy(const struct p2p_req *r)
{
    return r->lists->remote_count;
}
