/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3.1: the end of a session does not free what comes from it; a group and a communicator can still be
 * freed beside another session. They have nothing to do with that one, though it may be in the place of the first: an
 * error on the group does not call its handler, and nobody waits for what is in its buffer. */
#include "mpisession.h"

enum { TIMES = 5 };

static int calls;

static void note(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    calls++;
}

static MPI_Session begin(MPI_Errhandler handler)
{
    MPI_Session session;

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    return session;
}

/* The handler for errors that belong to nobody is fatal in sessions alone, so there is a world. */
static void outlive(MPI_Errhandler handler)
{
    const int bad = 4711;
    MPI_Session first = begin(MPI_ERRORS_RETURN), second;
    MPI_Group group, none;
    MPI_Comm comm;
    int size;

    CHECK_OK(MPI_Group_from_session_pset(first, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "outlived", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Session_finalize(&first));
    second = begin(handler);
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_INT(size, 1);
    CHECK_CLASS(MPI_Group_incl(group, 1, &bad, &none), MPI_ERR_RANK);
    CHECK_INT(calls, 0);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&second));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Session_create_errhandler(note, &handler));
    for (int i = 0; i < TIMES; i++)
        outlive(handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    return test_end();
}
