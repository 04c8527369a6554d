/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2, §9.1.2: whatever this machine is: what MPI_Get_hw_resource_info says a process is restricted to
 * gives a communicator of MPI_Comm_split_type, and what it is not gives none; the unguided split ends. */
#include "mpitest.h"

static int is_true(MPI_Info info, const char *key)
{
    char value[8] = "";
    int len = sizeof value, flag;

    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && (!strcmp(value, "true") || !strcmp(value, "false")), "%s is \"%s\"", key, value);
    return !strcmp(value, "true");
}

/* Processes bound to different numbers of processors may have different keys; all ask for the names of rank 0. */
static void check_key(MPI_Info known, const char *key)
{
    int len = 0, flag;
    MPI_Info info;
    MPI_Comm comm;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", key));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm));
    CHECK_OK(MPI_Info_get_string(known, key, &len, NULL, &flag));
    if (flag)
        CHECK_INT(comm != MPI_COMM_NULL, is_true(known, key));
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Info_free(&info));
}

static void check_unguided(void)
{
    MPI_Comm comm, next;
    int size, part;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    while (comm != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &next));
        if (next != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_size(next, &part));
            CHECK(part < size, "%d of %d", part, size);
        }
        CHECK_OK(MPI_Comm_free(&comm));
        comm = next;
    }
}

int main(int argc, char **argv)
{
    char key[MPI_MAX_INFO_KEY] = "";
    MPI_Info info;
    int keys;

    test_begin(&argc, &argv);
    NEEDS(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_OK(MPI_Bcast(&keys, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < keys; i++) {
        if (!test_rank)
            CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK_OK(MPI_Bcast(key, sizeof key, MPI_CHAR, 0, MPI_COMM_WORLD));
        CHECK(strstr(key, "://"), "\"%s\" is no URI", key);
        check_key(info, key);
    }
    CHECK_OK(MPI_Info_free(&info));
    check_unguided();
    return test_end();
}
