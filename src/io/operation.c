/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Nonblocking operations as requests. Those of one process move a piece of their data whenever something is
 * polled.
 * Knows: operations, moving, progress. Does not know: views. */
#include "io/exchange.h"

#include "base/err.h"
#include "base/mem.h"

enum {
    AT_ONCE = 64 << 10,  /* no longer ones are done by the call */
    PIECE = 1 << 20,     /* of the others, in one turn */
    REQUESTS_PER_CHUNK = 8,
};

/* Guards the list and what is in it, and the pool. Taken before the locks of files and lanes. */
static struct {
    pthread_mutex_t lock;
    struct list list;
    bool is_polled;
    struct mem_pool pool;
} ops = { .lock = PTHREAD_MUTEX_INITIALIZER, .list = { &ops.list, &ops.list } };

static struct io_op *op_of(const struct req *req)
{
    return (struct io_op *)(uintptr_t)req;
}

/* --- beginning and end; with the lock --- */

static void destroy(struct io_op *op)
{
    req_let_go(&op->req);
    io_exchange_end(op);
    if (op->access.view)
        io_op_fini(op);
    op->req.obj.kind = OBJ_FREED;
    mem_pool_put(&ops.pool, op);
}

static void count(struct io_op *op, int pending, int detached)
{
    struct file *const file = op->access.file;

    pthread_mutex_lock(&file->lock);
    file->pending += pending;
    file->detached += detached;
    pthread_mutex_unlock(&file->lock);
}

static void end(struct io_op *op, int rc)
{
    op->req.error = op->access.view ? io_op_end(op, rc) : rc;
    count(op, -1, op->is_detached ? -1 : 0);
    if (op->is_detached) {
        destroy(op);
        progress_notify();
    } else {
        req_complete(&op->req);
    }
}

/* --- moving on --- */

/* One piece. True: it was the last one. */
static bool move_piece(struct io_op *op, int *rc)
{
    const size_t wanted = size_min(op->access.len - op->done, PIECE);
    size_t moved;

    *rc = io_move(&op->access, op->done, wanted, &moved);
    op->done += moved;
    return *rc || moved < wanted || op->done == op->access.len;
}

/* The next collective operation of a file, behind `from`, whose turn it is now. */
static void pass_turn(struct file *file, const struct list *from)
{
    struct io_op *next = NULL;

    for (struct list *link = from->next; link != &ops.list && !next; link = link->next) {
        struct io_op *const op = CONTAINER_OF(link, struct io_op, link);

        if (op->is_collective && op->access.file == file)
            next = op;
    }
    pthread_mutex_lock(&file->lock);
    file->active = next;
    pthread_mutex_unlock(&file->lock);
}

/* True: it is over. */
static bool move_collective(struct io_op *op, int *rc, int *events)
{
    if (op->access.file->active != op)
        return false;
    *rc = 0;
    if (!op->exchange) {
        *rc = io_exchange_begin(op, op->failed);
        ++*events;
    }
    if (!*rc && !io_exchange_move(op, rc, events))
        return false;
    pass_turn(op->access.file, &op->link);
    return true;
}

static int poll_all(void *arg)
{
    int events = 0, rc;

    (void)arg;
    if (progress_is_last_look)
        pthread_mutex_lock(&ops.lock);
    else if (pthread_mutex_trylock(&ops.lock))
        return 0;
    LIST_FOR_EACH_SAFE(link, &ops.list) {
        struct io_op *const op = CONTAINER_OF(link, struct io_op, link);

        events += !op->is_collective;
        if (!(op->is_collective ? move_collective(op, &rc, &events) : move_piece(op, &rc)))
            continue;
        list_remove(&op->link);
        progress_work(-1);
        end(op, rc);
    }
    pthread_mutex_unlock(&ops.lock);
    return events;
}

/* --- requests --- */

static void op_release(struct req *req)
{
    pthread_mutex_lock(&ops.lock);
    destroy(op_of(req));
    pthread_mutex_unlock(&ops.lock);
}

static int op_cancel(struct req *req)
{
    return err(MPI_ERR_REQUEST, "E0911: %s cannot be cancelled", op_of(req)->call);
}

