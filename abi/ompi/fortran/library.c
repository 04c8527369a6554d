/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to Open MPI's Fortran: what its library has besides the routines: special addresses, MPI_SIZEOF for each type
 * and rank, the two forms of a status, which have the same bytes. */
#include <string.h>

#include "handles.h"

int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_[STATUS_INTEGERS],
    mpi_fortran_statuses_ignore_[STATUS_INTEGERS], mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

/* What C calls MPI_STATUS_IGNORE of Fortran. */
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

__attribute__((constructor)) static void tell_c(void)
{
    MPI_F_STATUS_IGNORE = MPI_F08_STATUS_IGNORE = mpi_fortran_status_ignore_;
    MPI_F_STATUSES_IGNORE = MPI_F08_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
}

/* --- sizes --- */

#define SIZEOF_NAME(name, bytes)                             \
    void name(const void *x, int *size, int *ierror);        \
    void name(const void *x, int *size, int *ierror)         \
    {                                                        \
        (void)x;                                             \
        *size = (bytes);                                     \
        if (ierror)                                          \
            *ierror = MPI_SUCCESS;                           \
    }
#define SIZEOF(type, rank, bytes)                            \
    SIZEOF_NAME(mpi_sizeof_##type##_##rank##_, bytes)        \
    SIZEOF_NAME(pmpi_sizeof_##type##_##rank##_, bytes)
#define SIZEOFS(type, bytes)                                                                                          \
    SIZEOF(type, scalar, bytes) SIZEOF(type, r1, bytes) SIZEOF(type, r2, bytes) SIZEOF(type, r3, bytes)               \
    SIZEOF(type, r4, bytes) SIZEOF(type, r5, bytes) SIZEOF(type, r6, bytes) SIZEOF(type, r7, bytes)                   \
    SIZEOF(type, r8, bytes) SIZEOF(type, r9, bytes) SIZEOF(type, r10, bytes) SIZEOF(type, r11, bytes)                 \
    SIZEOF(type, r12, bytes) SIZEOF(type, r13, bytes) SIZEOF(type, r14, bytes) SIZEOF(type, r15, bytes)
SIZEOFS(character, 1)
SIZEOFS(logical, 4)
SIZEOFS(int8, 1)
SIZEOFS(int16, 2)
SIZEOFS(int32, 4)
SIZEOFS(int64, 8)
SIZEOFS(real32, 4)
SIZEOFS(real64, 8)
SIZEOFS(real128, 16)
SIZEOFS(complex32, 8)
SIZEOFS(complex64, 16)
SIZEOFS(complex128, 32)

/* --- statuses --- */

#define STATUS_COPY(name)                                          \
    void name(const int *from, int *to, int *ierror);              \
    void name(const int *from, int *to, int *ierror)               \
    {                                                              \
        memcpy(to, from, STATUS_INTEGERS * sizeof *to);            \
        if (ierror)                                                \
            *ierror = MPI_SUCCESS;                                 \
    }
STATUS_COPY(mpi_status_f2f08_)
STATUS_COPY(pmpi_status_f2f08_)
STATUS_COPY(ompi_status_f2f08_f)
STATUS_COPY(mpi_status_f082f_)
STATUS_COPY(pmpi_status_f082f_)
STATUS_COPY(ompi_status_f082f_f)
