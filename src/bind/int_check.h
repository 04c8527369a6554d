/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Checks of arguments, one for each kind of api/kinds.txt. A check returns 0 or an error code with a
 * text that names the parameter and its value; the text is made out of line. On the short path a check is a compare
 * or two: no loop, no call, no memory but the object's own. Loops stand only in checks of arrays. */
#ifndef BIND_INT_CHECK_H
#define BIND_INT_CHECK_H

#include <limits.h>
#include <mpi.h>

#include "base/base.h"
#include "init/init.h"
#include "obj/comm.h"
#include "obj/group.h"
#include "obj/obj.h"
#include "obj/req.h"
#include "type/type.h"

/* --- texts (check.c) --- */

int bind_not_running(void) COLD;
/* `value` is no live object of the class that `what` names ("communicator"). */
int bind_bad_handle(int error_class, const char *what, uintptr_t value, const char *name) COLD;
int bind_null_handle_pointer(int error_class, const char *what, const char *name) COLD;
int bind_bad_comm(MPI_Comm handle, const char *name) COLD;
int bind_bad_comm_side(const struct comm *comm, const char *name) COLD;
int bind_negative(int error_class, MPI_Count value, const char *name) COLD;
int bind_not_positive(int error_class, MPI_Count value, const char *name) COLD;
int bind_negative_at(MPI_Count value, MPI_Count index, const char *name) COLD;
int bind_bad_rank(int error_class, int rank, int size, const char *also, const char *name) COLD;
int bind_bad_tag(int tag, const char *also, const char *name) COLD;
int bind_bad_color(int color) COLD;
int bind_null(const char *name) COLD;
int bind_null_buffer(MPI_Count count, const char *name) COLD;
int bind_too_many(MPI_Count count, MPI_Count size, const char *name) COLD;
int bind_bad_in_place(const char *name) COLD;
int bind_too_large(MPI_Count value, const char *name) COLD;
int bind_bad_type_at(MPI_Datatype handle, MPI_Count index, const char *name) COLD;
int bind_bad_request_at(MPI_Request handle, int index, const char *name) COLD;

/* The makers of texts never return 0. The compiler may know, and keeps what follows a failed check out of the way. */
static ALWAYS_INLINE int failed(int rc)
{
    if (!rc)
        __builtin_unreachable();
    return rc;
}

/* --- state --- */

/* MPI has been initialised (world or a session) and not been finalised. */
static ALWAYS_INLINE int check_running(void)
{
    return likely(init_is_running()) ? 0 : failed(bind_not_running());
}

/* --- handles --- */

static ALWAYS_INLINE int check_comm(const struct comm *comm, MPI_Comm handle, const char *name)
{
    return likely(comm) ? 0 : failed(bind_bad_comm(handle, name));
}

static inline int check_comm_early(const struct comm *comm, MPI_Comm handle, const char *name)
{
    return check_comm(comm, handle, name);
}

static inline int check_comm_intra(const struct comm *comm, MPI_Comm handle, const char *name)
{
    const int rc = check_comm(comm, handle, name);

    return rc ? rc : comm->is_inter ? failed(bind_bad_comm_side(comm, name)) : 0;
}

static inline int check_comm_inter(const struct comm *comm, MPI_Comm handle, const char *name)
{
    const int rc = check_comm(comm, handle, name);

    return rc ? rc : comm->is_inter ? 0 : failed(bind_bad_comm_side(comm, name));
}

static inline int check_comm_or_null(const struct comm *comm, MPI_Comm handle, const char *name)
{
    return handle == MPI_COMM_NULL ? 0 : check_comm(comm, handle, name);
}

static ALWAYS_INLINE int check_type(const struct type *type, MPI_Datatype handle, const char *name)
{
    return likely(type) ? 0 : failed(bind_bad_handle(MPI_ERR_TYPE, "datatype", (uintptr_t)handle, name));
}

static inline int check_type_or_null(const struct type *type, MPI_Datatype handle, const char *name)
{
    return handle == MPI_DATATYPE_NULL ? 0 : check_type(type, handle, name);
}

