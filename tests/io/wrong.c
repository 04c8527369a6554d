/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake with a file that ends the job with its diagnostic: wrong NAME. */
#include "mpifile.h"

static MPI_File fh;

static void missing(void)
{
    MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
}

static void elsewhere(void)
{
    MPI_File_set_errhandler(MPI_FILE_NULL, test_rank ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", test_rank ? MPI_MODE_RDONLY : 0, MPI_INFO_NULL, &fh);
}

static void differ(void)
{
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", test_rank ? MPI_MODE_RDONLY : MPI_MODE_WRONLY, MPI_INFO_NULL, &fh);
}

static void amode(void)
{
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh);
}

static void other_file(void)
{
    MPI_File_open(MPI_COMM_WORLD, test_rank ? "/dev/null" : "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    { "missing", missing }, { "elsewhere", elsewhere }, { "differ", differ }, { "amode", amode },
    { "other_file", other_file },
};

int main(int argc, char *argv[])
{
    test_begin(&argc, &argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (argc > 1 && !strcmp(argv[1], mistakes[i].name))
            mistakes[i].make();
    MPI_Barrier(MPI_COMM_WORLD); /* until the job ends */
    return test_end();
}
