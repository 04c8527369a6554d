/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.2: the tool interface lives beside MPI. A counter that runs goes on when MPI has been left, and when it
 * comes up again, with sessions. */
#include "mpitest.h"

enum { BEFORE = 5, MESSAGES = 3, AGAIN = 2 };

static MPI_Session session;
static MPI_Comm comm;

static void come_up(void)
{
    MPI_Group group;

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "counters_later", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Group_free(&group));
}

static void go_down(void)
{
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Messages that come before their receives, but perhaps the last one. */
static void exchange(int count)
{
    int number = 1;

    for (int tag = 0; tag < count; tag++) {
        MPI_Request request;
        CHECK_OK(MPI_Isend(&number, 1, MPI_INT, 0, tag, comm, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    for (int tag = count - 1; tag >= 0; tag--)
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
}

int main(void)
{
    MPI_T_pvar_session tool;
    MPI_T_pvar_handle handle;
    unsigned long long first, value;
    int provided, index, count;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    if (MPI_T_pvar_get_index("unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, &index)) /* of another library */
        return 0;
    CHECK_INT(MPI_T_pvar_session_create(&tool), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_handle_alloc(tool, index, NULL, &handle, &count), MPI_SUCCESS);
    come_up();
    exchange(BEFORE);
    CHECK_INT(MPI_T_pvar_start(tool, handle), MPI_SUCCESS);
    exchange(MESSAGES);
    CHECK_INT(MPI_T_pvar_read(tool, handle, &first), MPI_SUCCESS);
    CHECK(first >= MESSAGES - 1 && first < 1000, "%llu messages", first);
    go_down();
    CHECK_INT(MPI_T_pvar_read(tool, handle, &value), MPI_SUCCESS);
    CHECK(value >= first && value < 1000, "%llu messages at first, then %llu", first, value);
    come_up();
    exchange(AGAIN);
    CHECK_INT(MPI_T_pvar_read(tool, handle, &value), MPI_SUCCESS);
    CHECK(value >= first + AGAIN - 1 && value < 1000, "%llu messages at first, then %llu", first, value);
    go_down();
    CHECK_INT(MPI_T_pvar_stop(tool, handle), MPI_SUCCESS);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return 0;
}
