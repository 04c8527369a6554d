/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.6.1 on machines that each keep a copy of what they have read and of what they are to write, as with NFS:
 * what a process has written by a handle it reads by that handle, also in a collective call; what it has written before
 * a collective call does not come after it; what is synchronized is seen by all. Here the system's calls are the
 * program's own: they keep such a copy for each process, which is a machine. */
#include "mpifile.h"

#include <linux/magic.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum { SIZE = 4096, INTS = 40, FIRST = 3000, SHORTER = 2000 };

/* --- a file system of which every process keeps a copy --- */

static ino_t number; /* of the file; 0: none yet */
static struct {
    char byte, is_valid, is_dirty;
} copy[SIZE];

static int is_ours(int fd)
{
    struct stat st;

    return number && !fstat(fd, &st) && st.st_ino == number;
}

/* What has been written reaches the file. */
static void put_back(int fd)
{
    for (int i = 0; i < SIZE; i++)
        if (copy[i].is_dirty && syscall(SYS_pwrite64, fd, &copy[i].byte, 1, i) == 1)
            copy[i].is_dirty = 0;
}

static void forget(int fd)
{
    put_back(fd);
    for (int i = 0; i < SIZE; i++)
        copy[i].is_valid = 0;
}

/* All that is not there yet; returns the length. */
static long fill(int fd)
{
    char bytes[SIZE];
    long length = syscall(SYS_pread64, fd, bytes, SIZE, 0);

    for (int i = 0; i < SIZE; i++) {
        if (i < length && !copy[i].is_valid) {
            copy[i].byte = bytes[i];
            copy[i].is_valid = 1;
        }
        length = copy[i].is_dirty && i >= length ? i + 1 : length;
    }
    return length;
}

ssize_t preadv(int fd, const struct iovec *to, int count, off_t at)
{
    const off_t from = at;
    const long length = is_ours(fd) ? fill(fd) : -1;

    if (length < 0)
        return syscall(SYS_preadv, fd, to, count, at, 0);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < to[i].iov_len && at < length; k++, at++)
            ((char *)to[i].iov_base)[k] = copy[at].byte;
    return at - from;
}

ssize_t pwritev(int fd, const struct iovec *from, int count, off_t at)
{
    const off_t first = at;

    if (!is_ours(fd))
        return syscall(SYS_pwritev, fd, from, count, at, 0);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < from[i].iov_len && at < SIZE; k++, at++) {
            copy[at].byte = ((const char *)from[i].iov_base)[k];
            copy[at].is_valid = copy[at].is_dirty = 1;
        }
    return at - first;
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
    return preadv(fd, &(struct iovec){ to, len }, 1, at);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
    return pwritev(fd, &(struct iovec){ (void *)(uintptr_t)from, len }, 1, at);
}

int fsync(int fd)
{
    if (is_ours(fd))
        put_back(fd);
    return (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t length)
{
    if (is_ours(fd))
        forget(fd);
    return (int)syscall(SYS_ftruncate, fd, length);
}

/* Locks are what makes a machine look again. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    long argument, rc;

    va_start(arguments, command);
    argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_OFD_SETLKW && is_ours(fd))
        put_back(fd);
    rc = syscall(SYS_fcntl, fd, command, argument);
    if (command == F_OFD_SETLKW && ((const struct flock *)argument)->l_type != F_UNLCK && is_ours(fd))
        forget(fd);
    return (int)rc;
}

int fstatfs(int fd, struct statfs *fs)
{
    const long rc = syscall(SYS_fstatfs, fd, fs);

    if (is_ours(fd))
        fs->f_type = NFS_SUPER_MAGIC;
    return (int)rc;
}

/* --- tests --- */

static MPI_File fh;

static void plain(void)
{
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* Ints of the ranks in turn. */
static void turns(void)
{
    MPI_Datatype turn;

    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * test_size, &turn));
    CHECK_OK(MPI_Type_commit(&turn));
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(int) * test_rank, MPI_INT, turn, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&turn));
}

static MPI_Offset place(int i, int rank)
{
    return (MPI_Offset)sizeof(int) * (i * test_size + rank);
}

/* Every process for itself, where its turn is. */
static void write_alone(int value)
{
    plain();
    for (int i = 0; i < INTS; i++, value++)
        CHECK_OK(MPI_File_write_at(fh, place(i, test_rank), &value, sizeof value, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void check_all(int value)
{
    int got = -1;

    plain();
    for (int rank = 0; rank < test_size; rank++)
        for (int i = 0; i < INTS; i++) {
            CHECK_OK(MPI_File_read_at(fh, place(i, rank), &got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK_INT(got, value + 1000 * rank + i);
        }
}

static void together(void)
{
    CHECK_OK(MPI_File_sync(fh));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_sync(fh));
}

/* The calls above do what they are to do. */
static void test_kept(void)
{
    int value = 5, got = -1;

    CHECK_OK(MPI_File_read_at(fh, 0, &got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!test_rank)
        CHECK_OK(MPI_File_write_at(fh, 0, &value, sizeof value, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_read_at(fh, 0, &got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(got, test_rank ? 0 : 5);
    together();
    CHECK_OK(MPI_File_read_at(fh, 0, &got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(got, 5);
}

/* Another process reads for this one what it has written, … */
static void test_own_read(void)
{
    int got[INTS];

    write_alone(1000 * test_rank);
    turns();
    CHECK_OK(MPI_File_read_at_all(fh, 0, got, INTS, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++)
        CHECK_INT(got[i], 1000 * test_rank + i);
}

/* … or writes over it. */
static void test_own_written_over(void)
{
    int values[INTS];

    write_alone(1000 * test_rank + 100);
    turns();
    for (int i = 0; i < INTS; i++)
        values[i] = 1000 * test_rank + 200 + i;
    CHECK_OK(MPI_File_write_at_all(fh, 0, values, INTS, MPI_INT, MPI_STATUS_IGNORE));
    memset(values, 0, sizeof values);
    CHECK_OK(MPI_File_read_at(fh, 0, values, INTS, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++)
        CHECK_INT(values[i], 1000 * test_rank + 200 + i);
    together();
    check_all(200);
}

static void test_size_of(void)
{
    MPI_Offset size = -1;
    char byte = 'x';

    plain();
    CHECK_OK(MPI_File_write_at(fh, FIRST + test_rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_size(fh, SHORTER));
    together();
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_INT(size, SHORTER);
}

static void test_atomic(void)
{
    int value = -7, got = -1;

    CHECK_OK(MPI_File_set_atomicity(fh, 1));
    if (!test_rank)
        CHECK_OK(MPI_File_write_at(fh, 0, &value, sizeof value, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_read_at(fh, 0, &got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(got, -7);
}

static void open_file(const char *path)
{
    struct stat st;
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    CHECK_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    CHECK_OK(MPI_Info_set(info, "cb_nodes", "1"));
    if (!test_rank) {
        const int fd = open(path, O_WRONLY | O_CREAT, 0666);

        CHECK(fd >= 0 && !ftruncate(fd, SIZE), "%s: %s", path, strerror(errno));
        close(fd);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(!stat(path, &st), "%s: %s", path, strerror(errno));
    number = st.st_ino;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh));
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char *argv[])
{
    file_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("processes on one machine share a copy");
    open_file(file_path("copies"));
    test_kept();
    test_own_read();
    test_own_written_over();
    test_size_of();
    test_atomic();
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
