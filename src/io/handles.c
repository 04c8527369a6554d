/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Is the file open by another handle that may write? Such a handle writes without locks what lies in the
 * gaps of our views, so nothing is written back there then. Each handle holds a lock on a byte of its own far behind
 * all data, where the others look; it goes with the descriptor of the first process.
 * Knows: the file system's table. Does not know: views. */
#include <errno.h>
#include <sys/random.h>

#include "io/int_io.h"
#include "progress/progress.h"
#include "sys/clock.h"

#define PATIENCE_NS UINT64_C(1000000000)

/* What others have begun to write back before they could see us is over soon. Who holds a lock for longer is no handle
 * of this library, and may well wait for us. */
static void await_others(const struct file *file)
{
    const uint64_t begin = clock_ns();

    while (file->fs->is_locked(file->fd, IO_LOCK_READ, 0, IO_DATA_END) > 0 && clock_ns() - begin < PATIENCE_NS) {
        progress_poll();
        progress_in_vain();
    }
}

void io_show_handle(struct file *file)
{
    MPI_Offset place;
    uint64_t random = 0;
    int number;

    if (file->amode & (MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN) ||
        getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    place = IO_HANDLES + (MPI_Offset)(random % (uint64_t)IO_PLACES);
    if (file->fs->is_locked(file->fd, IO_LOCK_WRITE, place, 1))
        return; /* the program itself, perhaps, has locked all of the file */
    do
        number = -file->fs->lock(file->fd, IO_LOCK_WRITE, place, 1);
    while (number == EINTR);
    if (number)
        return;
    file->shown = place;
    await_others(file);
}

static bool is_there(const struct file *file, MPI_Offset from, MPI_Offset end)
{
    return from < end && file->fs->is_locked(file->fd, IO_LOCK_WRITE, from, end - from);
}

bool io_may_write_back(const struct file *file)
{
    if (file->amode & MPI_MODE_UNIQUE_OPEN)
        return true;
    return file->shown && !is_there(file, IO_HANDLES, file->shown) &&
           !is_there(file, file->shown + 1, IO_HANDLES + IO_PLACES);
}
