/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program get the handles, codes and statuses of its own ABI: operators, attributes, error handlers,
 * generalized requests. */
#include "mpitest.h"

static MPI_Datatype expected_type;
static MPI_Comm expected_comm;
static int calls, key;

static void add(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    CHECK(*datatype == expected_type, "another datatype");
    for (int i = 0; i < *len * (*datatype == MPI_INT ? 1 : 2); i++)
        ((int *)inout)[i] += ((int *)in)[i];
    calls++;
}

static void check_operators(void)
{
    MPI_Op op, second;
    MPI_Datatype pair;
    int in[2] = { test_rank, 1 }, out[2] = { 0, 0 };

    CHECK_OK(MPI_Op_create(add, 1, &op));
    expected_type = MPI_INT;
    CHECK_OK(MPI_Reduce_local(in, out, 2, MPI_INT, op));
    CHECK_INT(out[1], 1);
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    expected_type = pair;
    CHECK_OK(MPI_Op_create(add, 1, &second));
    CHECK_OK(MPI_Allreduce(in, out, 1, pair, second, MPI_COMM_WORLD));
    CHECK_INT(out[0], test_size * (test_size - 1) / 2);
    CHECK_INT(out[1], test_size);
    CHECK(calls > 0, "never called");
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL, "not null");
    CHECK_OK(MPI_Op_free(&second));
    CHECK_OK(MPI_Type_free(&pair));
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(comm == expected_comm && keyval == key && extra == &key, "other arguments");
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(keyval == key && extra == &key && comm != MPI_COMM_NULL, "other arguments");
    calls++;
    return value ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void check_attributes(void)
{
    MPI_Comm comm;
    void *value;
    int flag, second;

    CHECK_OK(MPI_Comm_create_keyval(copy, drop, &key, &key));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL));
    expected_comm = MPI_COMM_SELF;
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)7));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, second, (void *)9));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_INT(flag ? (intptr_t)value : -1, 8);
    CHECK_OK(MPI_Comm_get_attr(comm, second, &value, &flag));
    CHECK_INT(flag ? (intptr_t)value : -1, 9);
    calls = 0;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
    CHECK_INT(calls, 2);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_SELF, second));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_free_keyval(&second));
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == expected_comm, "another communicator");
    CHECK_INT(test_class(*code), MPI_ERR_TAG);
    calls++;
}

static void check_handlers(void)
{
    MPI_Errhandler handler, got;
    int code;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &expected_comm));
    CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(expected_comm, handler));
    CHECK_OK(MPI_Comm_get_errhandler(expected_comm, &got));
    CHECK(got == handler, "another handler");
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler));
    calls = 0;
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 0, -77, expected_comm), MPI_ERR_TAG);
    CHECK_OK(MPI_Comm_call_errhandler(expected_comm, MPI_ERR_TAG));
    CHECK_INT(calls, 2);
    CHECK_OK(MPI_Comm_set_errhandler(expected_comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_get_errhandler(expected_comm, &got));
    CHECK(got == MPI_ERRORS_RETURN, "another handler");
    CHECK_OK(MPI_Comm_free(&expected_comm));
    CHECK_OK(MPI_Add_error_class(&code));
    CHECK(code > MPI_ERR_LASTCODE, "class %d", code);
    CHECK_OK(MPI_Add_error_string(code, "of our own"));
    CHECK_INT(test_class(code), code);
}

static int query(void *extra, MPI_Status *status)
{
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, *(int *)extra));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

static int done(void *extra)
{
    *(int *)extra = -1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    CHECK(extra && complete, "other arguments");
    return MPI_SUCCESS;
}

static void check_requests(void)
{
    MPI_Request request;
    MPI_Status status;
    int state = 11, count;

    CHECK_OK(MPI_Grequest_start(query, done, cancel, &state, &request));
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL, "not null");
    CHECK_INT(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 11);
    CHECK_INT(state, -1);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_operators();
    check_attributes();
    check_handlers();
    check_requests();
    return test_end();
}
