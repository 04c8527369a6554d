/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Data access by one process (MPI 5.0 §14.4): what is asked for is checked, found in the view, moved and told
 * in the status; the individual file pointer.
 * Knows: views, representations, moving. Does not know: how bytes are moved. */
#include "base/err.h"
#include "base/mem.h"
#include "io/operation.h"

/* --- checks --- */

static int refused(const struct file *file, int error_class, const char *why)
{
    return err(error_class, "E0907: file \"%.200s\" %s", file->name, why);
}

static int check_amode(const struct io_call *call)
{
    const struct file *const file = call->file;

    if (call->is_write && (file->amode & MPI_MODE_RDONLY))
        return refused(file, MPI_ERR_READ_ONLY, "was opened with MPI_MODE_RDONLY and cannot be written");
    if (!call->is_write && (file->amode & MPI_MODE_WRONLY))
        return refused(file, MPI_ERR_ACCESS, "was opened with MPI_MODE_WRONLY and cannot be read");
    if ((file->amode & MPI_MODE_SEQUENTIAL) && call->where < IO_SHARED)
        return refused(file, MPI_ERR_UNSUPPORTED_OPERATION,
                       "was opened with MPI_MODE_SEQUENTIAL: only shared file pointers may be used");
    return 0;
}

static int check_amount(const struct io_call *call, const struct io_view *view, size_t bytes)
{
    const size_t etype = (size_t)view->etype_size;

    if (bytes && (!etype || !view->layout->size))
        return err(MPI_ERR_ARG, "E0908: %zu bytes for file \"%.200s\", whose view shows no data", bytes,
                   call->file->name);
    if (etype && bytes % etype)
        return err(MPI_ERR_TYPE, "E0908: %zu bytes for file \"%.200s\" are no multiple of the %zu bytes of its etype",
                   bytes, call->file->name, etype);
    return 0;
}

/* --- places --- */

static int check_offset(const struct file *file, const struct io_view *view, MPI_Offset offset, size_t bytes,
                        size_t *at)
{
    MPI_Offset first, end;

    if (offset < 0)
        return err(MPI_ERR_ARG, "E0908: offset is %lld in file \"%.200s\"; it must not be negative", (long long)offset,
                   file->name);
    if (__builtin_mul_overflow(offset, view->etype_size, &first) ||
        __builtin_add_overflow(first, (MPI_Offset)bytes, &end) || end < 0 ||
        !io_view_has(view, (size_t)(bytes ? end - 1 : first)))
        return err(MPI_ERR_ARG, "E0908: offset is %lld in file \"%.200s\": more than a file can have",
                   (long long)offset, file->name);
    *at = (size_t)first;
    return 0;
}

/* The pointer moves on by what is asked for, before it is moved: so several calls get what lies one after the other.
 * It stays where it cannot move. */
static MPI_Offset advance(struct file *file, const struct io_view *view, MPI_Offset etypes)
{
    MPI_Offset position, next, bytes;

    pthread_mutex_lock(&file->lock);
    position = file->position;
    if (!__builtin_add_overflow(position, etypes, &next) && !__builtin_mul_overflow(next, view->etype_size, &bytes) &&
        (!bytes || io_view_has(view, (size_t)bytes - 1)))
        file->position = next;
    pthread_mutex_unlock(&file->lock);
    return position;
}

MPI_Offset io_call_etypes(const struct io_call *call)
{
    struct io_view *const view = io_view_of(call->file);
    size_t bytes = 0;
    MPI_Offset etypes = 0;

    if (!call->failed && view->etype_size && !check_amode(call) &&
        !io_datarep_bytes(view->datarep, call->type, call->count, &bytes) && !check_amount(call, view, bytes))
        etypes = (MPI_Offset)bytes / view->etype_size;
    io_view_unref(view);
    return etypes;
}

static int find_place(struct io_op *op, const struct io_call *call, size_t bytes)
{
    const struct io_view *const view = op->access.view;
    const MPI_Offset etypes = view->etype_size ? (MPI_Offset)bytes / view->etype_size : 0;
    MPI_Offset offset = call->offset;
    int rc = 0;

    if (call->where == IO_POINTER)
        offset = advance(call->file, view, etypes);
    else if (call->where == IO_SHARED)
        rc = io_shared_add(call->file, call->name, etypes, &offset);
    if (rc)
        return rc;
    return check_offset(call->file, view, offset, bytes, &op->access.at);
}

/* --- operations --- */

/* Memory for data in another representation, which is then what is moved. */
static int make_stage(struct io_op *op, const struct io_datarep *datarep)
{
    struct io_access *const a = &op->access;

    op->stage = mem_alloc(a->len + 1);
    if (!op->stage)
        return err(MPI_ERR_NO_MEM, "no memory for %zu bytes in representation %.100s", a->len, datarep->name);
    op->user_buf = a->buf;
    op->user_count = a->count;
    op->user_type = a->type;
    a->buf = op->stage;
    a->count = (MPI_Count)a->len;
    a->type = obj_type(MPI_BYTE);
    return a->is_write ? io_datarep_out(datarep, op->user_type, op->user_buf, op->user_count, op->stage, a->len) : 0;
}

