/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2, §9.1.2: wrong keys are MPI_ERR_KEYVAL: the invalid one, predefined ones, which are read only, those
 * of another kind of object, freed ones. The text says which. */
#include "mpiattr.h"

static void check_comm(MPI_Comm comm, int key)
{
    void *value;
    int flag, copy = key;

    CHECK_CLASS(MPI_Comm_set_attr(comm, key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_delete_attr(comm, key), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL);
    CHECK_INT(copy, key);
    if (key < MPI_TAG_UB || key > MPI_UNIVERSE_SIZE)
        CHECK_CLASS(MPI_Comm_get_attr(comm, key, &value, &flag), MPI_ERR_KEYVAL);
}

static void check_type(int key)
{
    void *value;
    int flag, copy = key;

    CHECK_CLASS(MPI_Type_set_attr(MPI_INT, key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_delete_attr(MPI_INT, key), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_get_attr(MPI_INT, key, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_free_keyval(&copy), MPI_ERR_KEYVAL);
    CHECK_INT(copy, key);
}

static void check_text(int rc, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    CHECK_OK(MPI_Error_string(rc, text, &len));
    if (test_is_parley())
        CHECK(strstr(text, part), "\"%s\" is not in \"%s\"", part, text);
}

int main(int argc, char **argv)
{
    static const int predefined[] = { MPI_KEYVAL_INVALID, MPI_TAG_UB, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL,
                                      MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE, MPI_WIN_BASE };
    int comm_key, type_key, win_key, freed;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL));
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        check_comm(MPI_COMM_WORLD, predefined[i]);
        check_type(predefined[i]);
    }
    if (test_is_parley()) { /* others need not see these */
        freed = comm_key;
        CHECK_OK(MPI_Comm_free_keyval(&comm_key));
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
        check_comm(MPI_COMM_WORLD, freed);
        check_comm(MPI_COMM_WORLD, type_key);
        check_comm(MPI_COMM_WORLD, win_key);
        check_type(comm_key);
        check_text(MPI_Comm_set_attr(MPI_COMM_WORLD, type_key, NULL), "made for attributes of datatypes");
        check_text(MPI_Comm_set_attr(MPI_COMM_WORLD, freed, NULL), "freed already");
        check_text(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL), "MPI_TAG_UB, which is predefined");
    }
    CHECK_OK(MPI_Comm_free_keyval(&comm_key));
    CHECK_OK(MPI_Type_free_keyval(&type_key));
    CHECK_OK(MPI_Win_free_keyval(&win_key));
    CHECK_INT(win_key, MPI_KEYVAL_INVALID);
    return test_end();
}
