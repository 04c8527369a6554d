/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.1.2: MPI_Get_processor_name gives a name with its length, null-terminated, below the maximum,
 * and the same at every call. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME + 8], again[MPI_MAX_PROCESSOR_NAME + 8];
    int len = -1, len_again = -1;

    test_begin(&argc, &argv);
    memset(name, TEST_CANARY, sizeof name);
    CHECK_OK(MPI_Get_processor_name(name, &len));
    CHECK(len > 0 && len < MPI_MAX_PROCESSOR_NAME, "length %d", len);
    CHECK_INT(name[len], 0);
    CHECK_INT(strlen(name), len);
    CHECK_UNTOUCHED(name + MPI_MAX_PROCESSOR_NAME, 8);
    CHECK_OK(MPI_Get_processor_name(again, &len_again));
    CHECK(strcmp(name, again) == 0 && len == len_again, "\"%s\", then \"%s\"", name, again);
    return test_end();
}
