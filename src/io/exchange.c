/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Collective access (MPI 5.0 §14.4): whether processes exchange data, and the steps of it. Each step is one
 * collective call of the library, waited for by a blocking operation, polled for by another one.
 * Knows: coll, views. What happens in a window: file_window.c. */
#include "io/exchange.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "op/op.h"

enum {
    READ_BLOCK_MAX = 1024,     /* each process moves longer runs itself, one by one: that is a call for each, ... */
    WRITE_BLOCK_MAX = 65536,   /* ... and when writing the processes get into each other's way */
    READERS_MAX = 8,           /* so many may read the same bytes of the file, each to pick out its own */
    OUTLINES_MAX = 64 << 20,   /* bytes that describe views, of all processes */
};

static struct comm *comm_of(const struct io_op *op)
{
    return op->access.file->comm;
}

/* One collective call, to be waited for. */
static int call(struct io_op *op, const struct coll_args *args)
{
    struct comm *const comm = comm_of(op);
    int rc;

    comm->coll_outer = op->call;
    rc = op->is_blocking ? coll_run(comm, args) : coll_start(comm, args, &op->exchange->pending);
    comm->coll_outer = NULL;
    return rc;
}

/* --- telling --- */

static void fill_summary(const struct io_op *op, int rc, struct io_summary *s)
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

int io_exchange_begin(struct io_op *op, int rc)
{
    const int size = comm_of(op)->size;
    struct io_exchange *const x = mem_zalloc(sizeof *x);
    struct io_summary own;

    op->exchange = x;
    if (x) {
        x->all = mem_alloc((size_t)size * sizeof *x->all);
        x->counts = mem_zalloc(4 * (size_t)size * sizeof *x->counts);
    }
    if (!x || !x->all || !x->counts) {
        io_exchange_end(op);
        return err(MPI_ERR_NO_MEM, "no memory for a collective access to file \"%.200s\"", op->access.file->name);
    }
    x->error = rc;
    x->stop = INT64_MAX;
    fill_summary(op, rc, &own);
    x->all[comm_of(op)->rank] = own;
    if (size == 1)
        return 0;
    return call(op, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, obj_type(MPI_BYTE)),
                              COLL_SAME(x->all, sizeof own, obj_type(MPI_BYTE)), NULL, 0));
}

/* --- deciding; the same at all --- */

static int failed_at(const struct io_op *op, int error_class, int rank)
{
    return err(error_class, "E0902: the call on file \"%.200s\" has failed at rank %d, so it fails at rank %d, too",
               op->access.file->name, rank, comm_of(op)->rank);
}

static int other_error(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;

    for (int rank = 0; rank < comm_of(op)->size; rank++)
        if (x->all[rank].error)
            return failed_at(op, x->all[rank].error, rank);
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

    for (int rank = 0; rank < comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->len)
            continue;
        has_gaps |= s->has_gaps;
        block = s->block > block ? s->block : block;
        spans += s->end - s->first;
        low = s->first < low ? s->first : low;
        high = s->end > high ? s->end : high;
    }
    if (!has_gaps || !is_interleaved(x, comm_of(op)->size))
        return false;
    if (block > (op->access.is_write ? WRITE_BLOCK_MAX : READ_BLOCK_MAX))
        return false;
    return op->access.is_write || spans / READERS_MAX > high - low;
}

static bool is_exchanging(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;
    const struct file *const file = op->access.file;
    const enum io_collective way = op->access.is_write ? file->hints.writes : file->hints.reads;
    uint64_t outlines = 0, len = 0;

    if (comm_of(op)->size == 1 || way == IO_COLLECTIVE_NEVER || atomic_load(&file->is_atomic))
        return false;
    for (int rank = 0; rank < comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->is_rising || (s->len && !s->outline))
            return false;
        outlines += s->outline;
        len |= s->len;
    }
    return len && outlines <= OUTLINES_MAX && (way == IO_COLLECTIVE_ALWAYS || is_worth(op));
}

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

