/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.4: assertions are kept and told; a duplicate has those that it is given and none of the old one's;
 * unknown hints are ignored. Every function that takes hints. */
#include "mpitest.h"

static const char any_tag[] = "mpi_assert_no_any_tag", exact[] = "mpi_assert_exact_length";

static int is_true(MPI_Comm comm, const char *key)
{
    char value[16] = "";
    int flag = -1, len = sizeof value;
    MPI_Info info;

    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(!test_is_parley() || flag, "%s is not told", key);
    return flag && !strcmp(value, "true");
}

static void check_new(MPI_Comm comm, int wanted)
{
    CHECK_INT(is_true(comm, any_tag), wanted);
    CHECK_INT(is_true(comm, exact), 0);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    CHECK_OK(MPI_Info_set(info, "nobody_knows", "this"));
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Info_free(&info));
}

static void made_with(MPI_Comm old, MPI_Info info, int wanted)
{
    MPI_Comm new;
    MPI_Group group;
    MPI_Request request;

    CHECK_OK(MPI_Comm_dup_with_info(old, info, &new));
    check_new(new, wanted);
    CHECK_OK(MPI_Comm_idup_with_info(old, info, &new, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_new(new, wanted);
    CHECK_OK(MPI_Comm_split_type(old, MPI_COMM_TYPE_SHARED, 0, info, &new));
    check_new(new, wanted);
    CHECK_OK(MPI_Comm_group(old, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "tests:hints", info, MPI_ERRORS_RETURN, &new));
    CHECK_OK(MPI_Group_free(&group));
    check_new(new, wanted);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, copy;
    MPI_Info info, same;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    set(comm, exact, "true");
    set(comm, any_tag, "maybe");
    CHECK_INT(is_true(comm, exact), 1);
    CHECK_INT(is_true(comm, any_tag), 0);
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    check_new(copy, 0);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, any_tag, "true"));
    made_with(comm, info, 1);
    made_with(comm, MPI_INFO_NULL, 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_get_info(comm, &same)); /* what is told may be given back */
    CHECK_OK(MPI_Comm_set_info(comm, same));
    CHECK_OK(MPI_Info_free(&same));
    CHECK_INT(is_true(comm, exact), 1);
    set(comm, exact, "false");
    CHECK_INT(is_true(comm, exact), 0);
    CHECK_INT(is_true(MPI_COMM_WORLD, exact), 0);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
