/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Collective data access in all its forms (MPI 5.0 §14.4): blocking, nonblocking, and split into begin and
 * end. A process whose own arguments are wrong takes part all the same, so that the others learn of it.
 * Knows: operations, exchanges. */
#include <string.h>

#include "base/err.h"
#include "io/exchange.h"

/* Check and fill in; what is wrong is returned, and the operation can take part. */
static int init(struct io_op *op, const struct io_call *call)
{
    const int rc = io_op_init(op, call);

    op->is_collective = true;
    if (!rc)
        return 0;
    op->access = (struct io_access){ .file = call->file, .is_write = call->is_write };
    op->call = call->name;
    return rc;
}

static void fini(struct io_op *op)
{
    io_exchange_end(op);
    if (op->access.view)
        io_op_fini(op);
}

int io_run_all(const struct io_call *call, MPI_Status *status)
{
    struct io_op op = { .is_blocking = true };
    int rc, events = 0;

    io_op_drain(call->file);
    rc = init(&op, call);
    rc = io_exchange_begin(&op, rc);
    if (!rc)
        io_exchange_move(&op, &rc, &events);
    if (op.access.view) {
        rc = io_op_end(&op, rc);
        if (call->where == IO_POINTER)
            io_draw_back(&op);
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, op.req.bytes, false);
    }
    fini(&op);
    return rc;
}

int io_start_all(const struct io_call *call, struct req **out)
{
    struct io_op *const op = io_op_create();
    int rc;

    if (!op)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    rc = op->failed = init(op, call);
    op->is_detached = rc != 0;
    *out = &op->req;
    io_op_enqueue(op);
    return rc;
}

/* --- split --- */

static int wrong_half(const struct file *file, const char *call)
{
    if (!file->split)
        return err(MPI_ERR_OTHER, "E0913: no split collective call is under way on file \"%.200s\"", file->name);
    return err(MPI_ERR_OTHER, "E0913: %s does not belong to %s, which is under way on file \"%.200s\"", call,
               file->split->call, file->name);
}

int io_begin_all(const struct io_call *call)
{
    struct file *const file = call->file;
    struct req *req = NULL;
    int rc;

    if (file->split)
        return wrong_half(file, call->name);
    rc = io_start_all(call, &req);
    if (!rc)
        file->split = CONTAINER_OF(req, struct io_op, req);
    return rc;
}

struct req *io_split_request(const struct file *file)
{
    return &file->split->req;
}

int io_end_all(struct file *file, const char *begun, const char *call, MPI_Status *status)
{
    struct io_op *const op = file->split;
    int rc;

    if (!op || strcmp(op->call, begun))
        return wrong_half(file, call);
    file->split = NULL;
    if (!req_is_done(&op->req))
        progress_wait(&op->req.done, op->req.hint);
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, op->req.bytes, false);
    rc = op->req.error;
    op->req.ops->release(&op->req);
    return rc;
}
