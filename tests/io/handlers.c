/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3.3, §14.7: errors of files return by default; files get the handler of MPI_FILE_NULL when they are
 * opened, which also takes errors of opening and deleting; each file may have its own. */
#include "mpifile.h"

static int calls, last_class;
static MPI_File last_file;

static void note(MPI_File *file, int *code, ...)
{
    calls++;
    last_file = *file;
    MPI_Error_class(*code, &last_class);
}

/* The code is what the call returns. */
static void forgive(MPI_File *file, int *code, ...)
{
    (void)file;
    *code = MPI_SUCCESS;
}

static void note_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    test_fail(__FILE__, __LINE__, "note_comm", "the handler of a communicator was called");
}

static void check_called(int times, int class, MPI_File file)
{
    CHECK_INT(calls, times);
    CHECK_INT(last_class, class);
    CHECK(last_file == file, "the handler saw another file");
    calls = 0;
}

/* A file that is gone when the error is told: its own handler takes that, and no other. */
static void fail_in_the_end(MPI_Errhandler own, MPI_Errhandler comm_handler)
{
    const char *const path = file_path("vanishing");
    const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File fh;

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler));
    for (int is_own = 0; is_own < 2; is_own++) {
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
        CHECK_OK(MPI_File_set_errhandler(fh, is_own ? own : MPI_ERRORS_RETURN));
        if (!test_rank)
            CHECK_INT(unlink(path), 0);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_CLASS(MPI_File_close(&fh), MPI_ERR_NO_SUCH_FILE);
        CHECK_INT(calls, is_own);
    }
    if (test_is_parley())
        check_called(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    calls = 0;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

int main(int argc, char *argv[])
{
    const char *path, *nowhere;
    MPI_Errhandler own, comm_handler, got;
    MPI_File fh, other;

    file_begin(&argc, &argv);
    path = file_path("handlers");
    nowhere = file_path("nowhere");
    CHECK_OK(MPI_Comm_create_errhandler(note_comm, &comm_handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN, "default handler");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, nowhere, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_ERR_NO_SUCH_FILE);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_get_errhandler(fh, &got));
    CHECK(got == MPI_ERRORS_RETURN, "handler of a file");
    CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);

    CHECK_OK(MPI_File_create_errhandler(note, &own));
    CHECK_OK(MPI_File_set_errhandler(fh, own));
    CHECK_OK(MPI_File_get_errhandler(fh, &got));
    CHECK(got == own, "the handler that was set");
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    check_called(1, MPI_ERR_ARG, fh);
    CHECK_CLASS(MPI_File_get_size(fh, NULL), MPI_ERR_ARG);
    check_called(1, MPI_ERR_ARG, fh);
    CHECK_OK(MPI_File_call_errhandler(fh, MPI_ERR_QUOTA));
    check_called(1, MPI_ERR_QUOTA, fh);
    CHECK_CLASS(MPI_File_set_errhandler(fh, comm_handler), MPI_ERR_ERRHANDLER);
    check_called(1, MPI_ERR_ERRHANDLER, fh);

    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, nowhere, MPI_MODE_RDWR, MPI_INFO_NULL, &other), MPI_ERR_NO_SUCH_FILE);
    check_called(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_delete(nowhere, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    check_called(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    other = MPI_FILE_NULL;
    CHECK_CLASS(MPI_File_close(&other), MPI_ERR_FILE);
    check_called(1, MPI_ERR_FILE, MPI_FILE_NULL);
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    check_called(1, MPI_ERR_IO, MPI_FILE_NULL);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_set_size(other, -1), MPI_ERR_ARG);
    check_called(1, MPI_ERR_ARG, other);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, nowhere, MPI_MODE_RDWR, MPI_INFO_NULL, &(MPI_File){ MPI_FILE_NULL }),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(calls, 0);
    fail_in_the_end(own, comm_handler);
    CHECK_OK(MPI_Errhandler_free(&own)); /* two files still have it */
    CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    check_called(1, MPI_ERR_ARG, fh);
    CHECK_OK(MPI_File_create_errhandler(forgive, &own));
    CHECK_OK(MPI_File_set_errhandler(fh, own));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_File_set_size(fh, -1));
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_File_close(&other));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&comm_handler));
    return file_finish();
}
