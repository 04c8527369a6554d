/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3.4, §9.5.2, §11.3: errors of calls on a session go to its error handler; those of MPI_Session_init and
 * MPI_Comm_create_from_group to the one that was given; those with groups of a session to the session's. Handlers can
 * be asked for and replaced. */
#include "mpisession.h"

static int calls, last_code;
static MPI_Session last_session;

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    last_code = *code;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == MPI_COMM_NULL, "there is a communicator");
    calls++;
    last_code = *code;
}

static void check_handler(MPI_Session session, int error_class)
{
    CHECK_INT(calls, 1);
    CHECK(last_session == session, "another session");
    CHECK_INT(test_class(last_code), error_class);
    calls = 0;
}

static void run_calls(MPI_Session session)
{
    MPI_Group group, none;
    MPI_Info info;
    int len = 0, rank = 77;

    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &len, NULL), MPI_ERR_ARG);
    check_handler(session, MPI_ERR_ARG);
    len = 8;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &len, NULL), MPI_ERR_ARG);
    check_handler(session, MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "test://nothing", &info), MPI_ERR_ARG);
    check_handler(session, MPI_ERR_ARG);
    CHECK_OK(MPI_Group_from_session_pset(session, "MPI://Self", &group));
    CHECK_CLASS(MPI_Group_incl(group, 1, &rank, &none), MPI_ERR_RANK);
    check_handler(session, MPI_ERR_RANK);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    check_handler(session, MPI_ERR_OTHER);
}

static void run_init(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Errhandler of_sessions;
    MPI_Info info;

    CHECK_OK(MPI_Session_create_errhandler(on_session, &of_sessions));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "3"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Session_init(info, of_sessions, &session), MPI_ERR_INFO_VALUE);
    check_handler(MPI_SESSION_NULL, MPI_ERR_INFO_VALUE);
    CHECK(session == MPI_SESSION_NULL, "there is a session");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Errhandler_free(&of_sessions));
}

static void run_create(MPI_Session session)
{
    char too_long[MPI_MAX_STRINGTAG_LEN + 1];
    MPI_Errhandler errhandler;
    MPI_Session another = MPI_SESSION_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group self;

    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_CLASS(MPI_Comm_create_from_group(self, too_long, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                MPI_ERR_GROUP);
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &errhandler));
    CHECK_CLASS(MPI_Comm_create_from_group(self, too_long, MPI_INFO_NULL, errhandler, &comm), MPI_ERR_ARG);
    CHECK_INT(calls, 1);
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, errhandler, &another), MPI_ERR_ERRHANDLER);
    calls = 0;
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Session_create_errhandler(on_session, &errhandler));
    CHECK_CLASS(MPI_Comm_create_from_group(self, "x", MPI_INFO_NULL, errhandler, &comm), MPI_ERR_ERRHANDLER);
    calls = 0;
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Group_free(&self));
}

static void run_handlers(MPI_Session session)
{
    MPI_Errhandler errhandler;
    MPI_Comm comm;

    CHECK_OK(MPI_Session_get_errhandler(session, &errhandler));
    CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Session_set_errhandler(session, errhandler));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    comm = session_comm(session, "mpi://SELF", "errors");
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &errhandler));
    CHECK_CLASS(MPI_Session_set_errhandler(session, errhandler), MPI_ERR_ERRHANDLER);
    check_handler(session, MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    MPI_Errhandler errhandler;
    MPI_Session session = MPI_SESSION_NULL;

    if (!test_is_parley())
        test_skip("what is an error is left open");
    run_init();
    CHECK_OK(MPI_Session_create_errhandler(on_session, &errhandler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, errhandler, &session));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    run_calls(session);
    run_create(session);
    run_handlers(session);
    session_close(&session);
    return 0;
}
