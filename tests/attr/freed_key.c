/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2: a key may be freed while attributes have it: they are copied and deleted as before, whatever keys
 * are made meanwhile, and the key goes with the last of them. */
#include "mpiattr.h"

enum { OTHERS = 50 };

int main(int argc, char **argv)
{
    MPI_Comm comm, copy;
    int key, saved, others[OTHERS];

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, attr_delete_comm, &key, &attr_deleted));
    saved = key;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, key, attr_word(4)));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_INT(attr_deleted.count, 0);
    for (int i = 0; i < OTHERS; i++) {
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &others[i], NULL));
        CHECK(others[i] != saved, "key %d is given out while it is in use", saved);
    }
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_COMM_ATTR(copy, saved, 4);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_INT(attr_deleted.count, 1);
    CHECK_OK(MPI_Comm_delete_attr(comm, saved));
    CHECK_INT(attr_deleted.count, 2);
    if (test_is_parley()) /* a key that is gone is recognised, also when others have come */
        CHECK_CLASS(MPI_Comm_set_attr(comm, saved, NULL), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(attr_deleted.count, 2);
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(MPI_Comm_free_keyval(&others[i]));
    return test_end();
}
