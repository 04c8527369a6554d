/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Is what a process on another machine has opened by a name the file of the first process? Device numbers
 * are a machine's own, and inode numbers those of the file system's client, perhaps. What is the same everywhere is a
 * lock: while all open a file, the first process holds one on a byte far behind its end, and the others look for it.
 * Nothing is written, and it goes with the process. Where locks do not reach other machines, number, length and time
 * of change must be equal.
 * Knows: the file system's table. Does not know: who opens. */
#include "io/same_file.h"

#include <sys/random.h>

#include "base/err.h"

void io_mark(struct file *file, const struct stat *st, struct io_mark *mark)
{
    uint64_t random = 0;

    *mark = (struct io_mark){ .inode = (uint64_t)st->st_ino, .size = st->st_size,
                              .changed_s = st->st_mtim.tv_sec, .changed_ns = st->st_mtim.tv_nsec,
                              .is_regular = S_ISREG(st->st_mode) };
    if (file->machines.count == 1 || !mark->is_regular)
        return;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    mark->place = IO_MARKS + (MPI_Offset)(random % (uint64_t)IO_PLACES);
    if (file->fs->is_locked(file->fd, IO_LOCK_WRITE, mark->place, 1) || /* by the program: not to be waited for */
        io_lock_range(file, file->amode & MPI_MODE_RDONLY ? IO_LOCK_READ : IO_LOCK_WRITE, mark->place, 1))
        mark->place = 0;
}

void io_unmark(struct file *file, const struct io_mark *mark)
{
    if (mark->place)
        io_unlock_range(file, mark->place, 1);
}

static bool is_equal(const struct io_mark *mark, const struct stat *st)
{
    return mark->inode == (uint64_t)st->st_ino && mark->size == st->st_size &&
           mark->changed_s == st->st_mtim.tv_sec && mark->changed_ns == st->st_mtim.tv_nsec;
}

/* To read, a copy on each machine will do. */
static bool is_copy(const struct file *file, const struct io_mark *mark, const struct stat *st)
{
    return (file->amode & MPI_MODE_RDONLY) && mark->size == st->st_size;
}

int io_check_mark(struct file *file, const struct io_mark *mark, const struct stat *st)
{
    if (!mark->is_regular && !S_ISREG(st->st_mode))
        return 0;
    if (mark->is_regular && S_ISREG(st->st_mode)) {
        if (mark->place && file->fs->is_locked(file->fd, IO_LOCK_WRITE, mark->place, 1) > 0)
            return 0;
        if (is_equal(mark, st) || is_copy(file, mark, st))
            return 0;
    }
    return err(MPI_ERR_NOT_SAME,
               "E0914: file \"%.200s\" of rank %d, which has %lld bytes, is not that of rank 0 on another machine, "
               "which has %lld: the machines do not share this file system",
               file->name, file->comm->rank, (long long)st->st_size, (long long)mark->size);
}

int io_is_missing(const struct file *file)
{
    return err(MPI_ERR_NO_SUCH_FILE,
               "E0914: file \"%.200s\" is there at rank 0, but not at rank %d on another machine: the machines do not "
               "share this file system",
               file->name, file->comm->rank);
}
