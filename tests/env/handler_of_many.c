/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3.1: where a call on several requests says MPI_ERR_IN_STATUS, the user's error handler gets the code that
 * is in the status of the request for which it is called. That is the first one that failed, and the handler that of
 * its communicator. */
#include "mpitest.h"

enum { CALLS = 4, REQUESTS = 3 };

static struct {
    int calls, code;
    MPI_Comm comm;
} seen;

static void note(MPI_Comm *comm, int *code, ...)
{
    seen.calls++;
    seen.comm = *comm;
    seen.code = *code;
    *code = MPI_ERR_OTHER; /* which is not what the call returns */
}

/* The second and the third are too long for their receives. All are complete afterwards. */
static void begin(const MPI_Comm *comms, MPI_Request *requests, int values[REQUESTS])
{
    static const int sent[4];

    for (int i = 0; i < REQUESTS; i++) {
        CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, comms[i], &requests[i]));
        CHECK_OK(MPI_Send(sent, i ? 4 : 1, MPI_INT, 0, i, comms[i]));
    }
    for (int i = 0, is_complete = 0; i < REQUESTS; i++, is_complete = 0) {
        while (!is_complete)
            MPI_Request_get_status(requests[i], &is_complete, MPI_STATUS_IGNORE);
    }
}

static int complete(int call, MPI_Request *requests, MPI_Status *statuses)
{
    int indices[REQUESTS], count, flag = 0, rc = MPI_SUCCESS;

    switch (call) {
    case 0:
        return MPI_Waitall(REQUESTS, requests, statuses);
    case 1:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testall(REQUESTS, requests, &flag, statuses);
        return rc;
    case 2:
        return MPI_Waitsome(REQUESTS, requests, &count, indices, statuses);
    default:
        return MPI_Testsome(REQUESTS, requests, &count, indices, statuses);
    }
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm comms[REQUESTS];

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    for (int i = 0; i < REQUESTS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
        CHECK_OK(MPI_Comm_set_errhandler(comms[i], handler));
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Request requests[REQUESTS];
        MPI_Status statuses[REQUESTS];
        int values[REQUESTS];

        begin(comms, requests, values);
        seen.calls = 0;
        CHECK_CLASS(complete(call, requests, statuses), MPI_ERR_IN_STATUS);
        CHECK_INT(seen.calls, 1);
        CHECK_CLASS(seen.code, MPI_ERR_TRUNCATE);
        CHECK(seen.comm == comms[1], "the handler of another communicator was called");
        CHECK_INT(statuses[0].MPI_ERROR, MPI_SUCCESS);
        CHECK_INT(statuses[1].MPI_ERROR, seen.code);
        CHECK_CLASS(statuses[2].MPI_ERROR, MPI_ERR_TRUNCATE);
    }
    seen.calls = 0;
    CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, comms[0]), MPI_ERR_OTHER);
    CHECK_INT(seen.calls, 1);
    for (int i = 0; i < REQUESTS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    CHECK_OK(MPI_Errhandler_free(&handler));
    return test_end();
}
