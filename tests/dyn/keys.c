/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8.4: infos of MPI_Comm_spawn: wdir, path, host, soft, mpi_initial_errhandler; others are no error. The
 * children's MPI_INFO_ENV tells of them. Here also "env", which is not of the standard. */
#include "mpitest.h"

#include <unistd.h>

enum { CHILDREN = 2 };

static void be_child(MPI_Comm parent)
{
    const char *variable = getenv("TEST_OF_KEYS");
    char place[4096], value[64];
    MPI_Errhandler handler;
    int flag;

    CHECK(getcwd(place, sizeof place) && !strcmp(place, "/"), "the working directory is %s", place);
    if (test_is_parley())
        CHECK(variable && !strcmp(variable, "a=b c"), "the variable is %s", variable ? variable : "not there");
    CHECK_OK(MPI_Comm_get_errhandler(parent, &handler));
    CHECK(handler == MPI_ERRORS_RETURN, "the parent has another handler");
    CHECK_OK(MPI_Info_get(MPI_INFO_ENV, "mpi_initial_errhandler", 63, value, &flag));
    CHECK(!flag || !strcmp(value, "mpi_errors_return"), "MPI_INFO_ENV has %s", value);
    CHECK_OK(MPI_Info_get(MPI_INFO_ENV, "soft", 63, value, &flag));
    CHECK(!flag || !strcmp(value, "1:2"), "MPI_INFO_ENV has soft %s", value);
    CHECK_OK(MPI_Comm_disconnect(&parent));
}

/* The program's name, and apart from that the directory it lies in. */
static char *split(char *path, char *directory, size_t size)
{
    char *slash = strrchr(path, '/');

    snprintf(directory, size, "%.*s", (int)(slash - path), path);
    return slash + 1;
}

static void start(char *program)
{
    static const char *const keys[][2] = { { "wdir", "/" }, { "host", "localhost" }, { "no such key", "any value" },
                                           { "soft", "1:2" }, { "env", "TEST_OF_KEYS=a=b c\nTEST_OTHER=1" },
                                           { "file", "/none" }, { "mpi_initial_errhandler", "mpi_errors_return" } };
    char whole[4096], directory[4096], *name;
    int codes[CHILDREN] = { 1, 1 };
    MPI_Comm children;
    MPI_Info info;

    CHECK(realpath(program, whole) != NULL, "%s is not there", program);
    name = split(whole, directory, sizeof directory);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "path", directory));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK_OK(MPI_Info_set(info, keys[i][0], keys[i][1]));
    CHECK_OK(MPI_Comm_spawn(name, MPI_ARGV_NULL, CHILDREN, info, 0, MPI_COMM_WORLD, &children, codes));
    CHECK_INT(codes[0] + codes[1], 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_disconnect(&children));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK(parent == MPI_COMM_NULL || handler == MPI_ERRORS_RETURN, "the world has another handler");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (parent != MPI_COMM_NULL)
        be_child(parent);
    else
        start(argv[0]);
    MPI_Finalize();
    return 0;
}
