/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.8: communicators have names: the predefined ones their constant, new ones none; a name that is
 * set comes back, is not handed on by MPI_Comm_dup, and may be changed. Predefined datatypes have names, and
 * since MPI 4.1 the null handles of both. */
#include "mpitest.h"

static void check_name(MPI_Comm comm, const char *want)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "?";
    int len = -1;

    NEEDS(MPI_Comm_get_name(comm, name, &len));
    CHECK(strcmp(name, want) == 0, "expected \"%s\", got \"%s\"", want, name);
    CHECK_INT(len, strlen(want));
}

static void check_type_name(MPI_Datatype type, const char *want)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "?";
    int len = -1;

    NEEDS(MPI_Type_get_name(type, name, &len));
    CHECK(strcmp(name, want) == 0, "expected \"%s\", got \"%s\"", want, name);
    CHECK_INT(len, strlen(want));
}

static int is_at_least(int version, int subversion)
{
    int have, have_sub;

    CHECK_OK(MPI_Get_version(&have, &have_sub));
    return have > version || (have == version && have_sub >= subversion);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;

    test_begin(&argc, &argv);
    check_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    check_name(MPI_COMM_SELF, "MPI_COMM_SELF");
    NEEDS(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    check_name(MPI_COMM_WORLD, "everybody");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    check_name(dup, "");
    CHECK_OK(MPI_Comm_set_name(dup, "again"));
    check_name(dup, "again");
    check_name(MPI_COMM_WORLD, "everybody");
    CHECK_OK(MPI_Comm_free(&dup));
    check_type_name(MPI_DOUBLE, "MPI_DOUBLE");
    if (is_at_least(4, 1)) {
        check_name(MPI_COMM_NULL, "MPI_COMM_NULL");
        check_type_name(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
    }
    return test_end();
}
