/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: handles and special addresses of the standard ABI. Handles below 4096 are predefined and their own value,
 * all others are known to the C library (MPI_*_toint, MPI_*_fromint, MPI 5.0 §20.4.5). Special addresses are
 * variables: of the common blocks of mpif.h, of module mpi, of module mpi_f08.
 * Knows: mpi.h. */
#ifndef FORTRAN_NATIVE_HANDLES_H
#define FORTRAN_NATIVE_HANDLES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef size_t text_length; /* of a text: hidden arguments behind the others */

enum { TEXT_ROOM = MPI_MAX_LIBRARY_VERSION_STRING }; /* the longest text that C gives */

/* --- handles --- */

enum { PREDEFINED_END = 4096 };

#define HANDLE_PAIR(room, Class, Type)                                                                   \
    static inline Type room##_of(int number)                                                             \
    {                                                                                                    \
        return (unsigned)number < PREDEFINED_END ? (Type)(intptr_t)number : PMPI_##Class##_fromint(number); \
    }                                                                                                    \
    static inline int room##_to(Type handle)                                                             \
    {                                                                                                    \
        return (uintptr_t)handle < PREDEFINED_END ? (int)(intptr_t)handle : PMPI_##Class##_toint(handle);  \
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

enum { STATUS_INTEGERS = 8 };

/* As the common blocks of mpif.h have them. */
struct common_addresses {
    int bottom, in_place, buffer_automatic;
    int status_ignore[STATUS_INTEGERS], statuses_ignore[STATUS_INTEGERS];
    int errcodes_ignore[1], unweighted[1], weights_empty[1];
};
struct common_texts {
    char argv_null[1], argvs_null[1];
};
extern struct common_addresses mpifaddresses_;
extern struct common_texts mpiftexts_;

/* In module mpi and in module mpi_f08. */
#define SPECIAL(name) extern char mpifort_##name[], mpifort_f08_##name[];
SPECIAL(bottom)
SPECIAL(in_place)
SPECIAL(buffer_automatic)
SPECIAL(status_ignore)
SPECIAL(statuses_ignore)
SPECIAL(errcodes_ignore)
SPECIAL(unweighted)
SPECIAL(weights_empty)
SPECIAL(argv_null)
SPECIAL(argvs_null)

#define IS_SPECIAL_OF(p, name, common)                                                                    \
    ((const void *)(p) == (const void *)&common.name || (const void *)(p) == (const void *)mpifort_##name \
     || (const void *)(p) == (const void *)mpifort_f08_##name)
#define IS_SPECIAL(p, name) IS_SPECIAL_OF(p, name, mpifaddresses_)
#define IS_SPECIAL_TEXT(p, name) IS_SPECIAL_OF(p, name, mpiftexts_)

static inline void *attached_of(const void *p)
{
    return IS_SPECIAL(p, buffer_automatic) ? MPI_BUFFER_AUTOMATIC : (void *)p;
}

/* A place in the program's own data. */
static inline char *common_place(void)
{
    return (char *)&mpifaddresses_;
}

/* Whether a function that stands for no conversion is one that other libraries of Fortran have. */
static inline bool is_other_conversion_null(void (*fn)(void))
{
    (void)fn;
    return false;
}

#endif
