/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to Open MPI's Fortran: handles and special addresses as its mpif.h, mpi and mpi_f08 have them. Which number is
 * which handle, the door for C knows (MPI_Comm_f2c and its like). Special addresses are common blocks, of which the
 * linker makes one each for the program and its libraries.
 * Knows: mpi.h, that of Open MPI. */
#ifndef FORTRAN_OMPI_HANDLES_H
#define FORTRAN_OMPI_HANDLES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fortran passes a size_t; Open MPI's functions in Fortran, which call ours, an int. */
typedef int text_length;

enum { TEXT_ROOM = MPI_MAX_PORT_NAME }; /* the longest text that C gives */

/* --- handles --- */

#define HANDLE_PAIR(room, Class, Type)            \
    extern Type PMPI_##Class##_f2c(int number);   \
    extern int PMPI_##Class##_c2f(Type handle);   \
    static inline Type room##_of(int number)      \
    {                                             \
        return PMPI_##Class##_f2c(number);        \
    }                                             \
    static inline int room##_to(Type handle)      \
    {                                             \
        return PMPI_##Class##_c2f(handle);        \
    }
HANDLE_PAIR(comm, Comm, MPI_Comm)
HANDLE_PAIR(errhandler, Errhandler, MPI_Errhandler)
HANDLE_PAIR(file, File, MPI_File)
HANDLE_PAIR(group, Group, MPI_Group)
HANDLE_PAIR(info, Info, MPI_Info)
HANDLE_PAIR(message, Message, MPI_Message)
HANDLE_PAIR(op, Op, MPI_Op)
HANDLE_PAIR(request, Request, MPI_Request)
HANDLE_PAIR(session, Session, MPI_Session)
HANDLE_PAIR(type, Type, MPI_Datatype)
HANDLE_PAIR(win, Win, MPI_Win)

/* --- special addresses --- */

enum { STATUS_INTEGERS = 6 };

extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_[STATUS_INTEGERS],
    mpi_fortran_statuses_ignore_[STATUS_INTEGERS], mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

#define IS_SPECIAL(p, name) ((const void *)(p) == (const void *)&mpi_fortran_##name##_)
#define IS_SPECIAL_TEXT(p, name) IS_SPECIAL(p, name)

/* There is no MPI_BUFFER_AUTOMATIC. */
static inline void *attached_of(const void *p)
{
    return (void *)p;
}

/* A place in the program's own data. */
static inline char *common_place(void)
{
    return (char *)&mpi_fortran_bottom_;
}

/* MPI_CONVERSION_FN_NULL of mpi_f08, which is in Open MPI's library for that. */
extern void conversion_null_f08(void) __asm__("__mpi_f08_callbacks_MOD_mpi_conversion_fn_null") __attribute__((weak));

static inline bool is_other_conversion_null(void (*fn)(void))
{
    return fn && fn == conversion_null_f08;
}

#endif
