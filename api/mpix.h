/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes that MPI 5.0 does not have. The numbers are those of MPICH's mpix.h, so that a program runs with either.
 *
 * MPIX_C_FLOAT16   the _Float16 of C compilers, binary16; the same bits as MPI_REAL2. Its size is MPI_UNDEFINED if the
 *                  compiler of the library has no such type.
 * MPIX_BFLOAT16    the upper half of a binary32, as in __bf16: two bytes, of any type of the program's
 *
 * Both are floating point types: MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD. An operation is done in float and rounded to
 * nearest, ties to even; NaN wins. */
#ifndef MPIX_H
#define MPIX_H

#include <mpi.h>

#define MPIX_C_FLOAT16 ((MPI_Datatype)0x2f0)
#define MPIX_BFLOAT16 ((MPI_Datatype)0x2f1)

#endif
