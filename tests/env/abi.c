/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §20.2, §20.3: MPI_Abi_get_version gives the version of the header, MPI_Abi_get_info the sizes of
 * the integer types; statuses are eight ints; predefined handles have the values of annex A. */
#include "mpitest.h"

#if MPI_VERSION >= 5
static void check_size(MPI_Info info, const char *key, size_t want)
{
    char value[64] = "";
    int len = sizeof value, is_there = 0;

    NEEDS(MPI_Info_get_string(info, key, &len, value, &is_there));
    CHECK(is_there, "MPI_Abi_get_info has no key %s", key);
    CHECK_INT(atoi(value), want);
}

int main(int argc, char **argv)
{
    static const MPI_Comm in_initialiser = MPI_COMM_WORLD;
    int major = -5, minor = -5;
    MPI_Info info = MPI_INFO_NULL;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Abi_get_version(&major, &minor));
    CHECK_INT(major, MPI_ABI_VERSION);
    CHECK_INT(minor, MPI_ABI_SUBVERSION);
    CHECK_INT(sizeof(MPI_Status), 8 * sizeof(int));
    CHECK_INT(sizeof(MPI_Aint), sizeof(void *));
    CHECK_INT(sizeof(MPI_Count), 8);
    CHECK_INT(sizeof(MPI_Offset), 8);
    CHECK(in_initialiser == MPI_COMM_WORLD && (intptr_t)MPI_COMM_WORLD == 257, "MPI_COMM_WORLD");
    NEEDS(MPI_Abi_get_info(&info));
    check_size(info, "mpi_aint_size", sizeof(MPI_Aint));
    check_size(info, "mpi_count_size", sizeof(MPI_Count));
    check_size(info, "mpi_offset_size", sizeof(MPI_Offset));
    CHECK_OK(MPI_Info_free(&info));
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no ABI before MPI 5.0");
}
#endif
