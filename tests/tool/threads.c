/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.4: with MPI_THREAD_MULTIPLE, threads use the interface at the same time, each with handles and a
 * session of its own and callbacks on events that all of them cause.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "mpitest.h"

enum { THREADS = 4, ROUNDS = 50 };

static atomic_int calls;

static void happened(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    MPI_Count time;

    (void)registration;
    (void)data;
    CHECK_INT(MPI_T_event_get_timestamp(instance, &time), MPI_SUCCESS);
    CHECK_INT(safety, MPI_T_CB_REQUIRE_THREAD_SAFE); /* several at once */
    atomic_fetch_add(&calls, 1);
}

static void use_variables(void)
{
    unsigned char value[8192];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_cvar_handle cvar;
    MPI_Comm self = MPI_COMM_SELF;
    int provided, cvars, pvars, count;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_get_num(&cvars), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&pvars), MPI_SUCCESS);
    for (int i = 0; i < cvars; i++) {
        CHECK_INT(MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count), MPI_SUCCESS);
        CHECK_INT(MPI_T_cvar_read(cvar, value), MPI_SUCCESS);
        CHECK_INT(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
    }
    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    for (int i = 0; i < pvars; i++)
        CHECK_INT(MPI_T_pvar_handle_alloc(session, i, &self, &pvar, &count), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_read(session, pvar, value), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
}

static void *work(void *arg)
{
    MPI_T_event_registration event;
    const MPI_Comm own = *(MPI_Comm *)arg;
    MPI_Comm comm;
    int index;

    CHECK_INT(MPI_T_event_get_index("comm_made", &index), MPI_SUCCESS);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &event), MPI_SUCCESS);
        CHECK_INT(MPI_T_event_register_callback(event, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, happened),
                  MPI_SUCCESS);
        CHECK_OK(MPI_Comm_dup(own, &comm));
        CHECK_OK(MPI_Comm_free(&comm));
        use_variables();
        CHECK_INT(MPI_T_event_handle_free(event, NULL, NULL), MPI_SUCCESS);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    MPI_Comm own[THREADS]; /* calls on one communicator must not run at the same time */
    int provided;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    if (!test_is_parley() || provided < MPI_THREAD_MULTIPLE)
        test_skip("events of this library, used by threads");
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, &own[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(MPI_Comm_free(&own[i]));
    }
    CHECK(atomic_load(&calls) >= THREADS * ROUNDS, "%d callbacks", atomic_load(&calls));
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
