/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. What the rounds of an exchange need, views of the others, windows, memory, and a round itself.
 * Knows: coll, views. What happens in a window: file_window.c. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "io/exchange.h"

enum { SPARSE = 64 }; /* of so many bytes of the file, less than one is wanted */

/* --- views of the others --- */

/* This process's view in bytes, in front of it where the view begins. */
static void put_outline(const struct io_view *view, char *to)
{
    const struct type_outline *outline;

    if (!view->layout->size || type_get_outline(view->layout, &outline))
        return;
    memcpy(to, &view->disp, sizeof view->disp);
    memcpy(to + sizeof view->disp, outline->bytes, outline->len);
}

int io_tell_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size, rank = io_comm_of(op)->rank;
    MPI_Count *const counts = io_recv_counts(x, size), *const places = io_recv_places(x, size);
    MPI_Count total = 0;

    for (int i = 0; i < size; i++) {
        counts[i] = (MPI_Count)x->all[i].outline;
        places[i] = total;
        total += counts[i];
    }
    x->outlines = mem_alloc((size_t)total + 1);
    if (!x->outlines)
        return err(MPI_ERR_NO_MEM, "no memory for %lld bytes that describe views", (long long)total);
    put_outline(op->access.view, x->outlines + places[rank]);
    return io_exchange_call(op, COLL_ARGS(COLL_ALLGATHERV, COLL_SAME(MPI_IN_PLACE, 0, obj_type(MPI_BYTE)),
                                          COLL_VARYING(x->outlines, counts, places, obj_type(MPI_BYTE)), NULL, 0));
}

static int read_outline(const char *bytes, size_t len, struct io_view **out)
{
    struct io_view *view;
    int rc;

    if (!len)
        return 0;
    view = mem_zalloc(sizeof *view);
    if (!view)
        return err(MPI_ERR_NO_MEM, "no memory for the view of another process");
    atomic_init(&view->refs, 1);
    memcpy(&view->disp, bytes, sizeof view->disp);
    rc = type_from_outline(bytes + sizeof view->disp, len - sizeof view->disp, &view->layout);
    if (rc) {
        mem_free(view);
        return rc;
    }
    view->is_run = type_is_run(view->layout, 2);
    view->is_rising = true;
    *out = view;
    return 0;
}

/* They stay with the view: all processes set their views together. */
int io_read_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size;
    struct io_view **views = mem_zalloc((size_t)size * sizeof(struct io_view *));
    int rc = views ? 0 : err(MPI_ERR_NO_MEM, "no memory for the views of %d processes", size);

    for (int i = 0; i < size && !rc; i++)
        rc = read_outline(x->outlines + io_recv_places(x, size)[i], x->all[i].outline, &views[i]);
    op->access.view->peers = views;
    op->access.view->peer_count = size;
    return rc;
}

/* --- windows --- */

void io_lay_out(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const struct io_hints *const hints = &op->access.file->hints;
    MPI_Offset span, sum = 0;

    x->low = INT64_MAX;
    for (int rank = 0; rank < io_comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->len)
            continue;
        sum += (MPI_Offset)s->len;
        x->low = s->first < x->low ? s->first : x->low;
        x->high = s->end > x->high ? s->end : x->high;
    }
    x->low -= x->low % hints->block;
    span = x->high - x->low;
    x->aggregators = io_choose_aggregators(&op->access.file->machines, hints->aggregators,
                                           hints->machine_aggregators, x->ranks);
    x->domain = (span + x->aggregators - 1) / x->aggregators;
    x->domain = (x->domain + hints->block - 1) / hints->block * hints->block;
    /* what several want is sent several times */
    x->window = size_max(hints->buffer / (size_t)(1 + sum / (span + 1)), IO_BUFFER_MIN);
    x->window = (size_t)(x->domain < (MPI_Offset)x->window ? x->domain : (MPI_Offset)x->window);
    x->rounds = x->domain / (MPI_Offset)x->window + (x->domain % (MPI_Offset)x->window != 0);
    x->is_sparse = sum < span / SPARSE;
}

void io_skip_rounds(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    int64_t next = x->is_sparse ? x->rounds : x->round;

    for (int i = 0; i < x->aggregators && next > x->round; i++)
        for (int rank = 0; rank < io_comm_of(op)->size && next > x->round; rank++) {
            const int64_t round = io_next_round(x, i, rank);
            next = round < next ? round : next;
        }
    x->round = next;
}

/* New memory is taken page by page when it is touched, which costs as much as the copies: it stays with the file. */
static void *scratch(struct file *file, int purpose, size_t size)
{
    if (file->scratch[purpose].size < size) {
        mem_free(file->scratch[purpose].memory);
        file->scratch[purpose].memory = mem_alloc(size);
        file->scratch[purpose].size = file->scratch[purpose].memory ? size : 0;
    }
    return file->scratch[purpose].memory;
}

