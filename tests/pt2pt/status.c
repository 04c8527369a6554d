/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.5, §3.2.6: calls that return one status do not change its MPI_ERROR, nor do those that return several
 * and succeed; MPI_STATUS_IGNORE and
 * MPI_STATUSES_IGNORE are accepted by every call with a status output; the accessors agree with the fields.
 */
#include "mpitest.h"

enum { TAG = 6, ERROR_BEFORE = 12345 };

static int value = 5, in;

static void send_to_self(void)
{
    MPI_Request req;

    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Request_free(&req));
}

static void error_field_stays(void)
{
    MPI_Status st;
    MPI_Request req;
    MPI_Message msg;

    st.MPI_ERROR = ERROR_BEFORE;
    send_to_self();
    CHECK_OK(MPI_Probe(0, TAG, MPI_COMM_SELF, &st));
    CHECK_INT(st.MPI_ERROR, ERROR_BEFORE);
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &st));
    CHECK_INT(st.MPI_ERROR, ERROR_BEFORE);
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    send_to_self();
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_INT(st.MPI_ERROR, ERROR_BEFORE);
    send_to_self();
    CHECK_OK(MPI_Mprobe(0, TAG, MPI_COMM_SELF, &msg, &st));
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &msg, &st));
    CHECK_INT(st.MPI_ERROR, ERROR_BEFORE);
}

static int testall(MPI_Request *reqs, MPI_Status *st)
{
    int flag = 0, rc;

    do
        rc = MPI_Testall(2, reqs, &flag, st);
    while (rc == MPI_SUCCESS && !flag);
    return rc;
}

static void error_fields_stay(void)
{
    int call, count, indices[2], ins[2];
    MPI_Request reqs[2];
    MPI_Status st[2];

    for (call = 0; call < 4; call++) {
        st[0].MPI_ERROR = st[1].MPI_ERROR = ERROR_BEFORE;
        CHECK_OK(MPI_Irecv(&ins[0], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[0]));
        CHECK_OK(MPI_Irecv(&ins[1], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[1]));
        send_to_self();
        send_to_self();
        if (call == 0)
            CHECK_OK(MPI_Waitall(2, reqs, st));
        else if (call == 1)
            CHECK_OK(testall(reqs, st));
        else if (call == 2)
            CHECK_OK(MPI_Waitsome(2, reqs, &count, indices, st));
        else
            CHECK_OK(MPI_Testsome(2, reqs, &count, indices, st));
        CHECK_INT(st[0].MPI_ERROR, ERROR_BEFORE);
        CHECK_INT(st[1].MPI_ERROR, ERROR_BEFORE);
        CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
    }
}

static void ignored(void)
{
    MPI_Request reqs[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message msg;
    int flag, index, n, indices[2];

    send_to_self();
    CHECK_OK(MPI_Probe(0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    send_to_self();
    CHECK_OK(MPI_Mprobe(0, TAG, MPI_COMM_SELF, &msg, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &msg, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Improbe(0, TAG, MPI_COMM_SELF, &flag, &msg, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(
        MPI_Sendrecv(&value, 1, MPI_INT, 0, TAG, &in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (n = 0; n < 8; n++) {
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[0]));
        send_to_self();
        for (flag = 0; !flag;)
            CHECK_OK(MPI_Request_get_status(reqs[0], &flag, MPI_STATUS_IGNORE));
        switch (n) {
        case 0: CHECK_OK(MPI_Wait(reqs, MPI_STATUS_IGNORE)); break;
        case 1: CHECK_OK(MPI_Test(reqs, &flag, MPI_STATUS_IGNORE)); break;
        case 2: CHECK_OK(MPI_Waitany(2, reqs, &index, MPI_STATUS_IGNORE)); break;
        case 3: CHECK_OK(MPI_Testany(2, reqs, &index, &flag, MPI_STATUS_IGNORE)); break;
        case 4: CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)); break;
        case 5: CHECK_OK(MPI_Testall(2, reqs, &flag, MPI_STATUSES_IGNORE)); break;
        case 6: CHECK_OK(MPI_Waitsome(2, reqs, &index, indices, MPI_STATUSES_IGNORE)); break;
        default: CHECK_OK(MPI_Testsome(2, reqs, &index, indices, MPI_STATUSES_IGNORE)); break;
        }
        CHECK(reqs[0] == MPI_REQUEST_NULL, "way %d did not complete the request", n);
    }
}

static void accessors(void)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Status st = test_dirty_status();
    int got = -1;

    st.MPI_ERROR = MPI_ERR_TAG;
    send_to_self();
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &st));
    CHECK_OK(MPI_Status_get_source(&st, &got));
    CHECK_INT(got, 0);
    CHECK_OK(MPI_Status_get_tag(&st, &got));
    CHECK_INT(got, TAG);
    CHECK_OK(MPI_Status_get_error(&st, &got));
    CHECK_INT(got, MPI_ERR_TAG);
    CHECK_OK(MPI_Status_set_source(&st, 11));
    CHECK_OK(MPI_Status_set_tag(&st, 12));
    CHECK_OK(MPI_Status_set_error(&st, MPI_ERR_COMM));
    CHECK_INT(st.MPI_SOURCE, 11);
    CHECK_INT(st.MPI_TAG, 12);
    CHECK_INT(st.MPI_ERROR, MPI_ERR_COMM);
    CHECK_OK(MPI_Get_count(&st, MPI_INT, &got));
    CHECK_INT(got, 1);
#endif
}

/* A status can be told to be cancelled or to hold elements (generalised requests, §13.3). */
static void setters(void)
{
    MPI_Status st = test_dirty_status();
    int got = -1;

    CHECK_OK(MPI_Status_set_cancelled(&st, 1));
    CHECK_OK(MPI_Test_cancelled(&st, &got));
    CHECK_INT(got, 1);
    CHECK_OK(MPI_Status_set_cancelled(&st, 0));
    CHECK_OK(MPI_Test_cancelled(&st, &got));
    CHECK_INT(got, 0);
    CHECK_OK(MPI_Status_set_elements(&st, MPI_INT, 9));
    CHECK_OK(MPI_Get_count(&st, MPI_INT, &got));
    CHECK_INT(got, 9);
    CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &got));
    CHECK_INT(got, 36);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    error_field_stays();
    error_fields_stay();
    ignored();
    accessors();
    NEEDS(MPI_Status_set_cancelled(&(MPI_Status){ .MPI_TAG = 0 }, 0));
    setters();
    return test_end();
}
