/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2: attributes of a communicator can be set, read, replaced and deleted; replacing and deleting call the
 * delete callback; MPI_Comm_dup copies what the copy callback wants, MPI_Comm_free deletes all; other communicators
 * are not concerned. */
#include "mpiattr.h"

static int copies;

/* Keeps what is larger than 10, plus the rank. */
static int copy_large(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
    int rank;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK(extra == &attr_deleted && keyval != MPI_KEYVAL_INVALID, "extra state is %p", extra);
    *flag = (intptr_t)value > 10;
    *(void **)out = attr_word((intptr_t)value + rank);
    copies++;
    return MPI_SUCCESS;
}

static void set_and_replace(MPI_Comm comm, int key)
{
    CHECK_COMM_ATTR(comm, key, -1);
    CHECK_OK(MPI_Comm_delete_attr(comm, key));
    CHECK_OK(MPI_Comm_set_attr(comm, key, attr_word(5)));
    CHECK_COMM_ATTR(comm, key, 5);
    CHECK_OK(MPI_Comm_set_attr(comm, key, attr_word(0)));
    CHECK_COMM_ATTR(comm, key, 0);
    CHECK(attr_deleted.count == 1 && attr_was_deleted(5), "%d calls", attr_deleted.count);
    CHECK_OK(MPI_Comm_delete_attr(comm, key));
    CHECK(attr_deleted.count == 2 && attr_was_deleted(0), "%d calls", attr_deleted.count);
    CHECK_COMM_ATTR(comm, key, -1);
    attr_deleted.count = 0;
}

static void dup_and_free(MPI_Comm comm, const int key[4])
{
    MPI_Comm copy, other;

    CHECK_OK(MPI_Comm_set_attr(comm, key[0], attr_word(7)));
    CHECK_OK(MPI_Comm_set_attr(comm, key[1], attr_word(20)));
    CHECK_OK(MPI_Comm_set_attr(comm, key[2], attr_word(3)));
    CHECK_OK(MPI_Comm_set_attr(comm, key[3], attr_word(4)));
    copies = 0;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_INT(copies, 2);
    CHECK_COMM_ATTR(copy, key[0], -1);
    CHECK_COMM_ATTR(copy, key[1], 20 + test_rank);
    CHECK_COMM_ATTR(copy, key[2], 3);
    CHECK_COMM_ATTR(copy, key[3], -1);
    CHECK_COMM_ATTR(comm, key[0], 7);
    CHECK_OK(MPI_Comm_split(copy, 0, 0, &other)); /* no duplicate: no attributes */
    CHECK_COMM_ATTR(other, key[2], -1);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_INT(attr_deleted.count, 0);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK(copy == MPI_COMM_NULL, "the handle is still there");
    CHECK_INT(attr_deleted.count, 2);
    CHECK(attr_was_deleted(20 + test_rank) == 1 && attr_was_deleted(3) == 1, "other values");
    attr_deleted.count = 0;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int key[4];

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_keyval(copy_large, attr_delete_comm, &key[0], &attr_deleted));
    CHECK_OK(MPI_Comm_create_keyval(copy_large, attr_delete_comm, &key[1], &attr_deleted));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, attr_delete_comm, &key[2], &attr_deleted));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key[3], NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    set_and_replace(comm, key[0]);
    set_and_replace(MPI_COMM_WORLD, key[0]);
    dup_and_free(comm, key);
    CHECK_COMM_ATTR(MPI_COMM_WORLD, key[0], -1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(attr_deleted.count, 3);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Comm_free_keyval(&key[i]));
        CHECK_INT(key[i], MPI_KEYVAL_INVALID);
    }
    return test_end();
}
