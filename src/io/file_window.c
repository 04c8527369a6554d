/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. What an aggregator does with its window of the file: data of all ranks are put where they belong, and the
 * window is written in as few pieces as can be; or it is read, and each rank's data are picked out.
 * Knows: views of all ranks. Does not know: how data come and go. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "io/exchange.h"

enum { BLOCKS = 512 };

int io_aggregator_number(const struct io_exchange *x, int rank)
{
    for (int i = 0; i < x->aggregators; i++)
        if (x->ranks[i] == rank)
            return i;
    return -1;
}

/* The part of the file of an aggregator; it may begin beyond the end. */
static void domain_of(const struct io_exchange *x, int number, MPI_Offset *begin, MPI_Offset *end)
{
    *begin = x->low + number * x->domain;
    *end = *begin + x->domain < x->high ? *begin + x->domain : x->high;
}

/* This round's window of an aggregator; empty beyond the end. */
static void window_of(const struct io_exchange *x, int number, MPI_Offset *from, MPI_Offset *to)
{
    MPI_Offset begin, end;

    domain_of(x, number, &begin, &end);
    *from = begin + (MPI_Offset)x->round * (MPI_Offset)x->window;
    *to = *from + (MPI_Offset)x->window < end ? *from + (MPI_Offset)x->window : end;
    if (*from > *to)
        *from = *to;
}

size_t io_window_part(const struct io_exchange *x, int number, int rank, size_t *from)
{
    const struct io_summary *const s = &x->all[rank];
    MPI_Offset begin, end;
    size_t first, last;

    *from = 0;
    window_of(x, number, &begin, &end);
    if (!s->len || begin >= s->end || end <= s->first || begin == end)
        return 0;
    first = begin <= s->first ? s->at : io_view_before(x->views[rank], begin);
    last = end >= s->end ? s->at + s->len : io_view_before(x->views[rank], end);
    *from = first - s->at;
    return last - first;
}

int64_t io_next_round(const struct io_exchange *x, int number, int rank)
{
    const struct io_summary *const s = &x->all[rank];
    MPI_Offset from, to, begin, end, place = s->first;

    window_of(x, number, &from, &to);
    domain_of(x, number, &begin, &end);
    if (!s->len || from >= s->end || from >= end)
        return x->rounds;
    if (from > s->first)
        place = io_view_place(x->views[rank], io_view_before(x->views[rank], from));
    return place < end ? (place - begin) / (MPI_Offset)x->window : x->rounds;
}

/* --- between the window and a rank's data --- */

typedef void visit_fn(struct io_exchange *x, size_t at, char *data, size_t len);

static void take(struct io_exchange *x, size_t at, char *data, size_t len)
{
    memcpy(data, x->bytes + at, len);
}

