/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. The usual case of calls that take a few nanoseconds, under one condition for all that their checks ask:
 * MPI_Pack and MPI_Unpack of one item of a type with gaps, which has a way of its own; MPI_Reduce_local of items that
 * the operator is made for. The arguments are the user's; true: all is done; false: nothing is, and the checks say what
 * is wrong, if anything is. */
#ifndef BIND_INT_QUICK_H
#define BIND_INT_QUICK_H

#include <mpi.h>

#include "init/init.h"
#include "obj/obj.h"
#include "op/op.h"
#include "type/type.h"

/* Does an item fit from `position` on? Then it also ends where an int can say. */
static ALWAYS_INLINE bool quick_fits(const struct type *type, int size, int position)
{
    return position >= 0 && type->size <= (MPI_Count)size - position;
}

/* Room for an item, or its data, at *position of a pack buffer, and memory for it at `buf`. */
static ALWAYS_INLINE bool quick_item(const void *buf, int count, MPI_Datatype handle, int size, const int *position,
                                     MPI_Comm comm)
{
    const struct type *const type = (const struct type *)handle;

    return likely(count == 1 && (uintptr_t)handle >= OBJ_PREDEFINED_END && type->obj.kind == OBJ_TYPE &&
                  type->one.pack && position && quick_fits(type, size, *position) &&
                  (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE && obj_comm(comm) && init_is_running());
}

static ALWAYS_INLINE bool quick_pack(const void *in, int count, MPI_Datatype handle, void *out, int size, int *position,
                                     MPI_Comm comm)
{
    const struct type *const type = (const struct type *)handle;
    char *stream;

    if (!quick_item(in, count, handle, size, position, comm))
        return false;
    stream = (char *)out + *position;
    *position += (int)type->size;
    type->one.pack(type->how, (uintptr_t)in + (uintptr_t)type->plan.disp, stream);
    return true;
}

static ALWAYS_INLINE bool quick_unpack(const void *in, int size, int *position, void *out, int count,
                                       MPI_Datatype handle, MPI_Comm comm)
{
    const struct type *const type = (const struct type *)handle;
    char *stream;

    if (!quick_item(out, count, handle, size, position, comm))
        return false;
    stream = (char *)(uintptr_t)in + *position;
    *position += (int)type->size;
    type->one.unpack(type->how, (uintptr_t)out + (uintptr_t)type->plan.disp, stream);
    return true;
}

/* The buffers do not overlap, and neither is NULL nor MPI_IN_PLACE. `bytes` is not 0. */
static ALWAYS_INLINE bool quick_apart(const void *in, const void *inout, size_t bytes)
{
    const uintptr_t a = (uintptr_t)in, b = (uintptr_t)inout, none = (uintptr_t)MPI_IN_PLACE;

    return a > none && b > none && a - b + (bytes - 1) >= 2 * bytes - 1;
}

/* Only predefined operators have kernels. */
static ALWAYS_INLINE bool quick_reduce(const void *in, void *inout, int count, MPI_Datatype type_handle,
                                       MPI_Op op_handle)
{
    const struct op *const op = likely((uintptr_t)op_handle < OBJ_PREDEFINED_END) ? obj_op(op_handle) : NULL;
    const struct type *type;

    if (unlikely(!op || count <= 0 || !init_is_running()))
        return false;
    type = obj_type(type_handle);
    if (unlikely(!type || !(op->classes >> type->type_class & 1) || !type->is_committed ||
                 !quick_apart(in, inout, (size_t)count * (size_t)type->extent)))
        return false;
    op->kernels[type->kind](in, inout, count);
    return true;
}

#endif
