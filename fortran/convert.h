/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: what the generated routines use to turn arguments of Fortran into those of C and back (MPI 5.0 §19.3).
 *
 * Handles are INTEGER; special addresses are variables: which, says handles.h of the ABI that this is compiled for
 * (native/; for programs of Open MPI abi/ompi/fortran/). Everything is callable by any thread at any time, unless it
 * says otherwise.
 * Knows: mpi.h, handles.h. Does not know: the C library behind it, the compiler of the program. */
#ifndef FORTRAN_CONVERT_H
#define FORTRAN_CONVERT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handles.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef void (*fortran_fn)(void); /* an external procedure of Fortran */

/* --- special addresses --- */

/* What MPI_BOTTOM of Fortran is in C (addresses.h): MPI_BOTTOM, but for programs that call MPI_ADDRESS. */
extern _Atomic(char *) fortran_bottom;

static inline void *buffer_of(const void *p)
{
    if (UNLIKELY(IS_SPECIAL(p, in_place)))
        return MPI_IN_PLACE;
    if (UNLIKELY(IS_SPECIAL(p, bottom)))
        return fortran_bottom;
    return (void *)p;
}

static inline MPI_Status *status_of(const void *p)
{
    return UNLIKELY(IS_SPECIAL(p, status_ignore)) ? MPI_STATUS_IGNORE : (MPI_Status *)p;
}

/* Programs mix up the two. */
static inline MPI_Status *statuses_of(const void *p)
{
    return UNLIKELY(IS_SPECIAL(p, statuses_ignore)) ? MPI_STATUSES_IGNORE : status_of(p);
}

static inline int *weights_of(const int *p)
{
    if (IS_SPECIAL(p, unweighted))
        return MPI_UNWEIGHTED;
    return IS_SPECIAL(p, weights_empty) ? MPI_WEIGHTS_EMPTY : (int *)p;
}

static inline int *errcodes_of(int *p)
{
    return IS_SPECIAL(p, errcodes_ignore) ? MPI_ERRCODES_IGNORE : p;
}

/* --- numbers --- */

/* ierror, which mpi_f08 may leave out. */
static inline void give(int *ierror, int rc)
{
    if (ierror)
        *ierror = rc;
}

/* A place in an array: counted from 1 in Fortran. */
static inline int index_to(int place)
{
    return place == MPI_UNDEFINED ? place : place + 1;
}
static inline void indices_to(int *places, const int *count)
{
    for (int i = 0; i < *count; i++)
        places[i]++;
}

/* --- arrays and texts, copied --- */

/* Memory for one call; the first bytes need no allocation. Zero `at` before the first use, free it in the end. */
struct room {
    void *at;
    _Alignas(16) char inside[512];
};

/* `count` times `size` bytes, or NULL without memory. A negative count is none: the C library will refuse it. */
void *room_take(struct room *room, MPI_Count count, size_t size);
void room_free(struct room *room);

/* Arrays of handles: those of `numbers`, or NULL without memory. */
MPI_Datatype *types_of(struct room *room, const int *numbers, MPI_Count count);
MPI_Request *requests_of(struct room *room, const int *numbers, MPI_Count count);
MPI_Info *infos_of(struct room *room, const int *numbers, MPI_Count count);
/* As many null handles. */
MPI_Datatype *null_types(struct room *room, MPI_Count count);

/* Back: those that differ from what `numbers` says; of datatypes those that are not null. */
void requests_to(int *numbers, const MPI_Request *handles, MPI_Count count);
void types_to(int *numbers, const MPI_Datatype *handles, MPI_Count count);

/* How many entries the arrays of a collective call have, by its communicator: one for each process of the remote
 * group or else of the group; one for each edge in or out. 0 if it has none (then the C library will say so). */
int peers_of(MPI_Comm comm);
int indegree_of(MPI_Comm comm);
int outdegree_of(MPI_Comm comm);
bool is_root_of(MPI_Comm comm, int root);

/* A text of Fortran with an end: without the blanks behind it, and with `both` without those before it. NULL without
 * memory. */
char *text_of(struct room *room, const char *text, size_t length, bool both);
/* Back, filled up with blanks or cut off. */
void text_to(char *text, size_t length, const char *from);

/* `count` texts of `length` characters, or with a count of -1 as many as stand before a blank one; then NULL. Texts
 * lie `stride` characters apart. NULL without memory. */
char **texts_of(struct room *room, const char *texts, size_t length, size_t stride, int count);
/* The second argument of MPI_Comm_spawn_multiple: row i of a (count, *) array. */
char ***argvs_of(struct room *room, const char *texts, size_t length, int count);
static inline bool is_argv_null(const char *p)
{
    return IS_SPECIAL_TEXT(p, argv_null);
}
static inline bool is_argvs_null(const char *p)
{
    return IS_SPECIAL_TEXT(p, argvs_null);
}

/* --- errors of this layer --- */

/* Raises an error of `error_class` with a text on MPI_COMM_SELF and returns its code. `code` keeps the code from one
 * call to the next; it belongs to this text. */
int fortran_fail(int *code, int error_class, const char *text);
int no_memory(void);

#endif
