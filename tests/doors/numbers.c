/* SPDX-License-Identifier: BSD-3-Clause */
/* What handles and attributes are in Fortran: C functions of a program tell it, and get handles from it. The functions
 * are not in our table; those that are macros in the header of that MPI are not tried. */
#include "mpitest.h"

extern int MPI_File_c2f(MPI_File);
extern MPI_File MPI_File_f2c(int);

#ifdef DOOR_OMPI
extern int MPI_Comm_c2f(MPI_Comm), MPI_Type_c2f(MPI_Datatype), MPI_Op_c2f(MPI_Op), MPI_Group_c2f(MPI_Group),
    MPI_Errhandler_c2f(MPI_Errhandler), MPI_Request_c2f(MPI_Request), MPI_Info_c2f(MPI_Info);
extern MPI_Comm MPI_Comm_f2c(int);
extern MPI_Datatype MPI_Type_f2c(int);
extern MPI_Op MPI_Op_f2c(int);
extern MPI_Group MPI_Group_f2c(int);

static void test_predefined(void)
{
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 0 && MPI_Comm_c2f(MPI_COMM_SELF) == 1 && MPI_Comm_c2f(MPI_COMM_NULL) == 2,
          "another number or handle");
    CHECK(MPI_Comm_f2c(0) == MPI_COMM_WORLD && MPI_Comm_f2c(1) == MPI_COMM_SELF && MPI_Comm_f2c(2) == MPI_COMM_NULL,
          "another number or handle");
    CHECK(MPI_Type_c2f(MPI_INTEGER) == 7 && MPI_Type_f2c(7) == MPI_INTEGER, "another number or handle");
    CHECK(MPI_Type_c2f(MPI_DATATYPE_NULL) == 0 && MPI_Type_f2c(17) == MPI_DOUBLE_PRECISION,
          "another number or handle");
    CHECK(MPI_Type_c2f(MPI_COUNT) == 72 && MPI_Type_f2c(72) == MPI_COUNT, "another number or handle");
    CHECK(MPI_Op_c2f(MPI_SUM) == 3 && MPI_Op_f2c(14) == MPI_NO_OP && MPI_Op_c2f(MPI_OP_NULL) == 0,
          "another number or handle");
    CHECK(MPI_Group_c2f(MPI_GROUP_EMPTY) == 1 && MPI_Group_f2c(0) == MPI_GROUP_NULL,
          "another number or handle");
    CHECK(MPI_Errhandler_c2f(MPI_ERRORS_RETURN) == 2 && MPI_Request_c2f(MPI_REQUEST_NULL) == 0,
          "another number or handle");
    CHECK(MPI_Info_c2f(MPI_INFO_ENV) == 1 && MPI_Info_c2f(MPI_INFO_NULL) == 0, "another number or handle");
}

/* What came with Open MPI 5.0. */
static void test_newer(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Comm part;
    int size, rc;

    CHECK(MPI_Errhandler_c2f(MPI_ERRORS_ABORT) == 3, "another number or handle");
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL, "no session");
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL, "a session that has ended");
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    rc = MPI_Session_finalize(&session);
    CHECK_CLASS(rc, MPI_ERR_SESSION);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    CHECK_OK(MPI_Type_size(MPI_LOGICAL16, &size));
    CHECK_INT(size, 16);
}

static void test_objects(void)
{
    MPI_Comm copy;
    MPI_Datatype pair;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(MPI_Comm_c2f(copy) > 96 && MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy, "another number or handle");
    MPI_Comm_free(&copy);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    CHECK(MPI_Type_c2f(pair) > 96 && MPI_Type_f2c(MPI_Type_c2f(pair)) == pair, "another number or handle");
    MPI_Type_free(&pair);
}
#else
static void test_predefined(void)
{
}
static void test_newer(void)
{
}

