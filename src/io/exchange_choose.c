/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. What each process tells of its collective access, and what follows from what all have told: an error, or
 * whether it is worth while to exchange data. All decide alike.
 * Knows: views. Does not know: how data are exchanged. */
#include "base/err.h"
#include "io/exchange.h"

enum {
    READ_BLOCK_MAX = 1024,     /* each process moves longer runs itself, one by one: that is a call for each, ... */
    WRITE_BLOCK_MAX = 65536,   /* ... and when writing the processes get into each other's way */
    READERS_MAX = 8,           /* so many may read the same bytes of the file, each to pick out its own */
    OUTLINES_MAX = 64 << 20,   /* bytes that describe views, of all processes */
};

void io_exchange_summary(const struct io_op *op, int rc, struct io_summary *s)
{
    const struct io_access *const a = &op->access;
    const struct io_view *const view = a->view;
    const struct type_outline *outline;

    *s = (struct io_summary){ .error = rc ? err_class(rc) : 0, .is_rising = 1 };
    if (rc)
        return;
    s->at = a->at;
    s->len = a->len;
    s->is_rising = view->is_rising || view->is_run;
    if (view->layout->size && !type_get_outline(view->layout, &outline))
        s->outline = outline->len + sizeof view->disp;
    if (!a->len || !s->is_rising)
        return;
    s->first = io_view_place(view, a->at);
    s->end = io_view_place(view, a->at + a->len - 1) + 1;
    s->has_gaps = (uint64_t)(s->end - s->first) > s->len;
    s->block = view->is_run ? s->len : (uint64_t)view->layout->size / type_block_count(view->layout, 1);
}

int io_exchange_failed(const struct io_op *op, int error_class, int rank)
{
    return io_failed_at(op->access.file->name, error_class, rank, io_comm_of(op)->rank);
}

int io_other_error(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;

    for (int rank = 0; rank < io_comm_of(op)->size; rank++)
        if (x->all[rank].error)
            return io_exchange_failed(op, x->all[rank].error, rank);
    return 0;
}

/* Do the ranges of two processes overlap? Those of ranks in order are compared as they come, others all with all that
 * came before, by the largest end. */
static bool is_interleaved(const struct io_exchange *x, int size)
{
    MPI_Offset low = INT64_MAX, high = -1;

    for (int rank = 0; rank < size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->len)
            continue;
        if (s->first < high && s->end > low)
            return true; /* or lies between two of them, which is seldom */
        low = s->first < low ? s->first : low;
        high = s->end > high ? s->end : high;
    }
    return false;
}

/* Is it worth while? Blocks are small and interleaved; and when reading, so much would be read several times that
 * it costs more than to hand it on. */
static bool is_worth(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;
    MPI_Offset spans = 0, low = INT64_MAX, high = 0;
    uint64_t block = 0;
    bool has_gaps = false;

    for (int rank = 0; rank < io_comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->len)
            continue;
        has_gaps |= s->has_gaps;
        block = s->block > block ? s->block : block;
        spans += s->end - s->first;
        low = s->first < low ? s->first : low;
        high = s->end > high ? s->end : high;
    }
    if (!has_gaps || !is_interleaved(x, io_comm_of(op)->size))
        return false;
    if (block > (op->access.is_write ? WRITE_BLOCK_MAX : READ_BLOCK_MAX))
        return false;
    return op->access.is_write || spans / READERS_MAX > high - low;
}

bool io_is_exchanging(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;
    const struct file *const file = op->access.file;
    const enum io_collective way = op->access.is_write ? file->hints.writes : file->hints.reads;
    uint64_t outlines = 0, len = 0;

    if (io_comm_of(op)->size == 1 || way == IO_COLLECTIVE_NEVER || atomic_load(&file->is_atomic))
        return false;
    for (int rank = 0; rank < io_comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->is_rising || (s->len && !s->outline))
            return false;
        outlines += s->outline;
        len |= s->len;
    }
    return len && outlines <= OUTLINES_MAX && (way == IO_COLLECTIVE_ALWAYS || is_worth(op));
}
