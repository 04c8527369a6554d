/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.2.4 to §14.2.6: a file is cut and made longer by set_size, never made shorter by preallocate. */
#include "mpifile.h"

static void check_size(MPI_File fh, MPI_Offset want)
{
    MPI_Offset size = -1;

    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_INT(size, want);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char *argv[])
{
    const char *path;
    MPI_File fh;

    file_begin(&argc, &argv);
    path = file_path("size");
    file_make(path, 1000, 7);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    check_size(fh, 1000);
    CHECK_OK(MPI_File_set_size(fh, 300));
    check_size(fh, 300);
    CHECK_OK(MPI_File_preallocate(fh, 200));
    check_size(fh, 300);
    CHECK_OK(MPI_File_preallocate(fh, 0));
    check_size(fh, 300);
    CHECK_OK(MPI_File_preallocate(fh, 70000));
    check_size(fh, 70000);
    CHECK_OK(MPI_File_set_size(fh, (MPI_Offset)5 << 30));
    check_size(fh, (MPI_Offset)5 << 30);
    CHECK_OK(MPI_File_set_size(fh, 0));
    check_size(fh, 0);
    CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_preallocate(fh, -9), MPI_ERR_ARG);
    if (test_size > 1) {
        CHECK_CLASS(MPI_File_set_size(fh, test_rank), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_preallocate(fh, 10 + (test_rank == 1)), MPI_ERR_NOT_SAME);
    }
    check_size(fh, 0);
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    CHECK_CLASS(MPI_File_set_size(fh, 10), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(fh, 10), MPI_ERR_READ_ONLY);
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