/* Fit for communication. */
static ALWAYS_INLINE int check_type_used(const struct type *type, MPI_Datatype handle, const char *name)
{
    if (unlikely(!type))
        return failed(bind_bad_handle(MPI_ERR_TYPE, "datatype", (uintptr_t)handle, name));
    return likely(type->is_committed) ? 0 : failed(type_check_usable(type));
}

static inline int check_group(const struct group *group, MPI_Group handle, const char *name)
{
    return likely(group) ? 0 : failed(bind_bad_handle(MPI_ERR_GROUP, "group", (uintptr_t)handle, name));
}

static inline int check_op(const struct op *op, MPI_Op handle, const char *name)
{
    return likely(op) ? 0 : failed(bind_bad_handle(MPI_ERR_OP, "operator", (uintptr_t)handle, name));
}

static inline int check_info(const struct info *info, MPI_Info handle, const char *name)
{
    return likely(info) ? 0 : failed(bind_bad_handle(MPI_ERR_INFO, "info object", (uintptr_t)handle, name));
}

static inline int check_info_or_null(const struct info *info, MPI_Info handle, const char *name)
{
    return handle == MPI_INFO_NULL ? 0 : check_info(info, handle, name);
}

static inline int check_errhandler(const struct errhandler *object, MPI_Errhandler handle, const char *name)
{
    if (likely(object))
        return 0;
    return failed(bind_bad_handle(MPI_ERR_ERRHANDLER, "error handler", (uintptr_t)handle, name));
}

static inline int check_request(const struct req *request, MPI_Request handle, const char *name)
{
    return likely(request) ? 0 : failed(bind_bad_handle(MPI_ERR_REQUEST, "request", (uintptr_t)handle, name));
}

static inline int check_request_or_null(const struct req *request, MPI_Request handle, const char *name)
{
    return handle == MPI_REQUEST_NULL ? 0 : check_request(request, handle, name);
}

/* The same before the request is looked up: for Wait and Test, which take the variable. */
static ALWAYS_INLINE int check_request_variable(const MPI_Request *request, const char *name)
{
    if (likely(obj_request(*request)) || *request == MPI_REQUEST_NULL)
        return 0;
    return failed(bind_bad_handle(MPI_ERR_REQUEST, "request", (uintptr_t)*request, name));
}

/* The standard has no error class for messages; they are requests in being. */
static inline int check_message(const struct message *message, MPI_Message handle, const char *name)
{
    return likely(message) ? 0 : failed(bind_bad_handle(MPI_ERR_REQUEST, "message", (uintptr_t)handle, name));
}

static inline int check_session(const struct session *session, MPI_Session handle, const char *name)
{
    return likely(session) ? 0 : failed(bind_bad_handle(MPI_ERR_SESSION, "session", (uintptr_t)handle, name));
}

static inline int check_win(const struct win *win, MPI_Win handle, const char *name)
{
    return likely(win) ? 0 : failed(bind_bad_handle(MPI_ERR_WIN, "window", (uintptr_t)handle, name));
}

static inline int check_win_or_null(const struct win *win, MPI_Win handle, const char *name)
{
    return handle == MPI_WIN_NULL ? 0 : check_win(win, handle, name);
}

static inline int check_file(const struct file *file, MPI_File handle, const char *name)
{
    return likely(file) ? 0 : failed(bind_bad_handle(MPI_ERR_FILE, "file", (uintptr_t)handle, name));
}

static inline int check_file_or_null(const struct file *file, MPI_File handle, const char *name)
{
    return handle == MPI_FILE_NULL ? 0 : check_file(file, handle, name);
}

/* --- numbers --- */

static ALWAYS_INLINE int check_count(MPI_Count count, const char *name)
{
    return likely(count >= 0) ? 0 : failed(bind_negative(MPI_ERR_COUNT, count, name));
}

/* Also lengths of arrays, sizes, numbers of dimensions: what has no class of its own. */
static inline int check_number(MPI_Count number, const char *name)
{
    return likely(number >= 0) ? 0 : failed(bind_negative(MPI_ERR_ARG, number, name));
}

static inline int check_positive(MPI_Count number, const char *name)
{
    return likely(number > 0) ? 0 : failed(bind_not_positive(MPI_ERR_ARG, number, name));
}

static inline int check_size(MPI_Aint size, const char *name)
{
    return likely(size >= 0) ? 0 : failed(bind_negative(MPI_ERR_SIZE, size, name));
}

