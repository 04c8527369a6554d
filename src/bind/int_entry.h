/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. What the generated entry points are written with; only they include it. The public names are
 * visible outside the library, all else is not, so this is the first header of such a file. */
#ifndef BIND_INT_ENTRY_H
#define BIND_INT_ENTRY_H

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "bind/int_check.h"
#include "bind/int_raise.h"

/* MPI_X, which a tool may replace, is another name of PMPI_X (MPI 5.0 §15.2). A door (abi/) exports both names, too,
 * and stands before us: what it calls has a third name (mpi_calls.h). */
#define WEAK_ALIAS(name) \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name))); \
    extern __typeof__(PMPI_##name) bind_own_##name __attribute__((visibility("hidden"), alias("PMPI_" #name)))
/* Names that mpi.h does not declare: kept for programs built with older headers of the ABI. */
#define EXPORTED __attribute__((visibility("default")))
#define OTHER_NAME(other, name) \
    extern EXPORTED __typeof__(PMPI_##name) PMPI_##other __attribute__((alias("PMPI_" #name))); \
    extern EXPORTED __typeof__(PMPI_##name) MPI_##other __attribute__((weak, alias("PMPI_" #name)))

/* An attempt at a short collective call, then the whole way. */
#define SHORT_OR(attempt, call) (likely((rc = (attempt)) != COLL_NOT_SHORT) ? rc : (call))

/* Handle of an object that a call gave back; NULL is the null handle. */
#define HANDLE_OF(kind, handle_type, null_handle) \
    static inline handle_type handle_of_##kind(const void *object) \
    { \
        return likely(object) ? (handle_type)obj_handle(object) : null_handle; \
    }

HANDLE_OF(comm, MPI_Comm, MPI_COMM_NULL)
HANDLE_OF(type, MPI_Datatype, MPI_DATATYPE_NULL)
HANDLE_OF(group, MPI_Group, MPI_GROUP_NULL)
HANDLE_OF(op, MPI_Op, MPI_OP_NULL)
HANDLE_OF(info, MPI_Info, MPI_INFO_NULL)
HANDLE_OF(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
HANDLE_OF(request, MPI_Request, MPI_REQUEST_NULL)
HANDLE_OF(message, MPI_Message, MPI_MESSAGE_NULL)
HANDLE_OF(session, MPI_Session, MPI_SESSION_NULL)
HANDLE_OF(win, MPI_Win, MPI_WIN_NULL)
HANDLE_OF(file, MPI_File, MPI_FILE_NULL)

#endif
