/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.7: what is wrong with the arguments of one process of a collective call is an error of all, whatever it
 * is: errors return, so nobody may be left waiting. Files that were there before are there after that. */
#include "mpifile.h"

enum { COUNT = 4 };

static MPI_File fh;
static int values[COUNT];
static MPI_Datatype not_committed;

static int is_last(void)
{
    return test_rank == test_size - 1;
}

/* The last process asks for -1 items, for items of no type, or of one that may not communicate yet. */
static int count_of(int way)
{
    return is_last() && way == 0 ? -1 : COUNT;
}

static MPI_Datatype type_of(int way)
{
    return !is_last() || way == 0 ? MPI_INT : way == 1 ? MPI_DATATYPE_NULL : not_committed;
}

static void test_blocking(int way, int class)
{
    const int count = count_of(way);
    MPI_Datatype type = type_of(way);

    CHECK_CLASS(MPI_File_write_at_all(fh, 0, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_read_at_all(fh, 0, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_write_all(fh, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_read_all(fh, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_write_ordered(fh, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_read_ordered(fh, values, count, type, MPI_STATUS_IGNORE), class);
    CHECK_CLASS(MPI_File_write_at_all_c(fh, 0, values, count, type, MPI_STATUS_IGNORE), class);
}

/* The process itself is told at once, the others at the end. */
static void check_later(int rc, MPI_Request *request, int class)
{
    if (is_last())
        CHECK_CLASS(rc, class);
    else
        CHECK_CLASS(rc ? rc : MPI_Wait(request, MPI_STATUS_IGNORE), class);
}

static void test_nonblocking(int way, int class)
{
    const int count = count_of(way);
    MPI_Datatype type = type_of(way);
    MPI_Request request = MPI_REQUEST_NULL;

    check_later(MPI_File_iwrite_at_all(fh, 0, values, count, type, &request), &request, class);
    check_later(MPI_File_iread_at_all(fh, 0, values, count, type, &request), &request, class);
    check_later(MPI_File_iwrite_all(fh, values, count, type, &request), &request, class);
    check_later(MPI_File_iread_all(fh, values, count, type, &request), &request, class);
}

static void test_split(int way, int class)
{
    const int count = count_of(way);
    MPI_Datatype type = type_of(way);
    int rc;

#define SPLIT(begin, end) \
    do { \
        rc = begin; \
        CHECK_CLASS(rc ? rc : end, class); \
    } while (0)
    SPLIT(MPI_File_write_at_all_begin(fh, 0, values, count, type),
          MPI_File_write_at_all_end(fh, values, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_read_at_all_begin(fh, 0, values, count, type),
          MPI_File_read_at_all_end(fh, values, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_write_all_begin(fh, values, count, type), MPI_File_write_all_end(fh, values, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_read_all_begin(fh, values, count, type), MPI_File_read_all_end(fh, values, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_write_ordered_begin(fh, values, count, type),
          MPI_File_write_ordered_end(fh, values, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_read_ordered_begin(fh, values, count, type),
          MPI_File_read_ordered_end(fh, values, MPI_STATUS_IGNORE));
#undef SPLIT
}

static void test_view(void)
{
    MPI_Info info;
    int rc;

    CHECK_CLASS(MPI_File_set_view(fh, 0, type_of(1), MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, type_of(2), "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_OK(MPI_Info_create(&info));
    rc = MPI_File_set_info(fh, is_last() ? MPI_INFO_NULL : info); /* the first process's hints are used by all */
    if (is_last())
        CHECK_CLASS(rc, MPI_ERR_INFO);
    else
        CHECK_OK(rc);
    CHECK_OK(MPI_Info_free(&info));
}

/* Only the current place will do. */
static void test_sequential(const char *path)
{
    const int amode = MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL;
    const MPI_Offset disp = is_last() ? 8 : MPI_DISPLACEMENT_CURRENT;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    CHECK_CLASS(MPI_File_set_view(fh, disp, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, type_of(1), MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_TYPE);
    CHECK_OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_close(&fh));
}

static void test_open(const char *path)
{
    MPI_File other = MPI_FILE_NULL;

    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, is_last() ? NULL : path, MPI_MODE_RDWR, MPI_INFO_NULL, &other),
                MPI_ERR_ARG);
    CHECK(other == MPI_FILE_NULL, "there is a handle");
    if (test_size > 1) /* MPI_MODE_EXCL means nothing without MPI_MODE_CREATE */
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, is_last() ? file_path("none") : path,
                                  MPI_MODE_RDWR | MPI_MODE_EXCL, MPI_INFO_NULL, &other), MPI_ERR_NO_SUCH_FILE);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(file_is_there(path), "the file is gone");
}

int main(int argc, char *argv[])
{
    static const int classes[] = { MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TYPE };
    const char *path;
    MPI_Offset position = -1;

    file_begin(&argc, &argv);
    path = file_path("refused");
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &not_committed));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int way = 0; way < 3; way++) {
        test_blocking(way, classes[way]);
        test_nonblocking(way, classes[way]);
        test_split(way, classes[way]);
    }
    test_view();
    CHECK_OK(MPI_File_seek(fh, COUNT * test_rank, MPI_SEEK_SET));
    CHECK_OK(MPI_File_write_all(fh, values, COUNT, MPI_INT, MPI_STATUS_IGNORE)); /* and goes on */
    CHECK_OK(MPI_File_get_position(fh, &position));
    CHECK_INT(position, COUNT * (test_rank + 1));
    CHECK_OK(MPI_File_close(&fh));
    test_sequential(path);
    test_open(path);
    CHECK_OK(MPI_Type_free(&not_committed));
    return file_finish();
}
