/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §16.1: the names of MPI-1 are gone from mpi.h, but programs built with older headers may have them: they
 * work on the same keys and attributes. Skipped where the library lacks them. */
#include "mpiattr.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma weak MPI_Keyval_create
#pragma weak MPI_Keyval_free
#pragma weak MPI_Attr_put
#pragma weak MPI_Attr_get
#pragma weak MPI_Attr_delete
extern int MPI_Keyval_create(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key,
                             void *extra);
extern int MPI_Keyval_free(int *key);
extern int MPI_Attr_put(MPI_Comm comm, int key, void *value);
extern int MPI_Attr_get(MPI_Comm comm, int key, void *value, int *flag);
extern int MPI_Attr_delete(MPI_Comm comm, int key);

int main(int argc, char **argv)
{
    MPI_Comm copy;
    void *value = NULL;
    int key, flag;

    test_begin(&argc, &argv);
    if (!MPI_Keyval_create || !MPI_Keyval_free || !MPI_Attr_put || !MPI_Attr_get || !MPI_Attr_delete)
        test_skip("the library lacks the names of MPI-1");
    CHECK_OK(MPI_Keyval_create(MPI_COMM_DUP_FN, attr_delete_comm, &key, &attr_deleted));
    CHECK_OK(MPI_Attr_put(MPI_COMM_WORLD, key, attr_word(8)));
    CHECK_COMM_ATTR(MPI_COMM_WORLD, key, 8);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Attr_get(copy, key, &value, &flag));
    CHECK(flag && (intptr_t)value == 8, "flag %d", flag);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
    CHECK_INT(attr_deleted.count, 2);
    CHECK_OK(MPI_Keyval_free(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Keyval_free(&key), MPI_ERR_KEYVAL);
    return test_end();
}
