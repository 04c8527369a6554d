/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Is the file open by another handle that may write? Such a handle writes without locks what lies in the
 * gaps of our views, so nothing is written back there then. Each handle holds a lock on a byte of its own far behind
 * all data, where the others look; it goes with the descriptor of the first process.
 * Knows: the file system's table. Does not know: views. */
#include <errno.h>
#include <sys/random.h>

#include "io/int_io.h"

void io_show_handle(struct file *file)
{
    uint64_t random = 0;
    int number;

    if (file->amode & (MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN) ||
        getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    file->shown = IO_HANDLES + (MPI_Offset)(random % (uint64_t)IO_PLACES);
    do
        number = -file->fs->lock(file->fd, IO_LOCK_WRITE, file->shown, 1);
    while (number == EINTR);
    if (number)
        file->shown = 0;
    else if (!io_lock_range(file, IO_LOCK_WRITE, 0, IO_DATA_END)) /* what others are writing back now */
        io_unlock_range(file, 0, IO_DATA_END);
}

static bool is_there(const struct file *file, MPI_Offset from, MPI_Offset end)
{
    return from < end && file->fs->is_locked(file->fd, from, end - from);
}

bool io_may_write_back(const struct file *file)
{
    if (file->amode & MPI_MODE_UNIQUE_OPEN)
        return true;
    return file->shown && !is_there(file, IO_HANDLES, file->shown) &&
           !is_there(file, file->shown + 1, IO_HANDLES + IO_PLACES);
}
