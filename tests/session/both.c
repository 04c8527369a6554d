/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.1, §11.3: the world model and sessions in one program, in any order: a session inside of the world's time
 * (inside), around it (around), begun before and ended in it (before), begun in it and ended after it (after); then one
 * more session when all have ended. */
#include "mpisession.h"

static void run(MPI_Session session, const char *stringtag)
{
    MPI_Comm comm = session_comm(session, "mpi://WORLD", stringtag);

    session_use(comm);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Session session = MPI_SESSION_NULL, last;
    const char *how = argc > 1 ? argv[1] : "";
    const int is_early = !strcmp(how, "around") || !strcmp(how, "before");
    const int is_late = !strcmp(how, "around") || !strcmp(how, "after");

    if (is_early) {
        session = session_open();
        run(session, "early");
    }
    test_begin(&argc, &argv);
    session_use(MPI_COMM_WORLD);
    if (!is_early)
        session = session_open();
    run(session, "in the world's time");
    session_use(MPI_COMM_WORLD);
    if (!is_late)
        session_close(&session);
    session_use(MPI_COMM_WORLD);
    session_use(MPI_COMM_SELF);
    CHECK_OK(MPI_Finalize());
    if (is_late) {
        run(session, "late");
        session_close(&session);
    }
    last = session_open();
    run(last, "last");
    session_close(&last);
    return 0;
}
