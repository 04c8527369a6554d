/* SPDX-License-Identifier: BSD-3-Clause */
/* What C and Fortran in one program need, and the standard ABI leaves out because it does not know the size of an
 * INTEGER (MPI 5.0 §20.4): handles and statuses from one language to the other (§19.3.4, §19.3.5). In this header an
 * INTEGER is an int, as libmpifort_abi has it; link with mpifort, or add -lmpifort_abi. With mpicc it is all there
 * already (mpi_older.h). */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include <mpi.h>
#ifndef MPI_OLDER_H
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int MPI_Fint;
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;

#define MPI_FORTRAN_PAIR(Class, Type)                 \
    static inline MPI_Fint MPI_##Class##_c2f(Type c)  \
    {                                                 \
        return MPI_##Class##_toint(c);                \
    }                                                 \
    static inline Type MPI_##Class##_f2c(MPI_Fint f)  \
    {                                                 \
        return MPI_##Class##_fromint(f);              \
    }
MPI_FORTRAN_PAIR(Comm, MPI_Comm)
MPI_FORTRAN_PAIR(Errhandler, MPI_Errhandler)
MPI_FORTRAN_PAIR(File, MPI_File)
MPI_FORTRAN_PAIR(Group, MPI_Group)
MPI_FORTRAN_PAIR(Info, MPI_Info)
MPI_FORTRAN_PAIR(Message, MPI_Message)
MPI_FORTRAN_PAIR(Op, MPI_Op)
MPI_FORTRAN_PAIR(Request, MPI_Request)
MPI_FORTRAN_PAIR(Session, MPI_Session)
MPI_FORTRAN_PAIR(Type, MPI_Datatype)
MPI_FORTRAN_PAIR(Win, MPI_Win)
#undef MPI_FORTRAN_PAIR

/* Variables of modules mpi and mpi_f08. */
extern MPI_Fint mpifort_status_ignore[], mpifort_statuses_ignore[];
extern MPI_F08_status mpifort_f08_status_ignore, mpifort_f08_statuses_ignore[];
#define MPI_F_STATUS_IGNORE mpifort_status_ignore
#define MPI_F_STATUSES_IGNORE mpifort_statuses_ignore
#define MPI_F08_STATUS_IGNORE (&mpifort_f08_status_ignore)
#define MPI_F08_STATUSES_IGNORE mpifort_f08_statuses_ignore

/* A status has the same form everywhere. */
#define MPI_FORTRAN_COPY(name, From, To)                \
    static inline int name(const From *from, To *to)    \
    {                                                   \
        memcpy(to, from, sizeof(MPI_Status));           \
        return MPI_SUCCESS;                             \
    }
MPI_FORTRAN_COPY(MPI_Status_f2c, MPI_Fint, MPI_Status)
MPI_FORTRAN_COPY(MPI_Status_c2f, MPI_Status, MPI_Fint)
MPI_FORTRAN_COPY(MPI_Status_f082c, MPI_F08_status, MPI_Status)
MPI_FORTRAN_COPY(MPI_Status_c2f08, MPI_Status, MPI_F08_status)
MPI_FORTRAN_COPY(MPI_Status_f2f08, MPI_Fint, MPI_F08_status)
MPI_FORTRAN_COPY(MPI_Status_f082f, MPI_F08_status, MPI_Fint)
#undef MPI_FORTRAN_COPY

#ifdef __cplusplus
}
#endif

#endif
#endif
