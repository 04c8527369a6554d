/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.1.2, §7.4, §7.6.1: predefined attributes are pointers to int; splitting by shared memory; a copy
 * with hints; what is only for intercommunicators. */
#include "mpitest.h"

static int attribute(MPI_Comm comm, int keyval, int *flag)
{
    int *value = NULL;

    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, flag));
    return *flag ? *value : 0;
}

static void attributes(void)
{
    void *value;
    int flag, host;

    CHECK(attribute(MPI_COMM_WORLD, MPI_TAG_UB, &flag) >= 32767 && flag, "no MPI_TAG_UB");
    host = attribute(MPI_COMM_WORLD, MPI_HOST, &flag);
    CHECK(flag && (host == MPI_PROC_NULL || (host >= 0 && host < test_size)), "MPI_HOST is %d", host);
    CHECK(attribute(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &flag) >= MPI_ERR_LASTCODE && flag, "no MPI_LASTUSEDCODE");
    attribute(MPI_COMM_WORLD, MPI_IO, &flag);
    CHECK(flag, "no MPI_IO");
    attribute(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &flag);
    CHECK(flag, "no MPI_WTIME_IS_GLOBAL");
    if (test_is_parley() && test_size > 1) {
        CHECK_INT(attribute(MPI_COMM_WORLD, MPI_APPNUM, &flag), 0);
        CHECK_INT(flag, 1);
    }
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
}

static void split_type(void)
{
    MPI_Comm comm;
    int size, rank;

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -test_rank, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK(size <= test_size && rank < size, "rank %d of %d", rank, size);
    if (size == test_size)
        CHECK_INT(rank, size - 1 - test_rank);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL, "MPI_UNDEFINED gave a communicator");
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 1, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
}

static void groups_without(void)
{
    const int first = 0;
    int range[1][3] = { { test_size - 1, 0, -1 } }, size, result;
    MPI_Group all, rest, none;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_excl(all, 1, &first, &rest));
    CHECK_OK(MPI_Group_size(rest, &size));
    CHECK_INT(size, test_size - 1);
    CHECK_OK(MPI_Group_range_excl(all, 1, range, &none));
    CHECK_OK(MPI_Group_compare(none, MPI_GROUP_EMPTY, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_CLASS(MPI_Group_excl(all, 1, &test_size, &none), MPI_ERR_RANK);
    range[0][2] = 0;
    CHECK_CLASS(MPI_Group_range_excl(all, 1, range, &none), MPI_ERR_ARG);
    CHECK_OK(MPI_Group_free(&rest));
    CHECK_OK(MPI_Group_free(&all));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int size, flag = -1;

    test_begin(&argc, &argv);
    attributes();
    split_type();
    groups_without();
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_test_inter(comm, &flag));
    CHECK_INT(flag, 0);
    CHECK_CLASS(MPI_Comm_remote_size(comm, &size), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
