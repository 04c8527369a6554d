/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2: callbacks are functions like others and may call MPI: here they communicate over the communicator in
 * question, look at its attributes, set others and make duplicates. */
#include "mpiattr.h"

static int busy, second, inner;

static int sum_over(MPI_Comm comm)
{
    int sum = 0;

    CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static int copy_and_call(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
    MPI_Comm copy;

    CHECK_INT(sum_over(comm), test_size * (test_size - 1) / 2);
    CHECK_COMM_ATTR(comm, keyval, (intptr_t)value);
    CHECK(extra == &busy, "extra state is %p", extra);
    if (!inner) {
        inner = 1;
        CHECK_OK(MPI_Comm_dup(comm, &copy)); /* comes through here again */
        CHECK_OK(MPI_Comm_free(&copy));
        inner = 0;
    }
    CHECK_OK(MPI_Comm_set_attr(comm, second, attr_word(77)));
    *(void **)out = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_and_call(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(value && extra == &busy, "extra state is %p", extra);
    CHECK_INT(sum_over(comm), test_size * (test_size - 1) / 2);
    CHECK_OK(MPI_Comm_delete_attr(comm, second));
    attr_note(attr_word(keyval));
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, copy;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_keyval(copy_and_call, delete_and_call, &busy, &busy));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, busy, attr_word(5)));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_COMM_ATTR(copy, busy, 5);
    CHECK_COMM_ATTR(comm, second, 77);
    CHECK_INT(attr_deleted.count, 1);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_INT(attr_deleted.count, 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(attr_deleted.count, 3);
    CHECK_OK(MPI_Comm_free_keyval(&busy));
    CHECK_OK(MPI_Comm_free_keyval(&second));
    return test_end();
}
