/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. What files stand on: a table of functions for one file system. POSIX is the one back end (fs.c); tests put
 * a faulty one in its place.
 *
 * Every function returns 0 or more, or a negative errno. Reading and writing may stop short, as the system's calls do,
 * and may be interrupted (-EINTR); who calls goes on (transfer.h). Any thread. */
#ifndef IO_FS_H
#define IO_FS_H

#include <mpi.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum io_lock { IO_UNLOCK, IO_LOCK_READ, IO_LOCK_WRITE };

struct io_fs {
    /* `flags` of open(2), `mode` of what is created; the descriptor. */
    int (*open)(const char *path, int flags, unsigned mode);
    int (*close)(int fd);
    int (*remove)(const char *path);
    /* From or to `at` in the file: bytes moved. Reading 0 bytes: the end of the file. */
    ssize_t (*read)(int fd, const struct iovec *to, int count, MPI_Offset at);
    ssize_t (*write)(int fd, const struct iovec *from, int count, MPI_Offset at);
    int (*stat)(int fd, struct stat *st);
    /* Cut off, or longer by zeroes. */
    int (*resize)(int fd, MPI_Offset size);
    /* Space for what lies before `size`; never shorter, data stay. */
    int (*reserve)(int fd, MPI_Offset size);
    int (*sync)(int fd);
    /* Blocks until nobody else holds a lock that is in the way, which others do for one access only. The locks are of
     * the open file, not of the process: two handles in one process exclude each other. */
    int (*lock)(int fd, enum io_lock kind, MPI_Offset from, MPI_Offset len);
    /* 1: somebody else, on whatever machine, has a lock on one of these bytes that such a lock would wait for. */
    int (*is_locked)(int fd, enum io_lock kind, MPI_Offset from, MPI_Offset len);
    /* Each machine keeps data that it has read or is to write, until it locks and unlocks (NFS)? */
    bool (*is_lazy)(int fd);
};

extern const struct io_fs io_fs_posix;

/* The one that files are opened with from now on; for tests. NULL: POSIX. */
void io_fs_use(const struct io_fs *fs);
const struct io_fs *io_fs_now(void);

#endif
