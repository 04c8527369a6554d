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

/* A file of this rank with some bytes and a name that is gone with it. */
static void own_name(char path[64], const char *bytes)
{
    int fd;

    snprintf(path, 64, "/tmp/parley-wrong-XXXXXX");
    fd = mkstemp(path);
    CHECK(fd >= 0 && !unlink(path) && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes), "%s", strerror(errno));
    snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* As on machines with disks of their own. */
static void apart(void)
{
    char path[64], other[64];

    own_name(path, "abc");
    own_name(other, "ab");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh)); /* copies, to be read */
    CHECK_OK(MPI_File_close(&fh));
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_rank ? other : path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
                MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_rank ? "/nowhere" : path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
                MPI_ERR_NO_SUCH_FILE);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, test_rank ? other : path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
}

/* What follows has a file of its own, and ends with it. */
static char name[] = "/tmp/parley-wrong-XXXXXX";

static void open_own(int amode)
{
    const int fd = mkstemp(name);

    CHECK(fd >= 0, "%s", strerror(errno));
    close(fd);
    MPI_File_open(MPI_COMM_SELF, name, amode, MPI_INFO_NULL, &fh);
    unlink(name);
}

static void view(void)
{
    const int lengths[2] = { 1, 1 }, displs[2] = { 2, 0 };
    MPI_Datatype back;

    MPI_Type_indexed(2, lengths, displs, MPI_INT, &back);
    MPI_Type_commit(&back);
    open_own(MPI_MODE_RDWR);
    MPI_File_set_view(fh, 0, MPI_INT, back, "native", MPI_INFO_NULL);
}

static void mode(void)
{
    open_own(MPI_MODE_RDONLY);
    MPI_File_write(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
}

static void offset(void)
{
    char c;

    open_own(MPI_MODE_RDWR);
    MPI_File_read_at(fh, -3, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE);
}

static void datarep(void)
{
    open_own(MPI_MODE_RDWR);
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL);
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type;
    (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

static int refuse(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
    return 17;
}

static void conversion(void)
{
    open_own(MPI_MODE_RDWR);
    MPI_Register_datarep("own", refuse, refuse, extent_of, NULL);
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "own", MPI_INFO_NULL);
    MPI_File_write(fh, &(int){ 5 }, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void start_long(MPI_Request *request)
{
    static char bytes[1 << 20];

    open_own(MPI_MODE_RDWR);
    MPI_File_iwrite(fh, bytes, sizeof bytes, MPI_CHAR, request);
}

static void cancel(void)
{
    MPI_Request request;

    start_long(&request);
    MPI_Cancel(&request);
}

static void early(void)
{
    MPI_Request request;

    start_long(&request);
    MPI_File_close(&fh);
}

static void halves(void)
{
    char c;

    open_own(MPI_MODE_RDWR);
    MPI_File_read_all_begin(fh, &c, 1, MPI_CHAR);
    MPI_File_write_all_end(fh, &c, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    { "missing", missing }, { "elsewhere", elsewhere }, { "differ", differ }, { "amode", amode },
    { "other_file", other_file },
    { "apart", apart }, { "view", view }, { "mode", mode }, { "offset", offset }, { "datarep", datarep },
    { "conversion", conversion }, { "cancel", cancel }, { "early", early }, { "halves", halves },
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
