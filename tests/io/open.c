/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.2.1 to §14.2.3: files are opened by all processes of a communicator, created or not as the mode says,
 * deleted by name or when they are closed; what cannot be opened is an error of its class at all processes. */
#include "mpifile.h"

static void test_modes(void)
{
    const char *path = file_path("modes");
    MPI_File fh = MPI_FILE_NULL;
    int amode = -1;

    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_ERR_NO_SUCH_FILE);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK(fh != MPI_FILE_NULL, "no handle");
    CHECK(file_is_there(path), "no file");
    CHECK_OK(MPI_File_get_amode(fh, &amode));
    CHECK_INT(amode, MPI_MODE_RDWR | MPI_MODE_CREATE);
    CHECK_OK(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL, "handle stays");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                              &fh), MPI_ERR_FILE_EXISTS);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!test_rank)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!file_is_there(path), "the file is still there");
    if (!test_rank)
        CHECK_CLASS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void test_bad_modes(void)
{
    static const int bad[] = {
        0, MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_WRONLY,
        MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_EXCL,
        MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, 1 << 20,
    };
    const char *path = file_path("bad");
    MPI_File fh;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, bad[i], MPI_INFO_NULL, &fh), MPI_ERR_AMODE);
    CHECK(!file_is_there(path), "a file was made");
    if (test_size > 1)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, test_rank ? MPI_MODE_RDWR : MPI_MODE_RDWR | MPI_MODE_CREATE,
                                  MPI_INFO_NULL, &fh), MPI_ERR_NOT_SAME);
    if (test_size > 1)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, test_rank == test_size - 1 ? 0 : MPI_MODE_RDWR, MPI_INFO_NULL,
                                  &fh), MPI_ERR_AMODE);
}

/* Names that lead to nothing that can be a file, or to different files. */
static void test_bad_names(void)
{
    static char name[5000];
    const char *path = file_path("a"), *mine;
    MPI_File fh;

    memset(name, 'x', sizeof name - 1);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
    file_make(path, 10, 1);
    file_make(file_path("b"), 11, 1);
    mine = file_path("a/below");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, mine, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
    if (test_size > 1) {
        mine = test_rank == 1 ? file_path("b") : path;
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, mine, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_NOT_SAME);
        mine = test_rank == 1 ? file_path("c") : path;
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, mine, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_NO_SUCH_FILE);
        /* what the others cannot open is not left behind */
        mine = test_rank == 1 ? file_path("d") : file_path("e");
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, mine, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                                  &fh), MPI_ERR_NO_SUCH_FILE);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(!file_is_there(file_path("e")), "the file is there");
    }
}

static void test_delete_on_close(void)
{
    char name[320];
    MPI_File fh;

    snprintf(name, sizeof name, "ufs:%s", file_path("gone"));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &fh));
    CHECK(file_is_there(name + 4), "no file");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_close(&fh));
    CHECK(!file_is_there(name + 4), "the file is still there");
}

/* The group is that of the communicator, which may go meanwhile. */
static void test_groups(void)
{
    const char *path = file_path("group");
    MPI_Comm comm;
    MPI_Group group, of_file;
    MPI_File fh, own;
    int same = -1;
    char name[32];

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &comm));
    CHECK_OK(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_File_get_group(fh, &of_file));
    CHECK_OK(MPI_Group_compare(group, of_file, &same));
    CHECK_INT(same, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&of_file));
    CHECK(MPI_File_fromint(MPI_File_toint(fh)) == fh, "the int of a handle");
    CHECK_OK(MPI_File_close(&fh));
    snprintf(name, sizeof name, "own%d", test_rank);
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, file_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &own));
    CHECK_OK(MPI_File_close(&own));
}

int main(int argc, char *argv[])
{
    file_begin(&argc, &argv);
    test_modes();
    test_bad_modes();
    test_bad_names();
    test_delete_on_close();
    test_groups();
    return file_finish();
}
