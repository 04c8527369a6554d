/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpi_older.h and mpi_fortran.h share: an INTEGER of Fortran in C, which is an int here, a status of mpi_f08, and
 * the lists of what is converted (MPI 5.0 §19.3.4, §19.3.5). Not to be included by programs. */
#ifndef MPI_FINT_H
#define MPI_FINT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int MPI_Fint;
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;

/* PAIR(class, type) for the kinds of handles. */
#define MPI_FINT_HANDLES(PAIR)         \
    PAIR(Comm, MPI_Comm)               \
    PAIR(Errhandler, MPI_Errhandler)   \
    PAIR(File, MPI_File)               \
    PAIR(Group, MPI_Group)             \
    PAIR(Info, MPI_Info)               \
    PAIR(Message, MPI_Message)         \
    PAIR(Op, MPI_Op)                   \
    PAIR(Request, MPI_Request)         \
    PAIR(Session, MPI_Session)         \
    PAIR(Type, MPI_Datatype)           \
    PAIR(Win, MPI_Win)

/* STATUS(name without MPI_, from, to): a status has the same bytes in all three forms. */
#define MPI_FINT_STATUSES(STATUS)                        \
    STATUS(Status_f2c, MPI_Fint, MPI_Status)             \
    STATUS(Status_c2f, MPI_Status, MPI_Fint)             \
    STATUS(Status_f082c, MPI_F08_status, MPI_Status)     \
    STATUS(Status_c2f08, MPI_Status, MPI_F08_status)     \
    STATUS(Status_f2f08, MPI_Fint, MPI_F08_status)       \
    STATUS(Status_f082f, MPI_F08_status, MPI_Fint)

/* Variables of modules mpi and mpi_f08: these four need libmpifort_abi, with which mpifort links. */
extern MPI_Fint mpifort_status_ignore[], mpifort_statuses_ignore[];
extern MPI_F08_status mpifort_f08_status_ignore, mpifort_f08_statuses_ignore[];
#define MPI_F_STATUS_IGNORE mpifort_status_ignore
#define MPI_F_STATUSES_IGNORE mpifort_statuses_ignore
#define MPI_F08_STATUS_IGNORE (&mpifort_f08_status_ignore)
#define MPI_F08_STATUSES_IGNORE mpifort_f08_statuses_ignore

#ifdef __cplusplus
}
#endif

#endif