static int op_detach(struct req *req)
{
    struct io_op *const op = op_of(req);

    pthread_mutex_lock(&ops.lock);
    if (req_is_done(req)) {
        destroy(op);
    } else {
        op->is_detached = true;
        count(op, 0, 1);
    }
    pthread_mutex_unlock(&ops.lock);
    return 0;
}

static void op_describe(const struct req *req, struct blocked *out)
{
    const struct io_op *const op = op_of(req);
    const struct req *pending;

    pthread_mutex_lock(&ops.lock);
    pending = op->exchange && !req_is_done(&op_of(req)->req) ? op->exchange->pending : NULL;
    if (pending) { /* the others */
        pending->ops->describe(pending, out);
        out->call = "MPI_Wait";
        out->of = op->call;
    }
    pthread_mutex_unlock(&ops.lock);
    if (pending)
        return;
    *out = (struct blocked){ .call = "MPI_Wait", .of = op_of(req)->call, .comm = op_of(req)->access.file->comm };
}

static struct obj *op_owner(const struct req *req)
{
    return &op_of(req)->access.file->obj;
}

static const struct req_ops op_ops = {
    .release = op_release,
    .cancel = op_cancel,
    .detach = op_detach,
    .describe = op_describe,
    .owner = op_owner,
};

struct io_op *io_op_create(void)
{
    struct io_op *op;

    pthread_mutex_lock(&ops.lock);
    op = req_from_pool(&ops.pool, sizeof *op, REQUESTS_PER_CHUNK);
    pthread_mutex_unlock(&ops.lock);
    if (!op)
        return NULL;
    *op = (struct io_op){ .req = { .ops = &op_ops } };
    obj_init(&op->req.obj, OBJ_REQUEST);
    return op;
}

static void give_up(struct io_op *op)
{
    pthread_mutex_lock(&ops.lock);
    op->req.obj.kind = OBJ_FREED;
    mem_pool_put(&ops.pool, op);
    pthread_mutex_unlock(&ops.lock);
}

/* What is short is done at once, and so is what must not be done in pieces or from a poll: all under one lock, or with
 * functions of the user. */
static bool is_immediate(const struct io_op *op)
{
    const struct io_access *const a = &op->access;

    return a->len <= AT_ONCE || a->view->datarep->kind == IO_USER ||
           atomic_load_explicit(&a->file->is_atomic, memory_order_relaxed);
}

void io_op_enqueue(struct io_op *op)
{
    struct file *const file = op->access.file;

    count(op, 1, op->is_detached);
    pthread_mutex_lock(&ops.lock);
    if (!ops.is_polled)
        progress_add(poll_all, NULL);
    ops.is_polled = true;
    list_append(&ops.list, &op->link);
    progress_work(1);
    pthread_mutex_lock(&file->lock);
    if (op->is_collective && !file->active)
        file->active = op;
    pthread_mutex_unlock(&file->lock);
    pthread_mutex_unlock(&ops.lock);
}

int io_start(const struct io_call *call, struct req **out)
{
    struct io_op *const op = io_op_create();
    int rc;

    if (!op)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    rc = io_op_init(op, call);
    if (rc) {
        give_up(op);
        return rc;
    }
    *out = &op->req;
    if (is_immediate(op)) {
        count(op, 1, 0);
        end(op, io_move_all(&op->access, &op->done));
    } else {
        io_op_enqueue(op);
    }
    return 0;
}

static bool has_settled(void *arg)
{
    struct file *const file = arg;
    bool is_settled;

    pthread_mutex_lock(&file->lock);
    is_settled = !file->detached;
    pthread_mutex_unlock(&file->lock);
    return is_settled;
}

int io_op_settle(struct file *file)
{
    int pending;

    progress_wait_until(has_settled, file);
    pthread_mutex_lock(&file->lock);
    pending = file->pending;
    pthread_mutex_unlock(&file->lock);
    return pending;
}

static bool is_drained(void *arg)
{
    struct file *const file = arg;
    bool is_so;

    pthread_mutex_lock(&file->lock);
    is_so = !file->active;
    pthread_mutex_unlock(&file->lock);
    return is_so;
}

void io_op_drain(struct file *file)
{
    if (!is_drained(file))
        progress_wait_until(is_drained, file);
}

void io_op_close(void)
{
    if (ops.is_polled)
        progress_remove(poll_all, NULL);
    ops.is_polled = false;
    mem_pool_fini(&ops.pool);
    ops.pool.size = 0;
}