static inline int check_disp(MPI_Aint disp, const char *name)
{
    return likely(disp >= 0) ? 0 : failed(bind_negative(MPI_ERR_DISP, disp, name));
}

static inline int check_disp_unit(MPI_Aint unit, const char *name)
{
    return likely(unit > 0) ? 0 : failed(bind_not_positive(MPI_ERR_DISP, unit, name));
}

static inline int check_color(int color)
{
    return likely(color >= 0 || color == MPI_UNDEFINED) ? 0 : failed(bind_bad_color(color));
}

/* --- ranks and tags --- */

/* 0 <= rank < size by one compare. */
static ALWAYS_INLINE bool is_rank(int rank, int size)
{
    return (unsigned)rank < (unsigned)size;
}

static ALWAYS_INLINE int check_dest(int rank, const struct comm *comm, const char *name)
{
    if (likely(is_rank(rank, comm->remote_size)) || rank == MPI_PROC_NULL)
        return 0;
    return failed(bind_bad_rank(MPI_ERR_RANK, rank, comm->remote_size, "MPI_PROC_NULL", name));
}

static ALWAYS_INLINE int check_source(int rank, const struct comm *comm, const char *name)
{
    if (likely(is_rank(rank, comm->remote_size)) || rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL)
        return 0;
    return failed(
        bind_bad_rank(MPI_ERR_RANK, rank, comm->remote_size, "MPI_ANY_SOURCE or MPI_PROC_NULL", name));
}

/* Partitioned receives have no wildcards (MPI 5.0 §4.2.1). */
static inline int check_source_exact(int rank, const struct comm *comm, const char *name)
{
    return check_dest(rank, comm, name);
}

static inline int check_rank(int rank, const struct comm *comm, const char *name)
{
    if (likely(is_rank(rank, comm->size)))
        return 0;
    return failed(bind_bad_rank(MPI_ERR_RANK, rank, comm->size, NULL, name));
}

static inline int check_rank_group(int rank, const struct group *group, const char *name)
{
    if (likely(is_rank(rank, group->size)))
        return 0;
    return failed(bind_bad_rank(MPI_ERR_RANK, rank, group->size, NULL, name));
}

/* MPI 5.0 §6.2.3: in an intercommunicator the root's group says MPI_ROOT or MPI_PROC_NULL. */
static inline int check_root(int root, const struct comm *comm, const char *name)
{
    if (likely(is_rank(root, comm->remote_size)))
        return 0;
    if (comm->is_inter && (root == MPI_ROOT || root == MPI_PROC_NULL))
        return 0;
    const char *also = comm->is_inter ? "MPI_ROOT or MPI_PROC_NULL" : NULL;
    return failed(bind_bad_rank(MPI_ERR_ROOT, root, comm->remote_size, also, name));
}

/* Whose arguments count in a rooted collective: the root's; those of the processes that send to it or receive
 * from it; those of both. Call after check_root. */
static inline bool at_root(const struct comm *comm, int root)
{
    return comm->is_inter ? root == MPI_ROOT : root == comm->rank;
}

static inline bool at_leaf(const struct comm *comm, int root)
{
    return !comm->is_inter || root >= 0;
}

static inline bool at_both(const struct comm *comm, int root)
{
    return !comm->is_inter || root != MPI_PROC_NULL;
}

/* Where an exclusive scan has a result, or takes its operand from there. */
static inline bool at_later(const struct comm *comm, const void *sendbuf)
{
    return comm->rank > 0 || sendbuf == MPI_IN_PLACE;
}

static ALWAYS_INLINE int check_send_tag(int tag, const char *name)
{
    return likely(tag >= 0) ? 0 : failed(bind_bad_tag(tag, NULL, name));
}

static ALWAYS_INLINE int check_recv_tag(int tag, const char *name)
{
    return likely(tag >= 0) || tag == MPI_ANY_TAG ? 0 : failed(bind_bad_tag(tag, "MPI_ANY_TAG", name));
}

/* --- pointers --- */

static ALWAYS_INLINE int check_pointer(const void *pointer, const char *name)
{
    return likely(pointer) ? 0 : failed(bind_null(name));
}