static int tell_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = comm_of(op)->size, rank = comm_of(op)->rank;
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
    return call(op, COLL_ARGS(COLL_ALLGATHERV, COLL_SAME(MPI_IN_PLACE, 0, obj_type(MPI_BYTE)),
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
static int read_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = comm_of(op)->size;
    struct io_view **views = mem_zalloc((size_t)size * sizeof(struct io_view *));
    int rc = views ? 0 : err(MPI_ERR_NO_MEM, "no memory for the views of %d processes", size);

    for (int i = 0; i < size && !rc; i++)
        rc = read_outline(x->outlines + io_recv_places(x, size)[i], x->all[i].outline, &views[i]);
    op->access.view->peers = views;
    op->access.view->peer_count = size;
    return rc;
}

/* --- windows --- */

static void lay_out(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const struct io_hints *const hints = &op->access.file->hints;
    MPI_Offset span, sum = 0;

    x->low = INT64_MAX;
    for (int rank = 0; rank < comm_of(op)->size; rank++) {
        const struct io_summary *const s = &x->all[rank];

        if (!s->len)
            continue;
        sum += (MPI_Offset)s->len;
        x->low = s->first < x->low ? s->first : x->low;
        x->high = s->end > x->high ? s->end : x->high;
    }
    x->low -= x->low % hints->block;
    span = x->high - x->low;
    x->aggregators = hints->aggregators;
    x->domain = (span + x->aggregators - 1) / x->aggregators;
    x->domain = (x->domain + hints->block - 1) / hints->block * hints->block;
    /* what several want is sent several times */
    x->window = size_max(hints->buffer / (size_t)(1 + sum / (span + 1)), IO_BUFFER_MIN);
    x->window = (size_t)(x->domain < (MPI_Offset)x->window ? x->domain : (MPI_Offset)x->window);
    x->rounds = (int)((x->domain + (MPI_Offset)x->window - 1) / (MPI_Offset)x->window);
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

static int get_memory(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    struct file *const file = op->access.file;
    const int size = comm_of(op)->size;
    const size_t heads = sizeof(struct io_reply) * (size_t)size;
    const bool is_aggregator = io_aggregator_number(x, size, comm_of(op)->rank) >= 0;
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

/* Has everybody what it needs? Also the end of all: maxima of classes and of what stands for the lowest place. */
static int agree(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    struct type *type = obj_type(MPI_UINT64_T);

    x->outcome[0] = x->error ? (uint64_t)err_class(x->error) << 32 | (uint32_t)comm_of(op)->rank : 0;
    x->outcome[1] = ~(uint64_t)x->stop;
    return call(op, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 2, type), COLL_SAME(x->outcome, 2, type),
                              obj_op(MPI_MAX), 0));
}

static int agreed_error(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;

    if (x->error || !x->outcome[0])
        return x->error;
    return failed_at(op, (int)(x->outcome[0] >> 32), (int)(uint32_t)x->outcome[0]);
}

/* --- rounds --- */

/* What goes from `own` to the aggregators, or comes back. */
static void count_own(struct io_op *op, MPI_Count *counts, MPI_Count *places, size_t head)
{
    const struct io_exchange *const x = op->exchange;
    const int size = comm_of(op)->size;
    MPI_Count place = 0;

    memset(counts, 0, (size_t)size * sizeof *counts);
    for (int i = 0; i < x->aggregators; i++) {
        const int rank = io_aggregator_rank(x, size, i);
        size_t from;
        const size_t len = io_window_part(x, i, comm_of(op)->rank, &from);

        counts[rank] = (MPI_Count)(len ? len + head : 0);
        places[rank] = place;
        place += counts[rank];
    }
}

static void count_others(struct io_op *op, MPI_Count *counts, MPI_Count *places, size_t head)
{
    const struct io_exchange *const x = op->exchange;
    const int size = comm_of(op)->size, number = io_aggregator_number(x, size, comm_of(op)->rank);
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
    const int size = comm_of(op)->size;
    const bool is_run = type_is_run(a->type, a->count);
    MPI_Count *const places = io_send_places(x, size);

    for (int i = 0; i < x->aggregators; i++) {
        const int rank = io_aggregator_rank(x, size, i);
        size_t from;
        const size_t len = io_window_part(x, i, comm_of(op)->rank, &from);

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
    const int size = comm_of(op)->size;
    struct type *byte = obj_type(MPI_BYTE);

    return call(op, COLL_ARGS(COLL_ALLTOALLV, COLL_VARYING(send, io_send_counts(x), io_send_places(x, size), byte),
                              COLL_VARYING(recv, io_recv_counts(x, size), io_recv_places(x, size), byte), NULL, 0));
}

static int begin_round(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int size = comm_of(op)->size, number = io_aggregator_number(x, size, comm_of(op)->rank);

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
    const int size = comm_of(op)->size;
    const char *const message = x->own + io_recv_places(x, size)[io_aggregator_rank(x, size, number)];
    struct io_reply reply;
    size_t from, good, len = io_window_part(x, number, comm_of(op)->rank, &from);

    if (!len)
        return;
    memcpy(&reply, message, sizeof reply);
    good = size_max(io_view_before(a->view, reply.end), a->at + from) - a->at - from;
    if (good < len && reply.end < x->stop)
        x->stop = reply.end;
    if (reply.error && !x->error)
        x->error = failed_at(op, (int)reply.error, io_aggregator_rank(x, size, number));
    type_unpack(a->type, a->buf, a->count, from, message + sizeof reply, size_min(good, len));
}

static void end_round(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int number = io_aggregator_number(x, comm_of(op)->size, comm_of(op)->rank);

    if (op->access.is_write && number >= 0)
        io_window_write(op, number);
    for (int i = 0; !op->access.is_write && i < x->aggregators; i++)
        take_reply(op, i);
    x->round++;
}

/* How far the data are good, from the first byte on. */
static void count_done(struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;
    struct io_access *const a = &op->access;
    size_t before;

    op->done = a->len;
    if (!a->len || x->stop == INT64_MAX)
        return;
    before = io_view_before(a->view, x->stop);
    op->done = size_min(before > a->at ? before - a->at : 0, a->len);
}

/* --- steps --- */

static int after_telling(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    if (!x->error)
        x->error = other_error(op);
    x->stage = x->error ? IO_OVER : is_exchanging(op) ? IO_OUTLINES : IO_OWN;
    if (x->stage != IO_OUTLINES)
        return 0;
    return op->access.view->peers ? 0 : tell_outlines(op);
}

static int after_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    if (!op->access.view->peers)
        x->error = read_outlines(op);
    lay_out(op);
    if (!x->error)
        x->error = get_memory(op);
    x->stage = IO_READY;
    return agree(op);
}

static int after_ready(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    x->error = agreed_error(op);
    if (x->error)
        io_view_drop_peers(op->access.view);
    x->stage = x->error ? IO_OVER : IO_ROUND;
    return 0;
}

static int after_rounds(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    if (!op->access.is_write) { /* replies have told */
        count_done(op);
        x->stage = IO_OVER;
        return 0;
    }
    x->stage = IO_ENDING;
    return agree(op);
}

/* Alone: a piece, or all of it. */
static void move_own(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    struct io_access *const a = &op->access;
    const size_t wanted = op->is_blocking ? a->len - op->done : size_min(a->len - op->done, 1 << 20);
    size_t moved;

    if (atomic_load_explicit(&a->file->is_atomic, memory_order_relaxed))
        x->error = io_move_all(a, &moved);
    else
        x->error = io_move(a, op->done, wanted, &moved);
    op->done += moved;
    if (x->error || moved < wanted || op->done == a->len)
        x->stage = IO_OVER;
}

/* The next step; an error means that the collective calls themselves have failed. */
static int step(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    switch (x->stage) {
    case IO_TELLING:
        return after_telling(op);
    case IO_OWN:
        move_own(op);
        return 0;
    case IO_OUTLINES:
        return after_outlines(op);
    case IO_READY:
        return after_ready(op);
    case IO_ROUND:
        if (x->round == x->rounds)
            return after_rounds(op);
        x->stage = IO_EXCHANGED;
        return begin_round(op);
    case IO_EXCHANGED:
        end_round(op);
        x->stage = IO_ROUND;
        return 0;
    case IO_ENDING:
        x->error = agreed_error(op);
        x->stop = (MPI_Offset)~x->outcome[1];
        count_done(op);
        x->stage = IO_OVER;
        return 0;
    case IO_OVER:
        break;
    }
    return 0;
}

bool io_exchange_move(struct io_op *op, int *rc, int *events)
{
    struct io_exchange *const x = op->exchange;
    int failed = 0;

    while (x->stage != IO_OVER && !failed) {
        const enum io_stage stage = x->stage;

        if (x->pending) {
            if (!req_is_done(x->pending))
                return false;
            failed = x->pending->error;
            x->pending->ops->release(x->pending);
            x->pending = NULL;
        }
        ++*events;
        if (!failed)
            failed = step(op);
        if (stage == IO_OWN && x->stage == IO_OWN && !op->is_blocking)
            return false; /* the next piece next time */
    }
    *rc = failed ? failed : x->error;
    return true;
}

void io_exchange_end(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    if (!x)
        return;
    mem_free(x->all);
    mem_free(x->outlines);
    mem_free(x->counts);
    mem_free(x);
    op->exchange = NULL;
}
