/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Collective access (MPI 5.0 §14.4) in steps. Each step is one collective call of the library, waited for
 * by a blocking operation, polled for by another one.
 * Knows: coll. Whether processes exchange data: exchange_choose.c. What they exchange: exchange_round.c. */
#include "io/exchange.h"

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "op/op.h"

int io_exchange_call(struct io_op *op, const struct coll_args *args)
{
    struct comm *const comm = io_comm_of(op);
    int rc;

    comm->coll_outer = op->call;
    rc = op->is_blocking ? coll_run(comm, args) : coll_start(comm, args, &op->exchange->pending);
    comm->coll_outer = NULL;
    return rc;
}

/* --- telling --- */

int io_exchange_begin(struct io_op *op, int rc)
{
    const int size = io_comm_of(op)->size;
    struct io_exchange *const x = mem_zalloc(sizeof *x);
    struct io_summary own;

    op->exchange = x;
    if (x) {
        x->all = mem_alloc((size_t)size * sizeof *x->all);
        x->counts = mem_zalloc(4 * (size_t)size * sizeof *x->counts);
        x->ranks = mem_alloc((size_t)size * sizeof *x->ranks);
    }
    if (!x || !x->all || !x->counts || !x->ranks) {
        io_exchange_end(op);
        return err(MPI_ERR_NO_MEM, "no memory for a collective access to file \"%.200s\"", op->access.file->name);
    }
    x->error = rc;
    x->stop = INT64_MAX;
    io_exchange_summary(op, rc, &own);
    x->all[io_comm_of(op)->rank] = own;
    if (size == 1)
        return 0;
    return io_exchange_call(op, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, obj_type(MPI_BYTE)),
                                          COLL_SAME(x->all, sizeof own, obj_type(MPI_BYTE)), NULL, 0));
}

/* Has everybody what it needs? Also the end of all: maxima of classes and of what stands for the lowest place. */
static int agree(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    struct type *type = obj_type(MPI_UINT64_T);

    x->outcome[0] = x->error ? (uint64_t)err_class(x->error) << 32 | (uint32_t)io_comm_of(op)->rank : 0;
    x->outcome[1] = ~(uint64_t)x->stop;
    return io_exchange_call(op, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 2, type),
                                          COLL_SAME(x->outcome, 2, type), obj_op(MPI_MAX), 0));
}

static int agreed_error(const struct io_op *op)
{
    const struct io_exchange *const x = op->exchange;

    if (x->error || !x->outcome[0])
        return x->error;
    return io_exchange_failed(op, (int)(x->outcome[0] >> 32), (int)(uint32_t)x->outcome[0]);
}

/* --- steps --- */

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

static int after_telling(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    if (!x->error)
        x->error = io_other_error(op);
    x->stage = x->error ? IO_OVER : io_is_exchanging(op) ? IO_OUTLINES : IO_OWN;
    if (x->stage != IO_OUTLINES)
        return 0;
    if (op->access.file->is_lazy) /* what this process has written others will read for it, or write over */
        x->error = io_sync_own(op->access.file);
    return op->access.view->peers ? 0 : io_tell_outlines(op);
}

static int after_outlines(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;
    const int rc = op->access.view->peers ? 0 : io_read_outlines(op);

    x->error = x->error ? x->error : rc;
    io_lay_out(op);
    if (!x->error)
        x->error = io_get_memory(op);
    x->stage = IO_READY;
    return agree(op);
}

static int after_ready(struct io_op *op)
{
    struct io_exchange *const x = op->exchange;

    x->error = agreed_error(op);
    if (x->error)
        io_view_drop_peers(op->access.view);
    else if (!op->access.is_write)
        io_refresh(op->access.file);
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
    if (op->access.file->is_lazy && !x->error) /* what others have written for us is ours */
        x->error = io_sync_own(op->access.file);
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
        io_skip_rounds(op);
        if (x->round == x->rounds)
            return after_rounds(op);
        x->stage = IO_EXCHANGED;
        return io_begin_round(op);
    case IO_EXCHANGED:
        io_end_round(op);
        x->stage = IO_ROUND;
        return 0;
    case IO_ENDING:
        x->error = agreed_error(op);
        x->stop = (MPI_Offset)~x->outcome[1];
        io_refresh(op->access.file);
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
    mem_free(x->ranks);
    mem_free(x);
    op->exchange = NULL;
}
