/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Texts of failed argument checks. Cold: nothing here runs unless an argument is wrong. */
#include "bind/int_check.h"

#include "base/err.h"
#include "bind/int_handle_names.h"

int bind_not_running(void)
{
    const int state = atomic_load(&process.state);

    if (process.is_forked)
        return init_check_forked();
    return err(MPI_ERR_OTHER, state == INIT_NOT_YET ? "E0301: MPI has not been initialised"
                                                    : "E0302: MPI has been finalised already");
}

/* A predefined handle is named. Zero is no handle: most likely a variable that was never set (MPI 5.0 §20.3.2). */
int bind_bad_handle(int error_class, const char *what, uintptr_t value, const char *name)
{
    const char *known = bind_handle_name(value);

    if (known)
        return err(error_class, "%s is %s, which is no %s to be used here", name, known, what);
    if (value == 0)
        return err(error_class, "E0345: %s is 0, which is no %s; was the variable set?", name, what);
    if (value < OBJ_PREDEFINED_END)
        return err(error_class, "%s is %lu, which is no %s", name, (unsigned long)value, what);
    return err(error_class, "E0344: %s is 0x%lx, which is no %s (freed already?)", name, (unsigned long)value, what);
}

int bind_bad_comm(MPI_Comm handle, const char *name)
{
    if (obj_find((uintptr_t)handle, OBJ_COMM_COMING))
        return err(MPI_ERR_COMM, "%s is not complete: the request of MPI_Comm_idup comes first", name);
    return bind_bad_handle(MPI_ERR_COMM, "communicator", (uintptr_t)handle, name);
}

int bind_bad_comm_side(const struct comm *comm, const char *name)
{
    char label[COMM_LABEL_SIZE];

    return err(MPI_ERR_COMM, "%s (%s) is an %scommunicator; the call needs an %scommunicator", name,
               obj_comm_label(comm, label), comm->is_inter ? "inter" : "intra",
               comm->is_inter ? "intra" : "inter");
}

int bind_negative(int error_class, MPI_Count value, const char *name)
{
    return err(error_class, "%s is %lld; it must not be negative", name, (long long)value);
}

int bind_not_positive(int error_class, MPI_Count value, const char *name)
{
    return err(error_class, "%s is %lld; it must be at least 1", name, (long long)value);
}

int bind_negative_at(MPI_Count value, MPI_Count index, const char *name)
{
    return err(MPI_ERR_COUNT, "%s[%lld] is %lld; it must not be negative", name, (long long)index, (long long)value);
}

int bind_bad_rank(int error_class, int rank, int size, const char *also, const char *name)
{
    return err(error_class, "%s is %d; it must be between 0 and %d%s%s", name, rank, size - 1, also ? ", or " : "",
               also ? also : "");
}

int bind_bad_tag(int tag, const char *also, const char *name)
{
    return err(MPI_ERR_TAG, "%s is %d; it must be between 0 and %d%s%s", name, tag, INT_MAX, also ? ", or " : "",
               also ? also : "");
}

int bind_bad_color(int color)
{
    return err(MPI_ERR_ARG, "color is %d; it must not be negative, unless it is MPI_UNDEFINED", color);
}

int bind_null(const char *name)
{
    return err(MPI_ERR_ARG, "%s is NULL", name);
}

int bind_null_buffer(MPI_Count count, const char *name)
{
    return err(MPI_ERR_BUFFER,
               "E0336: %s is NULL (MPI_BOTTOM); the count is %lld, and the datatype has no absolute addresses", name,
               (long long)count);
}

int bind_too_many(MPI_Count count, MPI_Count size, const char *name)
{
    return err(MPI_ERR_COUNT, "%s is %lld; so many items of %lld bytes are more bytes than MPI_Count can say", name,
               (long long)count, (long long)size);
}

int bind_bad_in_place(const char *name)
{
    return err(MPI_ERR_BUFFER, "E0334: %s is MPI_IN_PLACE, which is not allowed here", name);
}

int bind_too_large(MPI_Count value, const char *name)
{
    return err(MPI_ERR_VALUE_TOO_LARGE, "%s is %lld, which an int cannot hold; use the _c form", name,
               (long long)value);
}

int bind_bad_type_at(MPI_Datatype handle, MPI_Count index, const char *name)
{
    const char *known = bind_handle_name((uintptr_t)handle);

    return err(MPI_ERR_TYPE, "%s[%lld] is %s (0x%lx), which is no datatype to be used here", name, (long long)index,
               known ? known : "unknown", (unsigned long)(uintptr_t)handle);
}

int bind_bad_request_at(MPI_Request handle, int index, const char *name)
{
    const char *known = bind_handle_name((uintptr_t)handle);

    return err(MPI_ERR_REQUEST, "%s[%d] is %s (0x%lx), which is no request", name, index, known ? known : "unknown",
               (unsigned long)(uintptr_t)handle);
}
