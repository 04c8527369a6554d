/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the Open MPI ABI: its types, and conversions of handles, statuses and addresses.
 *
 * A handle is an address: of a variable of the library (MPI_COMM_WORLD, MPI_INT), or of an object. Our variables of
 * those names begin like an object of the library (src/obj/obj.h), with a kind that is none: so a handle is looked at
 * once, and is either what the variable says or itself. Programs may have copied a variable to themselves when they
 * started, and then its address is there; the table of addresses is filled by the dynamic linker. */
#ifndef ABI_H
#define ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "facts.h"

typedef struct f_comm *F_Comm;
typedef struct f_type *F_Datatype;
typedef struct f_group *F_Group;
typedef struct f_op *F_Op;
typedef struct f_info *F_Info;
typedef struct f_errhandler *F_Errhandler;
typedef struct f_request *F_Request;
typedef struct f_message *F_Message;
typedef struct f_session *F_Session;
typedef struct f_win *F_Win;
typedef struct f_file *F_File;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int cancelled;
    size_t bytes;
} F_Status;

enum { PREDEFINED_KIND = 0xd0 };

struct predefined {
    uint8_t kind;   /* PREDEFINED_KIND */
    uint8_t unused;
    uint16_t value; /* of the standard ABI */
    int32_t number; /* what it is in Fortran, or -1 */
};

/* The variable of a predefined handle. */
#define PREDEFINED_VARIABLE(symbol, bytes)                                    \
    extern union symbol##_variable {                                          \
        struct predefined predefined;                                         \
        char room[bytes];                                                     \
    } symbol __attribute__((visibility("default")))
#define PREDEFINED(symbol, bytes, value, number)                              \
    PREDEFINED_VARIABLE(symbol, bytes);                                       \
    union symbol##_variable symbol = { { PREDEFINED_KIND, 0, value, number } }

/* Persistent collectives had other names at first. */
#define MPIX_ALIAS(name)                                                                                              \
    extern EXPORTED __typeof__(PMPI_##name) PMPIX_##name __attribute__((alias("PMPI_" #name)));                       \
    extern EXPORTED __typeof__(PMPI_##name) MPIX_##name __attribute__((weak, alias("PMPI_" #name)))

#define F_IS_IGNORED(statuses) (!(statuses))
/* An error code is its class: a code of the library's own, which tells more, is not what programs compare with. */
#define F_CODE(error_class, slot) (error_class)
#define F_CODE_CLASS(code) (code)
#define F_CODE_SLOT(code) 0
#define F_REQUEST_NULL ((F_Request)out_table[(uintptr_t)MPI_REQUEST_NULL])
#define F_IN_PLACE_ADDRESS ((const void *)F_IN_PLACE)

enum { FORTRAN_NUMBERS = 96 };

extern void *const out_table[1024]; /* by value of the standard ABI */
/* By number in Fortran. */
extern void *const fortran_comm_table[FORTRAN_NUMBERS], *const fortran_type_table[FORTRAN_NUMBERS],
    *const fortran_op_table[FORTRAN_NUMBERS], *const fortran_group_table[FORTRAN_NUMBERS],
    *const fortran_info_table[FORTRAN_NUMBERS], *const fortran_errhandler_table[FORTRAN_NUMBERS],
    *const fortran_request_table[FORTRAN_NUMBERS], *const fortran_message_table[FORTRAN_NUMBERS],
    *const fortran_session_table[FORTRAN_NUMBERS], *const fortran_win_table[FORTRAN_NUMBERS],
    *const fortran_file_table[FORTRAN_NUMBERS];
extern const short out_class_table[64], out_tool_table[32], in_class_table[128];

static inline uintptr_t handle_in(const void *handle)
{
    const struct predefined *const object = handle;

    if ((uintptr_t)handle < 4096)
        return 0;
    return object->kind == PREDEFINED_KIND ? object->value : (uintptr_t)handle;
}

static inline void *handle_out(uintptr_t handle)
{
    return handle < 1024 ? out_table[handle] : (void *)handle;
}

#define HANDLE(name, native, f_type)                    \
    static inline native in_##name(f_type handle)      \
    {                                                  \
        return (native)handle_in(handle);              \
    }                                                  \
    static inline f_type out_##name(native handle)     \
    {                                                  \
        return (f_type)handle_out((uintptr_t)handle);  \
    }
HANDLE(comm, MPI_Comm, F_Comm)
HANDLE(group, MPI_Group, F_Group)
HANDLE(type, MPI_Datatype, F_Datatype)
HANDLE(errhandler, MPI_Errhandler, F_Errhandler)
HANDLE(op, MPI_Op, F_Op)
HANDLE(info, MPI_Info, F_Info)
HANDLE(win, MPI_Win, F_Win)
HANDLE(request, MPI_Request, F_Request)
HANDLE(message, MPI_Message, F_Message)
HANDLE(session, MPI_Session, F_Session)
HANDLE(file, MPI_File, F_File)
#undef HANDLE

/* Markers in structures that MPI 3.0 has removed; datatypes that the standard ABI has not (extras.c). */
PREDEFINED_VARIABLE(ompi_mpi_lb, 512);
PREDEFINED_VARIABLE(ompi_mpi_ub, 512);
PREDEFINED_VARIABLE(ompi_mpi_2cplex, 512);
PREDEFINED_VARIABLE(ompi_mpi_2dblcplex, 512);

static inline bool is_marker_lb(F_Datatype type)
{
    return (const void *)type == &ompi_mpi_lb;
}

static inline bool is_marker_ub(F_Datatype type)
{
    return (const void *)type == &ompi_mpi_ub;
}

static inline const void *in_buffer(const void *buffer)
{
    return buffer;
}

static inline const int *in_weights(const int *weights)
{
    if ((uintptr_t)weights == F_UNWEIGHTED)
        return MPI_UNWEIGHTED;
    return (uintptr_t)weights == F_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY : weights;
}

static inline void status_bytes_in(const F_Status *from, MPI_Status *to)
{
    memcpy(&to->MPI_internal[0], &from->bytes, sizeof from->bytes);
    to->MPI_internal[2] = from->cancelled;
    to->MPI_internal[3] = to->MPI_internal[4] = 0;
}

static inline void status_bytes_out(const MPI_Status *from, F_Status *to)
{
    memcpy(&to->bytes, &from->MPI_internal[0], sizeof to->bytes);
    to->cancelled = from->MPI_internal[2];
}

#endif
