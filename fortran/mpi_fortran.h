/* SPDX-License-Identifier: BSD-3-Clause */
/* What C and Fortran in one program need, and the standard ABI leaves out because it does not know the size of an
 * INTEGER (MPI 5.0 §20.4): handles and statuses from one language to the other (§19.3.4, §19.3.5). In this header an
 * INTEGER is an int, as libmpifort_abi has it; link with mpifort, or add -lmpifort_abi. With mpicc it is all there
 * already (mpi_older.h). */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include <mpi.h>
#ifndef MPI_OLDER_H
#include <mpi_fint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_FORTRAN_PAIR(Class, Type)                 \
    static inline MPI_Fint MPI_##Class##_c2f(Type c)  \
    {                                                 \
        return MPI_##Class##_toint(c);                \
    }                                                 \
    static inline Type MPI_##Class##_f2c(MPI_Fint f)  \
    {                                                 \
        return MPI_##Class##_fromint(f);              \
    }
MPI_FINT_HANDLES(MPI_FORTRAN_PAIR)
#undef MPI_FORTRAN_PAIR

#define MPI_FORTRAN_COPY(name, From, To)                    \
    static inline int MPI_##name(const From *from, To *to)  \
    {                                                       \
        memcpy(to, from, sizeof(MPI_Status));               \
        return MPI_SUCCESS;                                 \
    }
MPI_FINT_STATUSES(MPI_FORTRAN_COPY)
#undef MPI_FORTRAN_COPY

#ifdef __cplusplus
}
#endif

#endif
#endif
