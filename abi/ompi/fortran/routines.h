/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to Open MPI's Fortran: names. Each routine is known to programs as mpi_send_ and pmpi_send_ and in the spellings
 * of other compilers, and to Open MPI's own library for mpi_f08 as ompi_send_f. As there, what a tool for C wraps is
 * not called: tools wrap these names. */
#ifndef FORTRAN_OMPI_ROUTINES_H
#define FORTRAN_OMPI_ROUTINES_H

#define NAME(low) pmpi_##low
#define CALL(function) PMPI_##function

#define TEXT_OF(x) #x
#define ALIAS(name, low) extern __typeof__(pmpi_##low##_) name __attribute__((weak, alias(TEXT_OF(pmpi_##low##_))))
#define NAMES(low, name, upper)     \
    ALIAS(mpi_##name##_, low);      \
    ALIAS(mpi_##name, low);         \
    ALIAS(mpi_##name##__, low);     \
    ALIAS(MPI_##upper, low);        \
    ALIAS(pmpi_##name, low);        \
    ALIAS(pmpi_##name##__, low);    \
    ALIAS(PMPI_##upper, low);       \
    ALIAS(ompi_##name##_f, low);    \
    /* persistent collectives had other names at first */ \
    ALIAS(mpix_##name##_, low);     \
    ALIAS(pmpix_##name##_, low);    \
    ALIAS(ompix_##name##_f, low)
#define OTHER_NAMES(low, upper) NAMES(low, low, upper);
#define CPTR_NAME(low, upper)            \
    ALIAS(pmpi_##low##_cptr_, low);      \
    NAMES(low, low##_cptr, upper##_CPTR);

#endif
