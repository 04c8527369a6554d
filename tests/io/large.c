/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.4: the forms with large counts do what the others do, on memory with gaps, and tell their counts. */
#include "mpifile.h"

enum { COUNT = 40 };

static MPI_File fh;
static MPI_Datatype gaps;
static int values[2 * COUNT], got[2 * COUNT];
static MPI_Status status;
static MPI_Request request;
static int round_number;

static void next_values(void)
{
    round_number++;
    for (int i = 0; i < 2 * COUNT; i++)
        values[i] = (round_number * test_size + test_rank) * 1000 + i;
    memset(got, 0x7A, sizeof got);
    status = test_dirty_status();
}

static void check_count(void)
{
    MPI_Count count = -1;

    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK_INT(count, COUNT);
}

/* Every second one is data. */
static void check_got(const char *what)
{
    check_count();
    for (int i = 0; i < 2 * COUNT; i++)
        CHECK(got[i] == (i % 2 ? 0x7A7A7A7A : values[i]), "%s: element %d is %d", what, i, got[i]);
}

static void back(void)
{
    check_count();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_seek(fh, (MPI_Offset)test_rank * COUNT, MPI_SEEK_SET));
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
}

static const MPI_Count one = 1;

/* At an offset, at the pointer. */
static void test_alone(void)
{
    const MPI_Offset own = (MPI_Offset)test_rank * COUNT;

    next_values();
    CHECK_OK(MPI_File_write_at_c(fh, own, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_at_c(fh, own, got, one, gaps, &status));
    check_got("read_at_c");
    next_values();
    CHECK_OK(MPI_File_write_c(fh, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_c(fh, got, one, gaps, &status));
    check_got("read_c");
    back();
    next_values();
    CHECK_OK(MPI_File_iwrite_at_c(fh, own, values, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    back();
    CHECK_OK(MPI_File_iread_at_c(fh, own, got, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_got("iread_at_c");
    next_values();
    CHECK_OK(MPI_File_iwrite_c(fh, values, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    back();
    CHECK_OK(MPI_File_iread_c(fh, got, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_got("iread_c");
    back();
    memset(got, 0x7A, sizeof got);
    CHECK_OK(MPI_File_iread(fh, got, 1, gaps, &request)); /* the same by the other form */
    CHECK_OK(MPI_Wait(&request, &status));
    check_got("iread");
    back();
}

static void test_all(void)
{
    const MPI_Offset own = (MPI_Offset)test_rank * COUNT;

    next_values();
    CHECK_OK(MPI_File_write_at_all_c(fh, own, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_at_all_c(fh, own, got, one, gaps, &status));
    check_got("read_at_all_c");
    next_values();
    CHECK_OK(MPI_File_write_all_c(fh, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_all_c(fh, got, one, gaps, &status));
    check_got("read_all_c");
    back();
    next_values();
    CHECK_OK(MPI_File_iwrite_at_all_c(fh, own, values, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    back();
    CHECK_OK(MPI_File_iread_at_all_c(fh, own, got, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_got("iread_at_all_c");
    next_values();
    CHECK_OK(MPI_File_iwrite_all_c(fh, values, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    back();
    CHECK_OK(MPI_File_iread_all_c(fh, got, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_got("iread_all_c");
    back();
}

static void test_split(void)
{
    const MPI_Offset own = (MPI_Offset)test_rank * COUNT;

    next_values();
    CHECK_OK(MPI_File_write_at_all_begin_c(fh, own, values, one, gaps));
    CHECK_OK(MPI_File_write_at_all_end(fh, values, &status));
    back();
    CHECK_OK(MPI_File_read_at_all_begin_c(fh, own, got, one, gaps));
    CHECK_OK(MPI_File_read_at_all_end(fh, got, &status));
    check_got("read_at_all_begin_c");
    next_values();
    CHECK_OK(MPI_File_write_all_begin_c(fh, values, one, gaps));
    CHECK_OK(MPI_File_write_all_end(fh, values, &status));
    back();
    CHECK_OK(MPI_File_read_all_begin_c(fh, got, one, gaps));
    CHECK_OK(MPI_File_read_all_end(fh, got, &status));
    check_got("read_all_begin_c");
    back();
    next_values();
    CHECK_OK(MPI_File_write_ordered_begin_c(fh, values, one, gaps));
    CHECK_OK(MPI_File_write_ordered_end(fh, values, &status));
    back();
    CHECK_OK(MPI_File_read_ordered_begin_c(fh, got, one, gaps));
    CHECK_OK(MPI_File_read_ordered_end(fh, got, &status));
    check_got("read_ordered_begin_c");
    back();
}

/* Who comes first is open, but each reads what somebody has written. */
static void check_shared(void)
{
    long long sum = got[0], own = values[0], all = 0, want = 0;

    check_count();
    CHECK_OK(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(&own, &want, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(all, want);
}

static void test_shared(void)
{
    next_values();
    CHECK_OK(MPI_File_write_ordered_c(fh, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_ordered_c(fh, got, one, gaps, &status));
    check_got("read_ordered_c");
    back();
    next_values();
    CHECK_OK(MPI_File_write_shared_c(fh, values, one, gaps, &status));
    back();
    CHECK_OK(MPI_File_read_shared_c(fh, got, one, gaps, &status));
    check_shared();
    back();
    next_values();
    CHECK_OK(MPI_File_iwrite_shared_c(fh, values, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    back();
    CHECK_OK(MPI_File_iread_shared_c(fh, got, one, gaps, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_shared();
    back();
}

int main(int argc, char *argv[])
{
    file_begin(&argc, &argv);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("large"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_view(fh, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_vector_c(COUNT, 1, 2, MPI_INT, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    status.MPI_ERROR = 0;
    CHECK_OK(MPI_File_seek(fh, (MPI_Offset)test_rank * COUNT, MPI_SEEK_SET));
    test_alone();
    test_all();
    test_split();
    test_shared();
    CHECK_OK(MPI_Type_free(&gaps));
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