int io_get_memory(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    struct file *const file = op->access.file;
    const int size = io_comm_of(op)->size;
    const size_t heads = sizeof(struct io_reply) * (size_t)size;
    const bool is_aggregator = io_aggregator_number(x, io_comm_of(op)->rank) >= 0;
    const size_t most = (size_t)x->aggregators * x->window, bits = (x->window + 63) / 64 * sizeof *x->covered;
    bool is_complete;

    x->views = op->access.view->peers;
    x->own = scratch(file, IO_SCRATCH_OWN, size_min(op->access.len, most) + heads);
    is_complete = x->own != NULL;
    if (is_aggregator) {
        x->others = scratch(file, IO_SCRATCH_OTHERS, (size_t)size * x->window + heads);
        x->bytes = scratch(file, IO_SCRATCH_WINDOW, x->window);
        is_complete = is_complete && x->others && x->bytes;
    }
    if (is_aggregator && op->access.is_write) {
        x->old = scratch(file, IO_SCRATCH_OLD, x->window);
        x->covered = scratch(file, IO_SCRATCH_COVERED, bits);
        is_complete = is_complete && x->old && x->covered;
    }
    return is_complete ? 0 : err(MPI_ERR_NO_MEM, "no memory for %zu bytes of windows of file \"%.200s\"", x->window,
                                 file->name);
}

/* --- rounds --- */

/* What goes from `own` to the aggregators, or comes back. */
static void count_own(struct io_op *op, MPI_Count *counts, MPI_Count *places, size_t head)
{
    const struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size;
    MPI_Count place = 0;

    memset(counts, 0, (size_t)size * sizeof *counts);
    for (int i = 0; i < x->aggregators; i++) {
        const int rank = x->ranks[i];
        size_t from;
        const size_t len = io_window_part(x, i, io_comm_of(op)->rank, &from);

        counts[rank] = (MPI_Count)(len ? len + head : 0);
        places[rank] = place;
        place += counts[rank];
    }
}

static void count_others(struct io_op *op, MPI_Count *counts, MPI_Count *places, size_t head)
{
    const struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size, number = io_aggregator_number(x, io_comm_of(op)->rank);
    MPI_Count place = 0;

    memset(counts, 0, (size_t)size * sizeof *counts);
    for (int rank = 0; rank < size && number >= 0; rank++) {
        size_t from;
        const size_t len = io_window_part(x, number, rank, &from);

        counts[rank] = (MPI_Count)(len ? len + head : 0);
        places[rank] = place;
        place += counts[rank];
    }
}

/* What this process sends, in the places that have been counted; from where it lies if that is one run. */
static char *find_own(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const struct io_access *const a = &op->access;
    const int size = io_comm_of(op)->size;
    const bool is_run = type_is_run(a->type, a->count);
    MPI_Count *const places = io_send_places(x, size);

    for (int i = 0; i < x->aggregators; i++) {
        const int rank = x->ranks[i];
        size_t from;
        const size_t len = io_window_part(x, i, io_comm_of(op)->rank, &from);

        if (is_run)
            places[rank] = (MPI_Count)from;
        else if (len)
            type_pack(a->type, a->buf, a->count, from, x->own + places[rank], len);
    }
    return is_run ? type_run(a->type, a->buf) : x->own;
}

static int exchange_data(struct io_op *op, char *send, char *recv)
{
    const struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size;
    struct type *byte = obj_type(MPI_BYTE);

    return io_exchange_call(
        op, COLL_ARGS(COLL_ALLTOALLV, COLL_VARYING(send, io_send_counts(x), io_send_places(x, size), byte),
                      COLL_VARYING(recv, io_recv_counts(x, size), io_recv_places(x, size), byte), NULL, 0));
}

int io_begin_round(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = io_comm_of(op)->size, number = io_aggregator_number(x, io_comm_of(op)->rank);

    if (op->access.is_write) {
        count_own(op, io_send_counts(x), io_send_places(x, size), 0);
        count_others(op, io_recv_counts(x, size), io_recv_places(x, size), 0);
        return exchange_data(op, find_own(op), x->others);
    }
    count_others(op, io_send_counts(x), io_send_places(x, size), sizeof(struct io_reply));
    count_own(op, io_recv_counts(x, size), io_recv_places(x, size), sizeof(struct io_reply));
    if (number >= 0)
        io_window_read(op, number);
    return exchange_data(op, x->others, x->own);
}

/* A reply of an aggregator: what is good of it reaches memory. */
static void take_reply(struct io_op *op, int number)
{
    struct io_exchange *const x = op->exchange;
    const struct io_access *const a = &op->access;
    const int size = io_comm_of(op)->size;
    const char *const message = x->own + io_recv_places(x, size)[x->ranks[number]];
    struct io_reply reply;
    size_t from, good, len = io_window_part(x, number, io_comm_of(op)->rank, &from);

    if (!len)
        return;
    memcpy(&reply, message, sizeof reply);
    good = size_max(io_view_before(a->view, reply.end), a->at + from) - a->at - from;
    if (good < len && reply.end < x->stop)
        x->stop = reply.end;
    if (reply.error && !x->error)
        x->error = io_exchange_failed(op, (int)reply.error, x->ranks[number]);
    type_unpack(a->type, a->buf, a->count, from, message + sizeof reply, size_min(good, len));
}

void io_end_round(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int number = io_aggregator_number(x, io_comm_of(op)->rank);

    if (op->access.is_write && number >= 0)
        io_window_write(op, number);
    for (int i = 0; !op->access.is_write && i < x->aggregators; i++)
        take_reply(op, i);
    x->round++;
}
