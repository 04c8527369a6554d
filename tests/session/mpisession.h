/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of sessions. They may run without a world, so rank and size come from mpi://WORLD. */
#ifndef TESTS_SESSION_MPISESSION_H
#define TESTS_SESSION_MPISESSION_H

#include "mpitest.h"

#if MPI_VERSION >= 4

static inline MPI_Session session_open(void)
{
    MPI_Session session = MPI_SESSION_NULL;

    NEEDS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL, "the session is null");
    return session;
}

static inline void session_close(MPI_Session *session)
{
    CHECK_OK(MPI_Session_finalize(session));
    CHECK(*session == MPI_SESSION_NULL, "the session is not null after its end");
}

/* All processes of a set. */
static inline MPI_Comm session_comm(MPI_Session session, const char *pset, const char *stringtag)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;

    CHECK_OK(MPI_Group_from_session_pset(session, pset, &group));
    CHECK(group != MPI_GROUP_NULL, "no group of %s", pset);
    CHECK_OK(MPI_Comm_create_from_group(group, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm != MPI_COMM_NULL, "no communicator of %s", pset);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_rank(comm, &test_rank));
    CHECK_OK(MPI_Comm_size(comm, &test_size));
    return comm;
}

/* It does what communicators do. */
static inline void session_use(MPI_Comm comm)
{
    int rank, size, right, left, from_left = -1, sum = -1;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 4, &from_left, 1, MPI_INT, left, 4, comm, MPI_STATUS_IGNORE));
    CHECK_INT(from_left, left);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size * (size - 1) / 2);
}

static inline int session_is_up(void)
{
    int is_up = -1;

    CHECK_OK(MPI_Initialized(&is_up));
    return is_up;
}

#else
#error "needs MPI 4"
#endif

#endif
