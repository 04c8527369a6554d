/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.4, §14.6.1, §14.7: a collective access that fails at one process fails at all; atomic accesses are seen
 * whole or not at all; what is synchronized is on the device. */
#include "mpifile.h"

enum { LENGTH = 6000, TURNS = 15 };

static MPI_File fh;

static void set_rows(MPI_File file)
{
    MPI_Datatype row, filetype;

    CHECK_OK(MPI_Type_create_indexed_block(1, 2, &(int){ 2 * test_rank }, MPI_INT, &row));
    CHECK_OK(MPI_Type_create_resized(row, 0, 8 * test_size, &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&row));
    CHECK_OK(MPI_Type_free(&filetype));
}

static void test_one_fails(void)
{
    int values[8] = { 0 };
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Offset offset = test_rank == test_size - 1 ? -1 : 0;
    int rc;

    set_rows(fh);
    CHECK_CLASS(MPI_File_write_at_all(fh, offset, values, 8, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_at_all(fh, offset, values, 8, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    rc = MPI_File_iread_at_all(fh, offset, values, 8, MPI_INT, &request);
    if (offset < 0)
        CHECK_CLASS(rc, MPI_ERR_ARG);
    else
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_OK(MPI_File_write_at_all(fh, 0, values, 8, MPI_INT, MPI_STATUS_IGNORE)); /* and goes on */
}

/* Aggregators that cannot write tell all. */
static void test_full(void)
{
    static int values[2000];
    MPI_Status status;
    MPI_File full;
    int count = -1;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &full));
    set_rows(full);
    CHECK_CLASS(MPI_File_write_all(full, values, 2000, MPI_INT, &status), MPI_ERR_NO_SPACE);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_File_close(&full));
}

/* All write to the same place, with gaps; a reader finds what one of them has written. */
static void test_atomic(void)
{
    static int values[LENGTH];
    MPI_Datatype gaps;
    int flag = -1;

    CHECK_OK(MPI_Type_vector(LENGTH, 1, 3, MPI_INT, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, gaps, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_INT(flag, 0);
    if (test_size > 1)
        CHECK_CLASS(MPI_File_set_atomicity(fh, test_rank == 0), MPI_ERR_NOT_SAME);
    CHECK_OK(MPI_File_set_atomicity(fh, 1));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_INT(flag, 1);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < LENGTH; i++)
            values[i] = test_rank * TURNS + turn;
        if (turn % 3 == 2)
            CHECK_OK(MPI_File_write_at_all(fh, 0, values, LENGTH, MPI_INT, MPI_STATUS_IGNORE));
        else
            CHECK_OK(MPI_File_write_at(fh, 0, values, LENGTH, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(fh, 0, values, LENGTH, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 1; i < LENGTH; i++)
            CHECK_INT(values[i], values[0]);
    }
    CHECK_OK(MPI_File_set_atomicity(fh, 0));
    CHECK_OK(MPI_Type_free(&gaps));
}

static void test_sync(const char *path)
{
    MPI_File other;

    CHECK_OK(MPI_File_sync(fh));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other));
    CHECK_CLASS(MPI_File_sync(other), MPI_ERR_READ_ONLY);
    CHECK_OK(MPI_File_close(&other));
}

int main(int argc, char *argv[])
{
    const char *path;

    file_begin(&argc, &argv);
    path = file_path("together");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    test_one_fails();
    test_full();
    test_atomic();
    test_sync(path);
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
