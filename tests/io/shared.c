/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.4.4: records written and read by the shared file pointer lie one behind the other, each once; ordered
 * access goes by ranks; seeking is for all. Nothing but the file is left in its folder. */
#include "mpifile.h"

enum { RECORD = 3, RECORDS = 20, ROUNDS = 10 };

static MPI_File fh;

static void check_position(MPI_Offset want)
{
    MPI_Offset position = -1;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_get_position_shared(fh, &position));
    CHECK_INT(position, want);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void fill(int *record, int number)
{
    for (int i = 0; i < RECORD; i++)
        record[i] = test_rank * 1000 + number;
}

static void write_records(void)
{
    int record[RECORD], later[RECORD];
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < RECORDS; i += 2) {
        fill(record, i);
        fill(later, i + 1);
        CHECK_OK(MPI_File_iwrite_shared(fh, later, RECORD, MPI_INT, &request));
        CHECK_OK(MPI_File_write_shared(fh, record, RECORD, MPI_INT, &status));
        CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, sizeof record);
        CHECK_OK(MPI_Wait(&request, &status));
    }
}

/* Every record is there once and whole. */
static void check_records(void)
{
    const int all = RECORDS * test_size;
    int *const seen = calloc((size_t)all, sizeof *seen);
    int record[RECORD];

    for (int i = 0; i < all; i++) {
        CHECK_OK(MPI_File_read_at(fh, (MPI_Offset)i * RECORD, record, RECORD, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(record[0] >= 0 && record[0] / 1000 < test_size && record[0] % 1000 < RECORDS, "record of %d", record[0]);
        CHECK(record[0] == record[1] && record[1] == record[2], "a torn record");
        seen[record[0] / 1000 * RECORDS + record[0] % 1000]++;
    }
    for (int i = 0; i < all; i++)
        CHECK_INT(seen[i], 1);
    free(seen);
}

/* All together read each record once. */
static void read_records(void)
{
    long long sum = 0, all = 0, want = 0;
    int record[RECORD];
    MPI_Request request;
    MPI_Status status;
    int count = RECORD;

    for (int turn = 0; count; turn++) {
        if (turn % 2) {
            CHECK_OK(MPI_File_iread_shared(fh, record, RECORD, MPI_INT, &request));
            CHECK_OK(MPI_Wait(&request, &status));
        } else {
            CHECK_OK(MPI_File_read_shared(fh, record, RECORD, MPI_INT, &status));
        }
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        sum += count ? record[0] + 1 : 0;
    }
    CHECK_OK(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int rank = 0; rank < test_size; rank++)
        for (int i = 0; i < RECORDS; i++)
            want += rank * 1000 + i + 1;
    CHECK_INT(all, want);
}

static int count_of(int rank, int round)
{
    return (rank * 7 + round * 3) % 5;
}

static void test_ordered(void)
{
    MPI_Offset place = 0;
    int bytes[8], expected;
    MPI_Status status;

    CHECK_OK(MPI_File_seek_shared(fh, 5, MPI_SEEK_SET));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count_of(test_rank, round); i++)
            bytes[i] = test_rank * 100 + round * 10 + i;
        if (round % 2) {
            CHECK_OK(MPI_File_write_ordered_begin(fh, bytes, count_of(test_rank, round), MPI_INT));
            CHECK_OK(MPI_File_write_ordered_end(fh, bytes, &status));
        } else {
            CHECK_OK(MPI_File_write_ordered(fh, bytes, count_of(test_rank, round), MPI_INT, &status));
        }
        CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, 4 * (size_t)count_of(test_rank, round));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0, at = 5; round < ROUNDS; round++)
        for (int rank = 0; rank < test_size; rank++)
            for (int i = 0; i < count_of(rank, round); i++, at++) {
                CHECK_OK(MPI_File_read_at(fh, at, &expected, 1, MPI_INT, MPI_STATUS_IGNORE));
                CHECK_INT(expected, rank * 100 + round * 10 + i);
                place = at + 1;
            }
    check_position(place ? place : 5);
    CHECK_OK(MPI_File_seek_shared(fh, -place + 5, MPI_SEEK_CUR));
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 2) {
            CHECK_OK(MPI_File_read_ordered(fh, bytes, count_of(test_rank, round), MPI_INT, &status));
        } else {
            CHECK_OK(MPI_File_read_ordered_begin(fh, bytes, count_of(test_rank, round), MPI_INT));
            CHECK_OK(MPI_File_read_ordered_end(fh, bytes, &status));
        }
        for (int i = 0; i < count_of(test_rank, round); i++)
            CHECK_INT(bytes[i], test_rank * 100 + round * 10 + i);
    }
}

static void test_seek(void)
{
    MPI_Offset size = -1;

    CHECK_OK(MPI_File_set_size(fh, 401));
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_END));
    check_position(101); /* the first whole int behind the end */
    CHECK_OK(MPI_File_seek_shared(fh, -1, MPI_SEEK_CUR));
    check_position(100);
    CHECK_CLASS(MPI_File_seek_shared(fh, -200, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek_shared(fh, 0, 12345), MPI_ERR_ARG);
    if (test_size > 1)
        CHECK_CLASS(MPI_File_seek_shared(fh, test_rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    check_position(100);
    CHECK_OK(MPI_File_get_position(fh, &size));
    CHECK_INT(size, 0);
    CHECK_OK(MPI_File_seek_shared(fh, INT64_MAX - 1, MPI_SEEK_SET)); /* from where it cannot move */
    CHECK_CLASS(MPI_File_write_shared(fh, (int[4]){ 0 }, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_position(INT64_MAX - 1);
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
}

/* Only the shared pointer is left. */
static void test_sequential(const char *path)
{
    MPI_Offset disp = -1;
    MPI_Status status;
    char got[4] = "", rep[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype;

    file_make(path, 40, 5);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_read_ordered(fh, got, 1, MPI_BYTE, &status));
    CHECK_CLASS(MPI_File_read_at(fh, 0, got, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_read(fh, got, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position_shared(fh, &disp), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_view(fh, &disp, &etype, &filetype, rep));
    CHECK_INT(disp, test_size);
    CHECK_OK(MPI_File_close(&fh));
}

static void test_append(const char *path)
{
    MPI_Offset position = -1;

    file_make(path, 33, 5);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_get_position(fh, &position));
    CHECK_INT(position, 33);
    check_position(33);
    CHECK_OK(MPI_File_close(&fh));
}

static void check_folder(void)
{
    int files = 0;

    if (test_rank)
        return;
    DIR *folder = opendir(file_folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        files += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    CHECK_INT(files, 1);
}

int main(int argc, char *argv[])
{
    const char *path;

    file_begin(&argc, &argv);
    path = file_path("shared");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    check_position(0);
    write_records();
    check_position((MPI_Offset)RECORDS * RECORD * test_size);
    check_records();
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    read_records();
    check_folder();
    test_ordered();
    test_seek();
    CHECK_OK(MPI_File_set_view(fh, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    check_position(0);
    CHECK_OK(MPI_File_close(&fh));
    test_sequential(path);
    test_append(path);
    return file_finish();
}