int io_op_init(struct io_op *op, const struct io_call *call)
{
    struct io_access *const a = &op->access;
    int rc = call->failed ? call->failed : check_amode(call);

    if (rc)
        return rc;
    *a = (struct io_access){ .file = call->file, .is_write = call->is_write, .buf = call->buf, .count = call->count,
                             .type = call->type };
    a->view = io_view_of(call->file);
    type_ref(a->type);
    op->call = call->name;
    op->req.source = MPI_ANY_SOURCE;
    op->req.tag = MPI_ANY_TAG;
    rc = io_datarep_bytes(a->view->datarep, a->type, a->count, &a->len);
    if (!rc)
        rc = check_amount(call, a->view, a->len);
    if (!rc && a->len && a->view->datarep->kind != IO_NATIVE)
        rc = make_stage(op, a->view->datarep);
    if (!rc)
        rc = find_place(op, call, a->len);
    if (rc)
        io_op_fini(op);
    return rc;
}

void io_op_fini(struct io_op *op)
{
    mem_free(op->stage);
    type_unref(op->stage ? op->user_type : op->access.type);
    io_view_unref(op->access.view);
}

int io_op_end(struct io_op *op, int rc)
{
    const struct io_access *const a = &op->access;
    const struct io_datarep *const datarep = a->view->datarep;
    int converted = 0;

    if (!op->stage) {
        op->req.bytes = (MPI_Count)op->done;
        return rc;
    }
    if (!a->is_write)
        converted = io_datarep_in(datarep, op->user_type, op->user_buf, op->user_count, op->stage, a->len, op->done);
    op->req.bytes = io_datarep_memory_bytes(datarep, op->user_type, op->user_count, a->len, op->done);
    return rc ? rc : converted;
}

void io_draw_back(const struct io_op *op)
{
    const struct io_access *const a = &op->access;
    struct file *const file = a->file;
    const MPI_Offset etype = a->view->etype_size;

    if (!etype || op->done == a->len)
        return;
    pthread_mutex_lock(&file->lock);
    if (file->view == a->view && file->position == (MPI_Offset)(a->at + a->len) / etype)
        file->position = (MPI_Offset)(a->at + op->done) / etype;
    pthread_mutex_unlock(&file->lock);
}

int io_run(const struct io_call *call, MPI_Status *status)
{
    struct io_op op = { .is_blocking = true };
    int rc = io_op_init(&op, call);

    if (rc)
        return rc;
    rc = io_op_end(&op, io_move_all(&op.access, &op.done));
    if (call->where == IO_POINTER)
        io_draw_back(&op);
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, op.req.bytes, false);
    io_op_fini(&op);
    return rc;
}

/* --- the individual file pointer --- */

static int check_sequential(const struct file *file)
{
    if (!(file->amode & MPI_MODE_SEQUENTIAL))
        return 0;
    return refused(file, MPI_ERR_UNSUPPORTED_OPERATION, "was opened with MPI_MODE_SEQUENTIAL: it has no positions");
}

int io_find_target(struct file *file, const struct io_view *view, MPI_Offset offset, int whence, MPI_Offset current,
                   MPI_Offset *target)
{
    MPI_Offset start = 0, size;
    int rc = check_sequential(file);

    if (rc)
        return rc;
    if (whence == MPI_SEEK_CUR) {
        start = current;
    } else if (whence == MPI_SEEK_END) {
        rc = io_get_size(file, &size);
        if (rc)
            return rc;
        /* the first etype that lies behind all the data, whole or not */
        start = view->etype_size ? ((MPI_Offset)io_view_before(view, size) + view->etype_size - 1) / view->etype_size
                                 : 0;
    } else if (whence != MPI_SEEK_SET) {
        return err(MPI_ERR_ARG, "whence is %d; it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    }
    if (__builtin_add_overflow(start, offset, target) || *target < 0)
        return err(MPI_ERR_ARG, "E0908: offset is %lld, which leads from %lld to before the beginning of the view "
                   "of file \"%.200s\"", (long long)offset, (long long)start, file->name);
    return 0;
}

int io_seek(struct file *file, MPI_Offset offset, int whence)
{
    struct io_view *const view = io_view_of(file);
    MPI_Offset current, target;
    int rc = io_get_position(file, &current);

    if (!rc)
        rc = io_find_target(file, view, offset, whence, current, &target);
    io_view_unref(view);
    if (rc)
        return rc;
    pthread_mutex_lock(&file->lock);
    file->position = target;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

int io_get_position(struct file *file, MPI_Offset *offset)
{
    const int rc = check_sequential(file);

    if (rc)
        return rc;
    pthread_mutex_lock(&file->lock);
    *offset = file->position;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

int io_get_byte_offset(struct file *file, MPI_Offset offset, MPI_Offset *disp)
{
    struct io_view *const view = io_view_of(file);
    size_t at = 0;
    int rc = check_sequential(file);

    if (!rc)
        rc = check_offset(file, view, offset, 0, &at);
    if (!rc)
        *disp = view->layout->size ? io_view_place(view, at) : view->disp;
    io_view_unref(view);
    return rc;
}
