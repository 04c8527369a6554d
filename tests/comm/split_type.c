/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_split_type: by shared memory, by named resources and by process sets; what is not known
 * gives MPI_COMM_NULL. On one machine. */
#include "mpitest.h"

/* -1: MPI_COMM_NULL. Keys turn the order round. */
static int size_by(int type, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm;
    int size = -1, rank = -1;

    if (key) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, key, value));
    }
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, -test_rank, info, &comm));
    if (comm != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_INT(rank, size == 1 ? 0 : test_size - 1 - test_rank);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (key)
        CHECK_OK(MPI_Info_free(&info));
    return size;
}

int main(int argc, char **argv)
{
    const char resource[] = "mpi_hw_resource_type", set[] = "mpi_pset_name";
    MPI_Comm comm;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("others know other resources");
    CHECK_INT(size_by(MPI_COMM_TYPE_SHARED, NULL, NULL), test_size);
    CHECK_INT(size_by(MPI_UNDEFINED, NULL, NULL), -1);
    CHECK_INT(size_by(MPI_COMM_TYPE_HW_GUIDED, resource, "mpi_shared_memory"), test_size);
    CHECK_INT(size_by(MPI_COMM_TYPE_HW_GUIDED, resource, "no such thing"), -1);
    CHECK_INT(size_by(MPI_COMM_TYPE_HW_GUIDED, "other", "mpi_shared_memory"), -1);
    CHECK_INT(size_by(MPI_COMM_TYPE_HW_GUIDED, set, "mpi://WORLD"), -1);
    CHECK_INT(size_by(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL), -1);
    CHECK_INT(size_by(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, "mpi_shared_memory"), test_size);
    CHECK_INT(size_by(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://WORLD"), test_size);
    CHECK_INT(size_by(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "MPI://self"), 1);
    CHECK_INT(size_by(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://other"), -1);
    CHECK_INT(size_by(test_rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, NULL, NULL), test_rank ? test_size - 1 : -1);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
    return test_end();
}
