/* SPDX-License-Identifier: BSD-3-Clause */
/* When the connection to the process that has the shared file pointer breaks, calls that ask for it end with an error:
 * nobody waits for what cannot come. Rank 0, which has it, breaks it by the system's means. */
#include "cut.h"
#include "mpifile.h"

int main(int argc, char *argv[])
{
    MPI_Offset position;
    MPI_File fh;
    int rc = MPI_SUCCESS;

    file_begin(&argc, &argv);
    test_needs_ranks(2);
    if (!test_is_parley())
        test_skip("other libraries end the job");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("lost"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    if (test_rank) /* now all connections are there that such calls take */
        CHECK_OK(MPI_File_get_position_shared(fh, &position));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!test_rank) {
        CHECK(shut_connections() > 0, "there are no connections");
        return test_end();
    }
    while (!rc)
        rc = MPI_File_get_position_shared(fh, &position);
    check_lost(rc, "MPI_File_get_position_shared");
    check_lost(MPI_File_write_shared(fh, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_shared");
    unlink(file_path("lost"));
    rmdir(file_folder);
    return test_end();
}
