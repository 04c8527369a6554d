/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.4.1, §14.6.5: many operations under way on one file, alone and collective, beside messages and on several
 * files at once; requests that are freed; errors of requests go to the file's handler. */
#include "mpifile.h"

enum { OPS = 12, BYTES = 300000, SMALL = 500 };

static MPI_File fh;
static int calls, last_class;

static void note(MPI_File *file, int *code, ...)
{
    calls += *file == fh;
    MPI_Error_class(*code, &last_class);
}

/* Each rank its own part of the file, in pieces. */
static void test_many(void)
{
    char *bytes = test_alloc((size_t)OPS * BYTES), *got = test_alloc((size_t)OPS * BYTES);
    MPI_Request requests[OPS + 1];
    MPI_Status statuses[OPS + 1];
    const MPI_Offset base = (MPI_Offset)test_rank * OPS * BYTES;
    int token = -1;

    test_fill(bytes, (size_t)OPS * BYTES, test_key(1, (uint64_t)test_rank, 1));
    CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, (test_rank + test_size - 1) % test_size, 5, MPI_COMM_WORLD, &requests[OPS]));
    for (int i = 0; i < OPS; i++)
        CHECK_OK(MPI_File_iwrite_at(fh, base + (MPI_Offset)i * BYTES, bytes + (size_t)i * BYTES, BYTES, MPI_CHAR,
                                    &requests[i]));
    CHECK_OK(MPI_Send(&test_rank, 1, MPI_INT, (test_rank + 1) % test_size, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(OPS + 1, requests, statuses));
    CHECK_INT(token, (test_rank + test_size - 1) % test_size);
    for (int i = 0; i < OPS; i++)
        CHECK_OK(MPI_File_iread_at(fh, base + (MPI_Offset)i * BYTES, got + (size_t)i * BYTES, BYTES, MPI_CHAR,
                                   &requests[i]));
    for (int i = 0, done, index; i < OPS; i++) {
        CHECK_OK(MPI_Waitany(OPS, requests, &index, &statuses[0]));
        CHECK_OK(MPI_Get_count(&statuses[0], MPI_CHAR, &done));
        CHECK_INT(done, BYTES);
    }
    CHECK_BYTES(got, (size_t)OPS * BYTES, test_key(1, (uint64_t)test_rank, 1));
    free(bytes);
    free(got);
}

/* Collective ones wait for each other in order; others go on meanwhile. */
static void test_collective(const char *path)
{
    MPI_Datatype filetype, raw;
    MPI_Request requests[2 * OPS];
    MPI_File other;
    int *values = malloc(OPS * SMALL * sizeof *values), *got = malloc(OPS * SMALL * sizeof *got);
    int sum = -1;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &other));
    CHECK_OK(MPI_Type_create_indexed_block(1, 1, &test_rank, MPI_INT, &raw));
    CHECK_OK(MPI_Type_create_resized(raw, 0, 4 * test_size, &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_set_view(other, 4, MPI_INT, filetype, "native", MPI_INFO_NULL));
    for (int i = 0; i < OPS * SMALL; i++)
        values[i] = test_rank * 100000 + i;
    for (int i = 0; i < OPS; i++) {
        CHECK_OK(MPI_File_iwrite_at_all(fh, (MPI_Offset)i * SMALL, values + i * SMALL, SMALL, MPI_INT,
                                        &requests[2 * i]));
        CHECK_OK(MPI_File_iwrite_all(other, values + i * SMALL, SMALL, MPI_INT, &requests[2 * i + 1]));
    }
    CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* nobody has to wait for them */
    CHECK_INT(sum, test_size * (test_size - 1) / 2);
    CHECK_OK(MPI_File_read_at_all(fh, 0, got, SMALL, MPI_INT, MPI_STATUS_IGNORE)); /* in its turn */
    for (int i = 0; i < SMALL; i++)
        CHECK_INT(got[i], values[i]);
    CHECK_OK(MPI_Waitall(2 * OPS, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_seek(other, 0, MPI_SEEK_SET));
    for (int i = 0; i < OPS; i++) {
        CHECK_OK(MPI_File_iread_all(other, got + i * SMALL, SMALL, MPI_INT, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(OPS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < OPS * SMALL; i++)
        CHECK_INT(got[i], values[i]);
    CHECK_OK(MPI_File_close(&other));
    CHECK_OK(MPI_Type_free(&raw));
    CHECK_OK(MPI_Type_free(&filetype));
    free(values);
    free(got);
}

/* The file is closed when the last of them is done. */
static void test_freed(void)
{
    static char bytes[BYTES];
    MPI_Request request;

    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPI_File_iwrite_at(fh, (MPI_Offset)(test_rank * 5 + i) * BYTES, bytes, BYTES, MPI_BYTE, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    CHECK_OK(MPI_File_close(&fh));
}

/* What the system refuses later is an error of the request. */
static void test_errors(void)
{
    static char bytes[BYTES];
    MPI_Errhandler handler;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_create_errhandler(note, &handler));
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 2; i++)
        CHECK_OK(MPI_File_iwrite_at(fh, 0, bytes, i ? 10 : BYTES, MPI_BYTE, &requests[i]));
    CHECK_CLASS(MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_NO_SPACE);
    CHECK_INT(calls, 1);
    CHECK_INT(last_class, MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_Waitall(1, requests + 1, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(calls, 2);
    CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_NO_SPACE);
    CHECK_OK(MPI_File_close(&fh));
}

/* What has been begun is to be ended before the file is closed. */
static void test_begun(const char *path)
{
    int values[3] = { test_rank, 1, 2 }, got = -1;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_CLASS(MPI_File_write_all_end(fh, values, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_OK(MPI_File_write_at_all_begin(fh, 4 * test_rank, values, 1, MPI_INT));
    CHECK_CLASS(MPI_File_write_at_all_begin(fh, 0, values, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_all_end(fh, values, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_close(&fh), MPI_ERR_FILE);
    CHECK(fh != MPI_FILE_NULL, "the handle is gone");
    CHECK_OK(MPI_File_write_at_all_end(fh, values, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(fh, 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(got, test_rank);
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char *argv[])
{
    file_begin(&argc, &argv);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("pending"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    test_many();
    test_collective(file_path("other"));
    test_freed();
    test_begun(file_path("begun"));
    test_errors();
    return file_finish();
}