/* A count of a large form may be so large that nobody can say how many bytes there are. `type` is checked. */
static ALWAYS_INLINE int check_sum(MPI_Count count, const struct type *type, const char *name)
{
    MPI_Count bytes;

    return likely(!__builtin_mul_overflow(count, type->size, &bytes)) ? 0
                                                                      : failed(bind_too_many(count, type->size, name));
}

/* NULL is MPI_BOTTOM, which is an address only for types with absolute displacements. `type` is checked. */
static ALWAYS_INLINE int check_buffer(const void *buffer, MPI_Count count, const struct type *type,
                                      const char *name)
{
    if (likely((uintptr_t)buffer > (uintptr_t)MPI_IN_PLACE))
        return 0;
    if (buffer)
        return failed(bind_bad_in_place(name));
    return count > 0 && type->obj.predefined && type->size > 0 ? failed(bind_null_buffer(count, name)) : 0;
}

static inline int check_not_in_place(const void *buffer, const char *name)
{
    return likely(buffer != MPI_IN_PLACE) ? 0 : failed(bind_bad_in_place(name));
}

/* MPI_IN_PLACE is for intracommunicators only (MPI 5.0 §6.2.3). */
static inline int check_in_place(const struct comm *comm, const char *name)
{
    return comm->is_inter ? failed(bind_bad_in_place(name)) : 0;
}

/* --- arrays --- */

static inline int check_array(const void *array, MPI_Count length, const char *name)
{
    return likely(array) || length <= 0 ? 0 : failed(bind_null(name));
}

/* Counts are int in one form of a call and MPI_Count in the other. */
#define check_counts(counts, length, name) \
    _Generic((counts), const int *: check_counts_small, \
                       const MPI_Count *: check_counts_large)(counts, length, name)

static inline int check_counts_small(const int *counts, MPI_Count length, const char *name)
{
    if (!counts)
        return check_array(NULL, length, name);
    for (MPI_Count i = 0; i < length; i++)
        if (unlikely(counts[i] < 0))
            return failed(bind_negative_at(counts[i], i, name));
    return 0;
}

static inline int check_counts_large(const MPI_Count *counts, MPI_Count length, const char *name)
{
    if (!counts)
        return check_array(NULL, length, name);
    for (MPI_Count i = 0; i < length; i++)
        if (unlikely(counts[i] < 0))
            return failed(bind_negative_at(counts[i], i, name));
    return 0;
}

static inline int check_types(const MPI_Datatype *types, MPI_Count length, const char *name)
{
    if (!types)
        return check_array(NULL, length, name);
    for (MPI_Count i = 0; i < length; i++)
        if (unlikely(!obj_type(types[i])))
            return failed(bind_bad_type_at(types[i], i, name));
    return 0;
}

static inline int check_types_used(const MPI_Datatype *types, MPI_Count length, const char *name)
{
    const int rc = check_types(types, length, name);

    for (MPI_Count i = 0; !rc && i < length; i++)
        if (unlikely(!obj_type(types[i])->is_committed))
            return type_check_usable(obj_type(types[i]));
    return rc;
}

static inline int check_requests(const MPI_Request *requests, int length, const char *name)
{
    if (!requests)
        return check_array(NULL, length, name);
    for (int i = 0; i < length; i++)
        if (unlikely(!obj_request(requests[i])))
            return failed(bind_bad_request_at(requests[i], i, name));
    return 0;
}

static inline int check_requests_or_null(const MPI_Request *requests, int length, const char *name)
{
    if (!requests)
        return check_array(NULL, length, name);
    for (int i = req_first(length, requests); i < length; i++)
        if (requests[i] != MPI_REQUEST_NULL && unlikely(!obj_request(requests[i])))
            return failed(bind_bad_request_at(requests[i], i, name));
    return 0;
}

/* --- results that are int in one form (MPI 5.0 §2.5.8) --- */

/* For results that have a value for "does not fit". */
static inline int small_or_undefined(MPI_Count value)
{
    return likely(value == (int)value) ? (int)value : MPI_UNDEFINED;
}

/* For results that do not: an error. */
static inline int check_fits(MPI_Count value, const char *name)
{
    return likely(value == (int)value) ? 0 : failed(bind_too_large(value, name));
}

#endif
