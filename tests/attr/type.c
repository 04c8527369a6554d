/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.4: attributes of a datatype: set, read, replaced, deleted; MPI_Type_dup copies what the copy callback
 * wants, MPI_Type_free deletes all, but not while another handle to the type, from MPI_Type_get_contents, is held.
 * Predefined types may have them. */
#include "mpiattr.h"

static int copy_plus_one(MPI_Datatype datatype, int keyval, void *extra, void *value, void *out, int *flag)
{
    CHECK(datatype != MPI_DATATYPE_NULL && keyval != MPI_KEYVAL_INVALID, "wrong arguments");
    CHECK(extra == &attr_deleted, "extra state is %p", extra);
    *flag = 1;
    *(void **)out = attr_word((intptr_t)value + 1);
    return MPI_SUCCESS;
}

static void predefined(int key)
{
    CHECK_TYPE_ATTR(MPI_INT, key, -1);
    CHECK_OK(MPI_Type_set_attr(MPI_INT, key, attr_word(9)));
    CHECK_TYPE_ATTR(MPI_INT, key, 9);
    CHECK_TYPE_ATTR(MPI_DOUBLE, key, -1);
    CHECK_OK(MPI_Type_delete_attr(MPI_INT, key));
    CHECK_TYPE_ATTR(MPI_INT, key, -1);
    CHECK_INT(attr_deleted.count, 1);
    attr_deleted.count = 0;
}

static void dup_and_free(int key, int plain)
{
    MPI_Datatype type, copy, second;

    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, attr_word(1)));
    CHECK_OK(MPI_Type_set_attr(type, key, attr_word(2)));
    CHECK_OK(MPI_Type_set_attr(type, plain, attr_word(30)));
    CHECK(attr_deleted.count == 1 && attr_was_deleted(1), "%d calls", attr_deleted.count);
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_TYPE_ATTR(copy, key, 3);
    CHECK_TYPE_ATTR(copy, plain, -1);
    CHECK_OK(MPI_Type_dup(copy, &second));
    CHECK_TYPE_ATTR(second, key, 4);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK(copy == MPI_DATATYPE_NULL, "the handle is still there");
    CHECK_TYPE_ATTR(second, key, 4);
    CHECK_OK(MPI_Type_free(&second));
    CHECK_INT(attr_deleted.count, 4);
    CHECK(attr_was_deleted(2) && attr_was_deleted(3) && attr_was_deleted(4), "other values");
    attr_deleted.count = 0;
}

static void contents(int key)
{
    MPI_Datatype inner, outer, again;
    int integer;
    MPI_Aint address;

    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    CHECK_OK(MPI_Type_set_attr(inner, key, attr_word(50)));
    CHECK_OK(MPI_Type_contiguous(2, inner, &outer));
    CHECK_TYPE_ATTR(outer, key, -1);
    CHECK_OK(MPI_Type_get_contents(outer, 1, 0, 1, &integer, &address, &again));
    CHECK_OK(MPI_Type_free(&again));
    CHECK_INT(attr_deleted.count, 0);
    CHECK_TYPE_ATTR(inner, key, 50);
    CHECK_OK(MPI_Type_free(&inner));
    if (test_is_parley()) /* others: when no type is made of it any more */
        CHECK_INT(attr_deleted.count, 1);
    CHECK_OK(MPI_Type_free(&outer));
    CHECK_INT(attr_deleted.count, 1);
    attr_deleted.count = 0;
}

/* The first handle goes before others come: then the last of those takes the attributes along. */
static void contents_alone(int key)
{
    MPI_Datatype inner, outer, again, other;
    int integer;

    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    CHECK_OK(MPI_Type_contiguous(2, inner, &outer));
    CHECK_OK(MPI_Type_free(&inner));
    CHECK_OK(MPI_Type_get_contents(outer, 1, 0, 1, &integer, NULL, &again));
    CHECK_OK(MPI_Type_get_contents(outer, 1, 0, 1, &integer, NULL, &other));
    CHECK_OK(MPI_Type_set_attr(again, key, attr_word(60)));
    inner = again;
    CHECK_OK(MPI_Type_free(&again));
    if (test_is_parley()) { /* others: when no type is made of it any more; and they may crash */
        CHECK_INT(attr_deleted.count, 0);
        CHECK_TYPE_ATTR(other, key, 60);
        CHECK_OK(MPI_Type_free(&other));
        CHECK_INT(attr_deleted.count, 1);
        CHECK_CLASS(MPI_Type_free(&inner), MPI_ERR_TYPE);
    } else {
        CHECK_OK(MPI_Type_free(&other));
    }
    CHECK_OK(MPI_Type_free(&outer));
    CHECK_INT(attr_deleted.count, 1);
    attr_deleted.count = 0;
}

int main(int argc, char **argv)
{
    int key, plain;

    test_begin(&argc, &argv);
    NEEDS(MPI_Type_create_keyval(copy_plus_one, attr_delete_type, &key, &attr_deleted));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL));
    predefined(key);
    dup_and_free(key, plain);
    contents(key);
    contents_alone(key);
    CHECK_OK(MPI_Type_free_keyval(&key));
    CHECK_OK(MPI_Type_free_keyval(&plain));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    return test_end();
}
