/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: attributes between languages (MPI 5.0 §19.3.7). What Fortran sets is an integer, and C must find a pointer
 * to it, which leads to a box; what C sets is a pointer, and Fortran finds it as an integer. Also the predefined
 * callbacks, as Fortran calls them.
 * Knows: boxes.h, convert.h. Does not know: keyvals, objects. */
#include "boxes.h"
#include "callbacks.h"

#include <stdlib.h>

void *attribute_of(MPI_Aint value)
{
    return box_of(value);
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
        return box_value(attribute);
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
