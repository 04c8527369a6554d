/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one machine, or of several: those cannot share memory. */
#ifndef TESTS_RMA_MACHINES_H
#define TESTS_RMA_MACHINES_H

#include "mpitest.h"

/* Can they all? Otherwise that is an error at all of them. Collective; MPI_COMM_WORLD returns errors. */
static inline int can_share(MPI_Comm comm)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Errhandler old;
    void *base;
    int rc, error_class = MPI_SUCCESS;

    CHECK_OK(MPI_Comm_get_errhandler(comm, &old));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rc = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, &base, &win);
    CHECK_OK(MPI_Comm_set_errhandler(comm, old));
    CHECK_OK(MPI_Errhandler_free(&old));
    if (!rc) {
        CHECK_OK(MPI_Win_free(&win));
        return 1;
    }
    CHECK_OK(MPI_Error_class(rc, &error_class));
    CHECK_INT(error_class, MPI_ERR_RMA_SHARED);
    return 0;
}

#endif