static void set_bits(uint64_t *bits, size_t from, size_t len)
{
    while (len) {
        const size_t shift = from % 64, n = size_min(64 - shift, len);

        bits[from / 64] |= (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << shift;
        from += n;
        len -= n;
    }
}

static void put(struct io_exchange *x, size_t at, char *data, size_t len)
{
    memcpy(x->bytes + at, data, len);
    set_bits(x->covered, at, len);
}

/* The blocks of a part of the stream of `rank`, in a window that begins at `base`. */
static void for_blocks(struct io_exchange *x, int rank, size_t from, size_t len, MPI_Offset base, char *data,
                       visit_fn *visit)
{
    const struct io_view *const view = x->views[rank];
    struct type_block blocks[BLOCKS];

    for (size_t done = 0; done < len;) {
        const size_t n = type_next_blocks(view->layout, (uintptr_t)view->disp, x->all[rank].at + from + done,
                                          len - done, blocks, BLOCKS);
        size_t begin = 0;

        for (size_t i = 0; i < n; begin = blocks[i++].end)
            visit(x, (size_t)((MPI_Offset)blocks[i].address - base), data + done + begin, blocks[i].end - begin);
        done += begin;
    }
}

/* --- reading --- */

/* From the first to the last byte of the window that anybody wants. */
static void wanted_of(const struct io_op *op, int number, MPI_Offset *low, MPI_Offset *high)
{
    const struct io_exchange *const x = op->exchange;

    *low = *high = 0;
    for (int rank = 0; rank < op->access.file->comm->size; rank++) {
        size_t from;
        const size_t len = io_window_part(x, number, rank, &from);
        MPI_Offset first, last;

        if (!len)
            continue;
        first = io_view_place(x->views[rank], x->all[rank].at + from);
        last = io_view_place(x->views[rank], x->all[rank].at + from + len - 1) + 1;
        *low = *high ? (first < *low ? first : *low) : first;
        *high = last > *high ? last : *high;
    }
}

void io_window_read(struct io_op *op, int number)
{
    struct io_exchange *const x = op->exchange;
    struct file *const file = op->access.file;
    const MPI_Count *const places = io_send_places(x, file->comm->size), *const counts = io_send_counts(x);
    struct io_reply reply = { 0, 0 };
    MPI_Offset low, high;
    size_t got = 0;
    int rc = 0;

    wanted_of(op, number, &low, &high);
    if (high > low)
        rc = io_transfer_run(file, false, x->bytes, (size_t)(high - low), low, &got);
    if (rc && !x->error)
        x->error = rc;
    reply.end = low + (MPI_Offset)got;
    reply.error = rc ? err_class(rc) : 0;
    for (int rank = 0; rank < file->comm->size; rank++) {
        char *const message = x->others + places[rank];
        size_t from;
        const size_t len = io_window_part(x, number, rank, &from);

        if (!counts[rank])
            continue;
        memcpy(message, &reply, sizeof reply);
        for_blocks(x, rank, from, len, low, message + sizeof reply, take);
    }
}

/* --- writing --- */

/* The first bit from `at` on that is `value`; `end`: there is none. */
static size_t find_bit(const uint64_t *bits, size_t at, size_t end, bool value)
{
    while (at < end) {
        const uint64_t word = (value ? bits[at / 64] : ~bits[at / 64]) >> at % 64;

        if (word)
            return size_min(at + (size_t)__builtin_ctzll(word), end);
        at += 64 - at % 64;
    }
    return end;
}

static size_t count_runs(const uint64_t *bits, size_t low, size_t high)
{
    size_t runs = 0;

    for (size_t at = low; at < high; runs++)
        at = find_bit(bits, find_bit(bits, at, high, false), high, true);
    return runs;
}

/* Bytes that nobody has brought stay as they are in the file. An error, or 0. */
static int fill_holes(struct io_op *op, MPI_Offset base, size_t low, size_t high)
{
    struct io_exchange *const x = op->exchange;
    size_t got;
    const int rc = io_transfer_run(op->access.file, false, x->old + low, high - low, base + (MPI_Offset)low, &got);

    if (rc)
        return rc;
    memset(x->old + low + got, 0, high - low - got);
    for (size_t at = find_bit(x->covered, low, high, false), end; at < high;
         at = find_bit(x->covered, end, high, false)) {
        end = find_bit(x->covered, at, high, true);
        memcpy(x->bytes + at, x->old + at, end - at);
    }
    return 0;
}

static int write_runs(struct io_op *op, MPI_Offset base, size_t low, size_t high)
{
    struct io_exchange *const x = op->exchange;
    size_t moved;
    int rc = 0;

    for (size_t at = low, end; at < high && !rc; at = find_bit(x->covered, end, high, true)) {
        end = find_bit(x->covered, at, high, false);
        rc = io_transfer_run(op->access.file, true, x->bytes + at, end - at, base + (MPI_Offset)at, &moved);
    }
    return rc;
}

/* With holes, or where somebody may write back: as one piece if that is cheaper, under a lock; else each run. */
static int write_with_holes(struct io_op *op, MPI_Offset base, size_t low, size_t high)
{
    struct io_exchange *const x = op->exchange;
    struct file *const file = op->access.file;
    bool is_one = file->can_read && atomic_load(&file->is_rewritten) &&
                  io_is_dense(true, high - low, count_runs(x->covered, low, high));
    const MPI_Offset at = base + (MPI_Offset)low;
    const int lock = is_one || !file->can_read ? IO_LOCK_WRITE : IO_LOCK_READ;
    const bool is_locked = !atomic_load(&file->has_no_locks) &&
                           !io_lock_range(file, (enum io_lock)lock, at, (MPI_Offset)(high - low));
    size_t moved;
    int rc;

    if (!is_locked)
        atomic_store(&file->has_no_locks, true);
    is_one = is_one && is_locked && io_may_write_back(file);
    if (is_one) {
        rc = fill_holes(op, base, low, high);
        if (!rc)
            rc = io_transfer_run(file, true, x->bytes + low, high - low, at, &moved);
    } else {
        rc = write_runs(op, base, low, high);
    }
    if (is_locked)
        io_unlock_range(file, at, (MPI_Offset)(high - low));
    return rc;
}

static int write_covered(struct io_op *op, MPI_Offset base, size_t size)
{
    struct io_exchange *const x = op->exchange;
    const size_t low = find_bit(x->covered, 0, size, true);
    size_t high = low, next, moved;

    for (next = low; next < size; next = find_bit(x->covered, high, size, true))
        high = find_bit(x->covered, next, size, false);
    if (low == high)
        return 0;
    if (find_bit(x->covered, low, high, false) == high && !atomic_load(&op->access.file->is_rewritten))
        return io_transfer_run(op->access.file, true, x->bytes + low, high - low, base + (MPI_Offset)low, &moved);
    return write_with_holes(op, base, low, high);
}

void io_window_write(struct io_op *op, int number)
{
    struct io_exchange *const x = op->exchange;
    const int size = op->access.file->comm->size;
    MPI_Offset from, to;
    int rc;

    window_of(x, number, &from, &to);
    memset(x->covered, 0, (x->window + 63) / 64 * sizeof *x->covered);
    for (int rank = 0; rank < size; rank++) {
        size_t part;
        const size_t len = io_window_part(x, number, rank, &part);

        for_blocks(x, rank, part, len, from, x->others + io_recv_places(x, size)[rank], put);
    }
    rc = write_covered(op, from, (size_t)(to - from));
    if (rc && !x->error)
        x->error = rc;
    if (rc && from < x->stop)
        x->stop = from;
}
