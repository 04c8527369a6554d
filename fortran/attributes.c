/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: attributes between languages (MPI 5.0 §19.3.7). What Fortran sets is an integer, and C must find a pointer
 * to it; what C sets is a pointer, and Fortran finds it as an integer. So values of Fortran stand in boxes: one for
 * each value, found by hashing, kept until the end. Whether a pointer leads to a box is seen from its place: boxes
 * stand in a few rows, each twice as long as the one before. Also the predefined callbacks, as Fortran calls them.
 * Knows: convert.h. Does not know: keyvals, objects. */
#include "callbacks.h"

#include <pthread.h>
#include <stdlib.h>

enum { ROWS = 40, FIRST_ROW = 64 };

static struct {
    pthread_mutex_t lock;
    MPI_Aint *rows[ROWS]; /* row r has FIRST_ROW << r boxes; guarded by lock, as is all below */
    size_t used;          /* boxes filled, over all rows */
    MPI_Aint **table;     /* open addressing, at most half full, NULL: free */
    size_t room;
} boxes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t first_of_row(int row)
{
    return ((size_t)FIRST_ROW << row) - FIRST_ROW;
}

/* Where the box of `value` is in the table, or would be. */
static MPI_Aint **place_of(MPI_Aint value)
{
    size_t i = (size_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (boxes.room - 1);

    while (boxes.table[i] && *boxes.table[i] != value)
        i = (i + 1) & (boxes.room - 1);
    return &boxes.table[i];
}

static bool grow(void)
{
    MPI_Aint **const old = boxes.table;
    const size_t old_room = boxes.room, room = old_room ? 2 * old_room : 2 * FIRST_ROW;
    MPI_Aint **table = calloc(room, sizeof(MPI_Aint *));

    if (!table)
        return false;
    boxes.table = table;
    boxes.room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i])
            *place_of(*old[i]) = old[i];
    free(old);
    return true;
}

static MPI_Aint *new_box(MPI_Aint value)
{
    int row = 0;

    while (boxes.used >= first_of_row(row + 1))
        row++;
    if (!boxes.rows[row] && !(boxes.rows[row] = malloc(((size_t)FIRST_ROW << row) * sizeof(MPI_Aint))))
        return NULL;
    boxes.rows[row][boxes.used - first_of_row(row)] = value;
    return &boxes.rows[row][boxes.used++ - first_of_row(row)];
}

void *attribute_of(MPI_Aint value)
{
    MPI_Aint *box = NULL;

    pthread_mutex_lock(&boxes.lock);
    if (2 * (boxes.used + 1) <= boxes.room || grow()) {
        MPI_Aint **place = place_of(value);

        if (!*place)
            *place = new_box(value);
        box = *place;
    }
    pthread_mutex_unlock(&boxes.lock);
    return box;
}

static bool is_box(const void *p)
{
    bool found = false;

    pthread_mutex_lock(&boxes.lock);
    for (int row = 0; row < ROWS && boxes.rows[row] && !found; row++)
        found = (uintptr_t)p - (uintptr_t)boxes.rows[row] < ((size_t)FIRST_ROW << row) * sizeof(MPI_Aint);
    pthread_mutex_unlock(&boxes.lock);
    return found;
}

MPI_Aint attribute_to(int keyval, void *attribute)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(const int *)attribute;
    case MPI_WIN_SIZE:
        return *(const MPI_Aint *)attribute;
    case MPI_WIN_BASE:
        return (MPI_Aint)attribute;
    default:
        return is_box(attribute) ? *(const MPI_Aint *)attribute : (MPI_Aint)attribute;
    }
}

/* --- predefined callbacks (MPI 5.0 §7.7.2) --- */

#define NULL_COPY(name, Aint)                                                                                    \
    void name(int *object, int *keyval, Aint *extra, Aint *in, Aint *out, int *flag, int *ierror);               \
    void name(int *object, int *keyval, Aint *extra, Aint *in, Aint *out, int *flag, int *ierror)                \
    {                                                                                                            \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                            \
        *flag = 0;                                                                                               \
        *ierror = MPI_SUCCESS;                                                                                   \
    }
#define DUP(name, Aint)                                                                                          \
    void name(int *object, int *keyval, Aint *extra, Aint *in, Aint *out, int *flag, int *ierror);               \
    void name(int *object, int *keyval, Aint *extra, Aint *in, Aint *out, int *flag, int *ierror)                \
    {                                                                                                            \
        (void)object, (void)keyval, (void)extra;                                                                 \
        *out = *in;                                                                                              \
        *flag = 1;                                                                                               \
        *ierror = MPI_SUCCESS;                                                                                   \
    }
#define NULL_DELETE(name, Aint)                                                                                  \
    void name(int *object, int *keyval, Aint *value, Aint *extra, int *ierror);                                  \
    void name(int *object, int *keyval, Aint *value, Aint *extra, int *ierror)                                   \
    {                                                                                                            \
        (void)object, (void)keyval, (void)value, (void)extra;                                                    \
        *ierror = MPI_SUCCESS;                                                                                   \
    }
NULL_COPY(mpi_comm_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_type_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_win_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_null_copy_fn_, int)
DUP(mpi_comm_dup_fn_, MPI_Aint)
DUP(mpi_type_dup_fn_, MPI_Aint)
DUP(mpi_win_dup_fn_, MPI_Aint)
DUP(mpi_dup_fn_, int)
NULL_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_win_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_null_delete_fn_, int)

/* Never called: MPI_Register_datarep looks at the address (§14.5.3). */
void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_c_(void);
void mpi_conversion_fn_null_(void)
{
    abort();
}
void mpi_conversion_fn_null_c_(void)
{
    abort();
}

bool is_conversion_null(fortran_fn fn)
{
    return fn == mpi_conversion_fn_null_ || fn == mpi_conversion_fn_null_c_ || is_other_conversion_null(fn);
}