/* What MPICH's library for Fortran calls: values are numbers, by the last argument. */
extern int MPII_Comm_set_attr(MPI_Comm, int, void *, int), MPII_Comm_get_attr(MPI_Comm, int, void *, int *, int);
typedef int copy_proxy(void (*)(void), int, int, void *, int, void *, void **, int *);
typedef int delete_proxy(void (*)(void), int, int, int, void *, void *);
extern void MPII_Keyval_set_proxy(int, copy_proxy *, delete_proxy *);

static intptr_t deleted;

static int any_copy(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER; /* the proxy is called in its place */
}

static int any_delete(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    return MPI_ERR_OTHER;
}

static int copy_next(void (*user)(void), int comm, int keyval, void *extra_state, int way, void *in, void **out,
                     int *flag)
{
    (void)user, (void)comm, (void)keyval, (void)extra_state, (void)way;
    *out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int note_deletion(void (*user)(void), int comm, int keyval, int way, void *value, void *extra_state)
{
    (void)user, (void)comm, (void)keyval, (void)way, (void)extra_state;
    deleted = (intptr_t)value;
    return MPI_SUCCESS;
}

static void test_objects(void)
{
    int keyval, flag = 0;
    void *found = NULL;
    MPI_Comm copy;

    MPI_Comm_create_keyval(any_copy, any_delete, &keyval, NULL);
    MPII_Keyval_set_proxy(keyval, copy_next, note_deletion);
    CHECK_OK(MPII_Comm_set_attr(MPI_COMM_WORLD, keyval, (void *)4711, 1));
    CHECK_OK(MPII_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag, 1));
    CHECK(flag && (intptr_t)found == 4711, "not the number that Fortran has set");
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag));
    CHECK(flag && *(intptr_t *)found == 4711, "no pointer to the number that Fortran has set");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_get_attr(copy, keyval, &found, &flag));
    CHECK(flag && *(intptr_t *)found == 4712, "no pointer to the number that a function of Fortran has made");
    CHECK_OK(MPI_Comm_set_attr(copy, keyval, &keyval));
    CHECK_INT(deleted, 4712);
    CHECK_OK(MPII_Comm_get_attr(copy, keyval, &found, &flag, 1));
    CHECK(flag && found == &keyval, "not the pointer that C has set, as a number");
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK(deleted == (intptr_t)&keyval, "not the pointer that C has set, as a number");
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    MPI_Comm_free_keyval(&keyval);
}
#endif

#ifdef DOOR_OMPI
/* Functions of Open MPI 5.0. */
int MPI_Status_c2f08(const MPI_Status *from, void *to);
int MPI_Status_f082c(const void *from, MPI_Status *to);
int MPI_Status_f2f08(const int *from, void *to);
int MPI_Status_f082f(const void *from, int *to);
int MPI_Session_set_info(MPI_Session session, MPI_Info info);

static void test_open_mpi_5(void)
{
    int f08[sizeof(MPI_Status) / sizeof(int)], f[sizeof(MPI_Status) / sizeof(int)];
    MPI_Status status, back;
    MPI_Session session;

    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = 7, status.MPI_TAG = 9, status.MPI_ERROR = MPI_ERR_TAG;
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 5));
    CHECK_OK(MPI_Status_c2f08(&status, f08));
    CHECK(f08[0] == 7 && f08[1] == 9 && f08[2] == MPI_ERR_TAG, "a status of mpi_f08: %d %d %d", f08[0], f08[1], f08[2]);
    CHECK_OK(MPI_Status_f082f(f08, f));
    memset(f08, 0, sizeof f08);
    CHECK_OK(MPI_Status_f2f08(f, f08));
    CHECK_OK(MPI_Status_f082c(f08, &back));
    CHECK(!memcmp(&status, &back, sizeof status), "the status has changed on its way");
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_set_info(session, MPI_INFO_ENV));
    CHECK(MPI_Session_set_info(session, MPI_INFO_NULL), "no info was taken for one");
    CHECK_OK(MPI_Session_finalize(&session));
}
#else
static void test_open_mpi_5(void)
{
}
#endif

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL, "another number or handle");
    test_predefined();
    test_objects();
    test_newer();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_open_mpi_5();
    return test_end();
}
