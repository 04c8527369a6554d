/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 5.0 does not have.
 *
 * Datatypes. The numbers are those of MPICH's mpix.h, so that a program runs with either.
 *
 * MPIX_C_FLOAT16   the _Float16 of C compilers, binary16; the same bits as MPI_REAL2. Its size is MPI_UNDEFINED if the
 *                  compiler of the library has no such type.
 * MPIX_BFLOAT16    the upper half of a binary32, as in __bf16: two bytes, of any type of the program's
 *
 * Both are floating point types: MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD. An operation is done in float and rounded to
 * nearest, ties to even; NaN wins.
 *
 * Attributes of communicators, for a job that is a client of IMPI (docs/impi.md), as MPI_TAG_UB is one: the value is
 * the address of an int. Without other clients they are 1, 0, 1, 0.
 *
 * IMPI_CLIENT_SIZE, IMPI_HOST_SIZE    how many clients there are, and hosts in them
 * IMPI_CLIENT_COLOR, IMPI_HOST_COLOR  in which this process is, from 0: colors for MPI_Comm_split */
#ifndef MPIX_H
#define MPIX_H

#include <mpi.h>

#define MPIX_C_FLOAT16 ((MPI_Datatype)0x2f0)
#define MPIX_BFLOAT16 ((MPI_Datatype)0x2f1)

#define IMPI_CLIENT_SIZE 521
#define IMPI_CLIENT_COLOR 522
#define IMPI_HOST_SIZE 523
#define IMPI_HOST_COLOR 524

#endif
