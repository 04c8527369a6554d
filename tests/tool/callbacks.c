/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.8: callbacks may call all functions MPI_T_..., wherever in the library the event happens, and those
 * that read and write performance variables never refuse. Here a thread reads all variables again and again, while
 * senders flood this process, and each callback does so too. (list.txt makes the limit small.) */
#include <pthread.h>
#include <stdatomic.h>

#include "mpitest.h"

enum { VARIABLES = 64, MESSAGES = 1500, BYTES = 1000, ROUNDS = 3 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[VARIABLES];
static int handle_count;
static atomic_int calls, is_over;

static void read_all(void)
{
    unsigned long long value;

    for (int i = 0; i < handle_count; i++)
        CHECK_INT(MPI_T_pvar_read(session, handles[i], &value), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
}

static void happened(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    (void)instance, (void)registration, (void)safety, (void)data;
    read_all();
    atomic_fetch_add(&calls, 1);
}

static void *keep_reading(void *arg)
{
    while (!atomic_load(&is_over))
        read_all();
    return arg;
}

static void open_all(MPI_Comm comm)
{
    int count, num;

    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num && i < VARIABLES; i++)
        CHECK_INT(MPI_T_pvar_handle_alloc(session, i, &comm, &handles[handle_count++], &count), MPI_SUCCESS);
}

static MPI_T_event_registration listen_to(const char *name, MPI_T_cb_safety safety)
{
    MPI_T_event_registration registration;
    int index;

    CHECK_INT(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, NULL, happened), MPI_SUCCESS);
    return registration;
}

/* The last messages tell that all have come, which are still to be received. */
static void flood(MPI_Comm comm)
{
    static char data[BYTES];
    static MPI_Request requests[MESSAGES];

    if (test_rank > 0) {
        for (int i = 0; i < MESSAGES; i++)
            CHECK_OK(MPI_Isend(data, BYTES, MPI_BYTE, 0, 1, comm, &requests[i]));
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, comm));
        CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        return;
    }
    for (int i = 1; i < test_size; i++)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, i, 2, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < MESSAGES * (test_size - 1); i++)
        CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_T_event_registration restrained, gone;
    MPI_Comm comms[2], copy;
    pthread_t thread;
    int provided;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    if (!test_is_parley() || provided < MPI_THREAD_MULTIPLE)
        test_skip("events of this library, beside a thread");
    for (int i = 0; i < 2; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i])); /* in lanes of their own, perhaps */
    open_all(comms[1]);
    restrained = listen_to("sender_restrained", MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    gone = listen_to("comm_freed", MPI_T_CB_REQUIRE_THREAD_SAFE);
    CHECK_INT(pthread_create(&thread, NULL, keep_reading, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Comm_dup(comms[i % 2], &copy));
        flood(comms[i % 2]);
        CHECK_OK(MPI_Comm_free(&copy));
    }
    atomic_store(&is_over, 1);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(MPI_T_event_handle_free(restrained, NULL, NULL), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_free(gone, NULL, NULL), MPI_SUCCESS);
    CHECK(calls > (test_rank == 0 ? ROUNDS : 0), "%d callbacks", atomic_load(&calls));
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free(&comms[0]));
    CHECK_OK(MPI_Comm_free(&comms[1]));
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
