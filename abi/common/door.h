/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: what the functions of a door are written with, generated ones and those by hand. abi.h is that of the door;
 * types and numbers that begin with F_ are the program's, those that begin with MPI_ the library's. */
#ifndef DOOR_H
#define DOOR_H

#include "abi.h"

#include <mpi_calls.h>

#include "base/base.h"

#define EXPORTED __attribute__((visibility("default")))
/* MPI_X, which a tool may replace, is another name of PMPI_X. */
#define WEAK_ALIAS(name) extern EXPORTED __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))
/* A function with both names; what follows is its body. */
#define DOOR(result, name, ...)                  \
    EXPORTED result PMPI_##name(__VA_ARGS__);    \
    WEAK_ALIAS(name);                            \
    result PMPI_##name(__VA_ARGS__)

enum {
    DOOR_NEAR = 64, /* arrays up to this length are converted on the stack */
    FIRST_TOOL_CODE = 1001, /* MPI_T_ERR_CANNOT_INIT, the first of them */
    TOOL_CODES = 18,
};

/* --- what is said when it cannot go on (door.c) --- */

/* Ends the job. */
_Noreturn void door_die(const char *text) COLD;
/* A function that there is not: an error on the communicator, which returns. */
int door_unsupported(MPI_Comm comm, const char *function) COLD;
/* Zeroed memory that stays until the process ends. Ends the job if there is none. */
void *door_memory(size_t bytes);
/* Room for `n` elements: `near`, which has DOOR_NEAR of them, if it is enough. Ends the job if there is no memory. */
void *door_far(size_t n, size_t size) COLD;
void door_far_done(void *room) COLD;

static inline int door_length(const void *array, int n)
{
    return array && n > 0 ? n : 0;
}

static inline void *door_room(void *near, int n, size_t size)
{
    return likely(n <= DOOR_NEAR) ? near : door_far((size_t)n, size);
}

static inline void door_room_done(void *room, void *near)
{
    if (unlikely(room != near))
        door_far_done(room);
}

/* --- what an array is as long as (door.c) --- */

/* Ranks that a collective call on it talks to. */
int door_peers(MPI_Comm comm);
/* Neighbours in its topology, out or in. */
int door_degree(MPI_Comm comm, bool is_out);

/* --- functions of the program (attributes.c, functions.c) --- */

/* What a key for attributes was made with; it stays, since attributes outlive their keys. */
struct keyval {
    void (*copy)(void);
    void (*delete)(void);
    void *extra_state;
    int number; /* the program's */
    struct keyval *next;
};

/* The newest key of this number that has functions; NULL: none. */
struct keyval *door_keyval(int number);

/* The functions of the generalized request that this thread has started last are of Fortran. */
void door_grequest_is_fortran(void);

/* --- values --- */

/* `from` into `to`, which has room for `size` characters with the zero. */
void door_text(char *to, const char *from, int size, int *length);

int door_out_code(int code) COLD;
int door_in_code(int code) COLD;
/* The same for a code whose text is wanted: where codes are classes, the code that the thread was told last by it. */
int in_told_code(int code) COLD;

static inline int out_code(int code)
{
    return likely(code == MPI_SUCCESS) ? MPI_SUCCESS : door_out_code(code);
}

static inline int in_code(int code)
{
    return code == MPI_SUCCESS ? MPI_SUCCESS : door_in_code(code);
}

static inline int in_rank(int rank)
{
    if (likely(rank >= 0))
        return rank;
    switch (rank) {
    case F_PROC_NULL: return MPI_PROC_NULL;
    case F_ANY_SOURCE: return MPI_ANY_SOURCE;
    case F_ROOT: return MPI_ROOT;
    case F_UNDEFINED: return MPI_UNDEFINED;
    default: return INT_MIN;
    }
}

static inline int out_rank(int rank)
{
    if (likely(rank >= 0))
        return rank;
    switch (rank) {
    case MPI_PROC_NULL: return F_PROC_NULL;
    case MPI_ANY_SOURCE: return F_ANY_SOURCE;
    case MPI_ROOT: return F_ROOT;
    default: return rank;
    }
}

static inline int in_tag(int tag)
{
    if (likely(tag >= 0))
        return tag;
    return tag == F_ANY_TAG ? MPI_ANY_TAG : INT_MIN;
}

static inline int out_tag(int tag)
{
    return unlikely(tag == MPI_ANY_TAG) ? F_ANY_TAG : tag;
}

static inline MPI_Offset in_displacement(MPI_Offset displacement)
{
    return displacement == F_DISPLACEMENT_CURRENT ? MPI_DISPLACEMENT_CURRENT : displacement;
}

static inline MPI_T_pvar_handle in_pvar(MPI_T_pvar_handle handle)
{
    return (intptr_t)handle == F_T_PVAR_ALL_HANDLES ? MPI_T_PVAR_ALL_HANDLES : handle;
}

/* --- statuses --- */

enum { UNTOUCHED = INT_MIN }; /* what no call of the library puts into a status */

/* The program's status as one of ours, in `to`; or NULL where it is ignored. */
static inline MPI_Status *in_status(const F_Status *from, MPI_Status *to)
{
    if (F_IS_IGNORED(from))
        return MPI_STATUS_IGNORE;
    to->MPI_SOURCE = in_rank(from->MPI_SOURCE);
    to->MPI_TAG = in_tag(from->MPI_TAG);
    to->MPI_ERROR = in_code(from->MPI_ERROR);
    status_bytes_in(from, to);
    return to;
}

/* The same for a call that changes a part of it: what it leaves is not to come back changed. */
static inline MPI_Status *changed_status(const F_Status *from, MPI_Status *to)
{
    if (F_IS_IGNORED(from))
        return MPI_STATUS_IGNORE;
    to->MPI_SOURCE = to->MPI_TAG = to->MPI_ERROR = UNTOUCHED;
    status_bytes_in(from, to);
    return to;
}

/* The same for a call that fills it in, perhaps. */
static inline MPI_Status *new_status(const F_Status *from, MPI_Status *to)
{
    if (F_IS_IGNORED(from))
        return MPI_STATUS_IGNORE;
    to->MPI_SOURCE = UNTOUCHED;
    to->MPI_ERROR = UNTOUCHED;
    return to;
}

/* Back to the program: what the call has not touched stays as it is there. */
static inline void out_status(const MPI_Status *from, F_Status *to)
{
    if (from->MPI_SOURCE != UNTOUCHED) {
        to->MPI_SOURCE = out_rank(from->MPI_SOURCE);
        to->MPI_TAG = out_tag(from->MPI_TAG);
        status_bytes_out(from, to);
    }
    if (from->MPI_ERROR != UNTOUCHED)
        to->MPI_ERROR = out_code(from->MPI_ERROR);
}

static inline void out_changed_status(const MPI_Status *from, F_Status *to)
{
    if (from->MPI_SOURCE != UNTOUCHED)
        to->MPI_SOURCE = out_rank(from->MPI_SOURCE);
    if (from->MPI_TAG != UNTOUCHED)
        to->MPI_TAG = out_tag(from->MPI_TAG);
    if (from->MPI_ERROR != UNTOUCHED)
        to->MPI_ERROR = out_code(from->MPI_ERROR);
    status_bytes_out(from, to);
}

#endif
