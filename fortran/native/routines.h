/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: names. mpi_send_ calls MPI_Send and pmpi_send_ calls PMPI_Send, so a tool that stands between a program and
 * the C functions sees the calls of Fortran too, and one that stands between a program and mpi_send_ can call
 * pmpi_send_ without meeting the former (MPI 5.0 §15.2). Compilers that write names in another way find them under
 * mpi_send, mpi_send__ and MPI_SEND. */
#ifndef FORTRAN_ROUTINES_H
#define FORTRAN_ROUTINES_H

#ifdef PROFILING
#define NAME(low) pmpi_##low
#define UPPER_NAME(name) PMPI_##name
#define CALL(function) PMPI_##function
#else
#define NAME(low) mpi_##low
#define UPPER_NAME(name) MPI_##name
#define CALL(function) MPI_##function
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define ALIAS(name, low) extern __typeof__(NAME(low##_)) name __attribute__((weak, alias(TEXT(NAME(low##_)))))
#define OTHER_NAMES(low, upper)                                                                         \
    ALIAS(NAME(low), low);                                                                              \
    ALIAS(NAME(low##__), low);                                                                          \
    ALIAS(UPPER_NAME(upper), low);
#define CPTR_NAME(low, upper) ALIAS(NAME(low##_cptr_), low);
#define F08_NAME(low) ALIAS(NAME(low##_f08_), low);

#endif
