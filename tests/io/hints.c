/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.2.8: hints that mean something are used and reported, others are ignored; processes may give different
 * ones, and report the same. */
#include "mpifile.h"

static int get(MPI_File fh, const char *key, char value[64])
{
    MPI_Info info;
    int flag = 0, len = 64;

    CHECK_OK(MPI_File_get_info(fh, &info));
    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    return flag;
}

static void check_value(MPI_File fh, const char *key, const char *want)
{
    char value[64] = "";

    CHECK(get(fh, key, value), "no %s", key);
    CHECK(!strcmp(value, want), "%s is %s instead of %s", key, value, want);
}

int main(int argc, char *argv[])
{
    const char *path;
    char value[64];
    MPI_Info info;
    MPI_File fh;

    file_begin(&argc, &argv);
    path = file_path("hints");
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "cb_buffer_size", test_rank ? "77777" : "65536"));
    CHECK_OK(MPI_Info_set(info, "cb_nodes", "1"));
    CHECK_OK(MPI_Info_set(info, "access_style", "write_once"));
    CHECK_OK(MPI_Info_set(info, "no_hint_at_all", "1"));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    if (test_is_parley()) {
        check_value(fh, "cb_buffer_size", "65536");
        check_value(fh, "cb_nodes", "1");
        check_value(fh, "access_style", "write_once");
        check_value(fh, "collective_buffering", "true");
        check_value(fh, "filename", path);
        CHECK(!get(fh, "no_hint_at_all", value), "an unknown hint is told");
    }
    CHECK_OK(MPI_Info_set(info, "access_style", "random"));
    CHECK_OK(MPI_Info_set(info, "cb_buffer_size", "nonsense"));
    CHECK_OK(MPI_Info_set(info, "collective_buffering", "false"));
    CHECK_OK(MPI_File_set_info(fh, info));
    if (test_is_parley()) {
        check_value(fh, "access_style", "random");
        check_value(fh, "cb_buffer_size", "65536");
        check_value(fh, "collective_buffering", "false");
    }
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    CHECK(get(fh, "cb_nodes", value) || !test_is_parley(), "hints in use are told though none was given");
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
