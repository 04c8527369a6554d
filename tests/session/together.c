/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3, §11.4.1, §15.3: before anything is initialised threads do at once what may be done at any time: begin
 * and end sessions, use infos, error codes and predefined handles, read control and performance variables. */
#include <stdatomic.h>

#include "mpisession.h"

#include "../threads/mpithread.h"

enum { ROUNDS = 40, TEXT = 8192 };

static atomic_int arrived;

static void use_sessions(void)
{
    MPI_Session session;

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void use_infos(void)
{
    MPI_Info info;
    int count, flag, length = 0;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "key", "value"));
    CHECK_OK(MPI_Info_get_string(info, "key", &length, NULL, &flag));
    CHECK_INT(length, 6);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_create_env(0, NULL, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &count));
}

static void use_codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, error_class, flag;

    CHECK_OK(MPI_Error_string(MPI_ERR_TAG, text, &length));
    CHECK_OK(MPI_Add_error_class(&error_class));
    CHECK_OK(MPI_Remove_error_class(error_class));
    CHECK_INT(MPI_Errhandler_toint(MPI_ERRORS_RETURN), (int)(intptr_t)MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 0);
}

static void use_variables(void)
{
    static _Thread_local char value[TEXT];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_cvar_handle cvar;
    int provided, num, count;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        CHECK_INT(MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count), MPI_SUCCESS);
        CHECK_INT(MPI_T_cvar_read(cvar, value), MPI_SUCCESS);
        CHECK_INT(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
    }
    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&num), MPI_SUCCESS);
    if (num > 0 && test_is_parley()) { /* the first one is bound to no object */
        CHECK_INT(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &count), MPI_SUCCESS);
        CHECK_INT(MPI_T_pvar_read(session, pvar, value), MPI_SUCCESS);
    }
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
}

/* All begin at the same moment, so that the first session comes up beside the others' calls. */
static void body(int thread)
{
    static void (*const uses[])(void) = { use_sessions, use_infos, use_codes, use_variables };

    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < THREADS)
        continue;
    for (int i = 0; i < ROUNDS; i++)
        uses[thread % 4]();
}

int main(void)
{
    run_threads(THREADS, body);
    return 0;
}
