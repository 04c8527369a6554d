/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.1.2: MPI_TAG_UB, MPI_WTIME_IS_GLOBAL and MPI_IO are attributes of MPI_COMM_WORLD: pointers to
 * int. */
#include "mpitest.h"

int main(int argc, char **argv)
{
    int *value = NULL, is_set = -1;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set));
    CHECK_INT(is_set, 1);
    CHECK(*value >= 32767, "MPI_TAG_UB is %d", *value);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &is_set));
    if (is_set)
        CHECK(*value == 0 || *value == 1, "MPI_WTIME_IS_GLOBAL is %d", *value);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &is_set));
    CHECK_INT(is_set, 1);
    CHECK(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < test_size),
          "MPI_IO is %d", *value);
    return test_end();
}
