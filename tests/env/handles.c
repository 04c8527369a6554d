/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §20.4.5: toint and fromint are inverse; predefined handles give their table value; the int of a
 * handle made at run time is the same at every call, outside 1 to 4095, and different for different objects.
 */
#include "mpitest.h"

#if MPI_VERSION >= 5
#define CHECK_PREDEFINED(X, handle, value)                                                            \
    do {                                                                                              \
        CHECK_INT(MPI_##X##_toint(handle), value);                                                    \
        CHECK(MPI_##X##_fromint(value) == (handle), "MPI_" #X "_fromint(%d) is not " #handle, value); \
    } while (0)

static void predefined(void)
{
    CHECK_PREDEFINED(Comm, MPI_COMM_NULL, 256);
    CHECK_PREDEFINED(Comm, MPI_COMM_WORLD, 257);
    CHECK_PREDEFINED(Comm, MPI_COMM_SELF, 258);
    CHECK_PREDEFINED(Group, MPI_GROUP_NULL, 264);
    CHECK_PREDEFINED(Group, MPI_GROUP_EMPTY, 265);
    CHECK_PREDEFINED(Win, MPI_WIN_NULL, 272);
    CHECK_PREDEFINED(File, MPI_FILE_NULL, 280);
    CHECK_PREDEFINED(Session, MPI_SESSION_NULL, 288);
    CHECK_PREDEFINED(Message, MPI_MESSAGE_NULL, 296);
    CHECK_PREDEFINED(Message, MPI_MESSAGE_NO_PROC, 297);
    CHECK_PREDEFINED(Info, MPI_INFO_NULL, 304);
    CHECK_PREDEFINED(Info, MPI_INFO_ENV, 305);
    CHECK_PREDEFINED(Errhandler, MPI_ERRHANDLER_NULL, 320);
    CHECK_PREDEFINED(Errhandler, MPI_ERRORS_ARE_FATAL, 321);
    CHECK_PREDEFINED(Errhandler, MPI_ERRORS_ABORT, 322);
    CHECK_PREDEFINED(Errhandler, MPI_ERRORS_RETURN, 323);
    CHECK_PREDEFINED(Request, MPI_REQUEST_NULL, 384);
    CHECK_PREDEFINED(Op, MPI_OP_NULL, 32);
    CHECK_PREDEFINED(Op, MPI_SUM, 33);
    CHECK_PREDEFINED(Op, MPI_NO_OP, 61);
    CHECK_PREDEFINED(Type, MPI_DATATYPE_NULL, 512);
    CHECK_PREDEFINED(Type, MPI_INT, 521);
    CHECK_PREDEFINED(Type, MPI_COMPLEX32, 747);
}

#define CHECK_ROUND_TRIP(toint, fromint, handle)                                                      \
    do {                                                                                              \
        const int number_ = toint(handle);                                                            \
        CHECK(number_ < 1 || number_ > 4095, #handle " has the reserved int %d", number_);            \
        CHECK_INT(toint(handle), number_);                                                            \
        CHECK(fromint(number_) == (handle), #fromint "(%d) is not " #handle, number_);                \
    } while (0)

static void sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* One object of each kind that a program can make without a file. */
static void of_each_kind(void)
{
    int one = 1, found = 0;
    MPI_Errhandler errhandler;
    MPI_Session session;
    MPI_Message message;
    MPI_Datatype type;
    MPI_Request req;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_ROUND_TRIP(MPI_Group_toint, MPI_Group_fromint, group);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Op_create(sum, 1, &op));
    CHECK_ROUND_TRIP(MPI_Op_toint, MPI_Op_fromint, op);
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Comm_create_errhandler(ignore, &errhandler));
    CHECK_ROUND_TRIP(MPI_Errhandler_toint, MPI_Errhandler_fromint, errhandler);
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_ROUND_TRIP(MPI_Session_toint, MPI_Session_fromint, session);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_ROUND_TRIP(MPI_Type_toint, MPI_Type_fromint, type);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_ROUND_TRIP(MPI_Info_toint, MPI_Info_fromint, info);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Isend(&one, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &req));
    while (!found)
        CHECK_OK(MPI_Improbe(0, 5, MPI_COMM_SELF, &found, &message, MPI_STATUS_IGNORE));
    CHECK_ROUND_TRIP(MPI_Message_toint, MPI_Message_fromint, message);
    CHECK_OK(MPI_Mrecv(&found, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void made(void)
{
    enum { N = 20 };
    MPI_Comm comms[N];
    MPI_Request req;
    MPI_Win win;
    int ints[N], i, k, in;

    for (i = 0; i < N; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
        ints[i] = MPI_Comm_toint(comms[i]);
        CHECK(ints[i] < 1 || ints[i] > 4095, "a new communicator has the reserved int %d", ints[i]);
        for (k = 0; k < i; k++)
            CHECK(ints[k] != ints[i], "two communicators have the int %d", ints[i]);
    }
    for (i = 0; i < N; i++) {
        CHECK_INT(MPI_Comm_toint(comms[i]), ints[i]);
        CHECK(MPI_Comm_fromint(ints[i]) == comms[i], "MPI_Comm_fromint(%d) is another communicator", ints[i]);
        CHECK_OK(MPI_Comm_free(&comms[i]));
    }
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &req));
    i = MPI_Request_toint(req);
    CHECK(i < 1 || i > 4095, "a request has the reserved int %d", i);
    CHECK_INT(MPI_Request_toint(req), i);
    CHECK_OK(MPI_Win_create(&i, sizeof i, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win, "a window comes back");
    CHECK_OK(MPI_Win_free(&win));
    CHECK(MPI_Request_fromint(i) == req, "MPI_Request_fromint(%d) is another request", i);
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    predefined();
    test_begin(&argc, &argv);
    predefined();
    made();
    of_each_kind();
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no handle conversion before MPI 5.0");
}
#endif
