/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.4.4: MPI_File_write_shared is not collective, and needs no other process to call MPI (§2.9): it ends
 * while all others wait, outside of MPI, for what its caller does afterwards. */
#include "mpifile.h"

enum { ROUNDS = 3, WRITES = 3 };

/* The others wait until the file has lost its name. */
static void write_alone(MPI_File file, const char *path)
{
    const char byte = (char)('a' + test_rank);
    MPI_Offset offset;

    for (int i = 0; i < WRITES; i++)
        CHECK_OK(MPI_File_write_shared(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_get_position_shared(file, &offset));
    CHECK_INT(offset, WRITES);
    CHECK_INT(unlink(path), 0);
}

int main(int argc, char **argv)
{
    char name[16];
    MPI_File file;

    file_begin(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        const char *path = file_path((snprintf(name, sizeof name, "file%d", round), name));
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        if (test_rank == (test_size - 1) / (round + 1))
            write_alone(file, path);
        while (!access(path, F_OK))
            usleep(1000);
        CHECK_OK(MPI_File_close(&file));
    }
    return file_finish();
}
