/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2: a call whose callback does not return MPI_SUCCESS fails. The object or attribute that was to be
 * deleted stays, and there is no duplicate; the others of the communicator are not left waiting. */
#include "mpiattr.h"

static int code = MPI_SUCCESS; /* what the callbacks return */

static int copy_fails(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *flag = 1;
    *(void **)out = value;
    return code;
}

static int delete_fails(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    if (!code)
        attr_note(value);
    return code;
}

static int type_copy_fails(MPI_Datatype type, int keyval, void *extra, void *value, void *out, int *flag)
{
    (void)type;
    return copy_fails(MPI_COMM_NULL, keyval, extra, value, out, flag);
}

static int type_delete_fails(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    return delete_fails(MPI_COMM_NULL, keyval, value, extra);
}

/* The class of the callback's code comes through, and a code of the user as it is. */
static void check_code(int came)
{
    int class;

    CHECK(came != MPI_SUCCESS, "the call succeeded");
    if (!test_is_parley())
        return;
    CHECK_OK(MPI_Error_class(code, &class));
    CHECK_CLASS(came, class);
    if (code > MPI_ERR_LASTCODE)
        CHECK_INT(came, code);
}

static void comms(int key, int last)
{
    MPI_Comm comm, copy = MPI_COMM_NULL;

    code = MPI_SUCCESS;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, key, attr_word(6)));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_INT(attr_deleted.count, 1);
    code = last;
    check_code(MPI_Comm_set_attr(comm, key, attr_word(7)));
    check_code(MPI_Comm_delete_attr(comm, key));
    check_code(MPI_Comm_free(&comm));
    CHECK(comm != MPI_COMM_NULL, "the handle is gone");
    if (test_is_parley()) /* not said of a communicator that could not be freed */
        CHECK_COMM_ATTR(comm, key, 6);
    check_code(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Barrier(comm)); /* it is whole */
    code = MPI_SUCCESS;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(attr_deleted.count, 2);
    attr_deleted.count = 0;
}

/* Fails on one process only: the others go on with their duplicate, which they only free. */
static void on_one_process(int key)
{
    MPI_Comm comm, copy = MPI_COMM_NULL;
    int rc;

    code = MPI_SUCCESS;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, key, attr_word(6)));
    code = test_rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
    rc = MPI_Comm_dup(comm, &copy);
    CHECK_INT(rc != MPI_SUCCESS, test_rank == 0);
    code = MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&comm));
    attr_deleted.count = 0;
}

static void types(int key, int last)
{
    MPI_Datatype type, copy;

    code = MPI_SUCCESS;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, attr_word(6)));
    code = last;
    check_code(MPI_Type_set_attr(type, key, attr_word(7)));
    check_code(MPI_Type_delete_attr(type, key));
    check_code(MPI_Type_free(&type));
    CHECK(type != MPI_DATATYPE_NULL, "the handle is gone");
    CHECK_TYPE_ATTR(type, key, 6);
    check_code(MPI_Type_dup(type, &copy));
    code = MPI_SUCCESS;
    CHECK_OK(MPI_Type_free(&type));
    CHECK_INT(attr_deleted.count, 1);
    attr_deleted.count = 0;
}

int main(int argc, char **argv)
{
    int comm_key, type_key, class, own;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_keyval(copy_fails, delete_fails, &comm_key, NULL));
    CHECK_OK(MPI_Type_create_keyval(type_copy_fails, type_delete_fails, &type_key, NULL));
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &own));
    comms(comm_key, MPI_ERR_OTHER);
    comms(comm_key, own);
    on_one_process(comm_key);
    types(type_key, MPI_ERR_OTHER);
    types(type_key, own);
    CHECK_OK(MPI_Comm_free_keyval(&comm_key));
    CHECK_OK(MPI_Type_free_keyval(&type_key));
    return test_end();
}
