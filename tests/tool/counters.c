/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.7: performance variables. Every one can be found by name and class, and read by a session that has
 * started it; sessions do not disturb each other; what runs always cannot be started, what cannot be written cannot be
 * reset. Then the counters of this library count what it does.
 */
#include "mpitest.h"

enum { TEXT = 512, MESSAGES = 5, TAG = 3 };

typedef unsigned long long number;

static void read_all(void)
{
    MPI_T_pvar_session session;
    int num;

    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        int len = TEXT, desc_len = TEXT, class, bind, readonly, continuous, atomic, found, count;
        MPI_Comm world = MPI_COMM_WORLD;
        char name[TEXT], desc[TEXT], value[8192];
        MPI_T_pvar_handle handle;
        MPI_Datatype type;
        MPI_T_enum e;

        CHECK_INT(MPI_T_pvar_get_info(i, name, &len, NULL, &class, &type, &e, desc, &desc_len, &bind, &readonly,
                                      &continuous, &atomic), MPI_SUCCESS);
        CHECK_INT(MPI_T_pvar_get_index(name, class, &found), MPI_SUCCESS);
        CHECK_INT(found, i);
        if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)
            continue;
        CHECK_INT(MPI_T_pvar_handle_alloc(session, i, &world, &handle, &count), MPI_SUCCESS);
        CHECK(count > 0, "%s has %d elements", name, count);
        CHECK_INT(MPI_T_pvar_start(session, handle), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        CHECK_INT(MPI_T_pvar_read(session, handle, value), MPI_SUCCESS);
        if (readonly)
            CHECK_INT(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
        CHECK_INT(MPI_T_pvar_stop(session, handle), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
    }
    CHECK_INT(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK(session == MPI_T_PVAR_SESSION_NULL, "a freed session is not null");
}

static void misuse(void)
{
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle handle, none = MPI_T_PVAR_HANDLE_NULL, all = MPI_T_PVAR_ALL_HANDLES;
    int num, index, count, class, bind = 0;
    MPI_Comm world = MPI_COMM_WORLD;
    number value = 0;

    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_create(&other), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&num), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
    CHECK_INT(MPI_T_pvar_handle_alloc(session, num, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, 0, &world, &handle, &count),
              MPI_T_ERR_INVALID_SESSION);
    CHECK_INT(MPI_T_pvar_get_info(0, NULL, NULL, NULL, &class, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL),
              MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_handle_alloc(session, 0, &world, &handle, &count), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_read(other, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_start(other, handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_read(session, none, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_read(session, all, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_readreset(session, all, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_write(session, all, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_handle_free(other, &handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
    CHECK(handle == none, "a freed handle is not null");
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
    CHECK_INT(MPI_T_pvar_session_free(&other), MPI_SUCCESS);
}

static MPI_T_pvar_handle open_variable(MPI_T_pvar_session session, const char *name, int class, MPI_Comm *comm)
{
    MPI_T_pvar_handle handle;
    int index, count;

    CHECK_INT(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_handle_alloc(session, index, comm, &handle, &count), MPI_SUCCESS);
    return handle;
}

static number value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    number value;

    CHECK_INT(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
}

/* Messages to this process itself, on a communicator that nobody else uses. */
static void send_all(MPI_Comm comm, MPI_Request *requests)
{
    static int word;

    for (int i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Isend(&word, 1, MPI_INT, 0, TAG, comm, &requests[i]));
}

static void receive_all(MPI_Comm comm, MPI_Request *requests)
{
    int word;

    for (int i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

/* They may be under way for a while. */
static void await(MPI_T_pvar_session session, MPI_T_pvar_handle kept, MPI_Comm comm)
{
    int flag;

    while (value_of(session, kept) < MESSAGES)
        CHECK_OK(MPI_Iprobe(0, TAG + 1, comm, &flag, MPI_STATUS_IGNORE));
}

/* Parley's own variables: two sessions see a counter from where each of them has started it. */
static void sessions(void)
{
    MPI_T_pvar_session a, b;
    MPI_T_pvar_handle ha, hb, kept, posted;
    MPI_Request requests[MESSAGES], receive;
    number value;
    MPI_Comm comm;
    int word;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_INT(MPI_T_pvar_session_create(&a), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_create(&b), MPI_SUCCESS);
    ha = open_variable(a, "unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
    hb = open_variable(b, "unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
    kept = open_variable(b, "comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &comm);
    posted = open_variable(b, "comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &comm);
    CHECK_INT(MPI_T_pvar_start(a, ha), MPI_SUCCESS);
    send_all(comm, requests);
    await(b, kept, comm);
    CHECK(value_of(a, ha) >= MESSAGES, "%llu messages counted", value_of(a, ha));
    CHECK_INT(value_of(b, hb), 0);
    receive_all(comm, requests);
    CHECK_INT(value_of(b, kept), 0);
    CHECK_INT(MPI_T_pvar_start(b, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_stop(a, ha), MPI_SUCCESS);
    value = value_of(a, ha);
    send_all(comm, requests);
    await(b, kept, comm);
    receive_all(comm, requests);
    CHECK_INT(value_of(a, ha), value);
    CHECK(value_of(b, hb) >= MESSAGES, "%llu messages counted", value_of(b, hb));
    CHECK_INT(MPI_T_pvar_reset(a, ha), MPI_SUCCESS);
    CHECK_INT(value_of(a, ha), 0);
    value = 1000;
    CHECK_INT(MPI_T_pvar_write(a, ha, &value), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_readreset(a, ha, &value), MPI_SUCCESS);
    CHECK_INT(value, 1000);
    CHECK_INT(value_of(a, ha), 0);
    CHECK_INT(MPI_T_pvar_write(b, kept, &value), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_INT(MPI_T_pvar_readreset(b, kept, &value), MPI_T_ERR_PVAR_NO_WRITE);

    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, 0, TAG, comm, &receive));
    CHECK_INT(value_of(b, posted), 1);
    CHECK_OK(MPI_Cancel(&receive));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_INT(value_of(b, posted), 0);
    CHECK_INT(MPI_T_pvar_handle_free(b, &kept), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_free(&b), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_session_free(&a), MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* A variable of a communicator wants one. */
static void unbound(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm none = MPI_COMM_NULL;
    int index, count;

    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_index("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_handle_alloc(session, index, &none, &handle, &count), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int provided;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    test_begin(&argc, &argv);
    misuse();
    read_all();
    if (test_is_parley()) {
        unbound();
        sessions();
    }
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
