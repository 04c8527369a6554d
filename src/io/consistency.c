/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Consistency (MPI 5.0 §14.6): atomic mode, and what has been written on the device.
 * Processes on one machine see each other's data at once, since the system keeps one copy of them. Machines that use a
 * file by NFS keep one each: what has been written leaves it when it is synchronized, and a lock that is taken makes
 * the system ask what has changed. */
#include <errno.h>

#include "base/err.h"
#include "io/operation.h"

int io_sync_own(struct file *file)
{
    int number;

    if (!atomic_exchange(&file->is_dirty, false))
        return 0;
    do
        number = -file->fs->sync(file->fd);
    while (number == EINTR);
    if (!number || number == EINVAL) /* a device or the like that has nothing to wait for */
        return 0;
    return io_system_error(file->name, file->comm->rank, "synchronizing", number);
}

void io_refresh(struct file *file)
{
    if (file->is_lazy && !io_lock_range(file, file->can_read ? IO_LOCK_READ : IO_LOCK_WRITE, 0, IO_DATA_END))
        io_unlock_range(file, 0, IO_DATA_END);
}

int io_sync(struct file *file)
{
    int rc = 0;

    io_op_drain(file);
    if (file->amode & MPI_MODE_RDONLY)
        rc = err(MPI_ERR_READ_ONLY, "E0907: file \"%.200s\" was opened with MPI_MODE_RDONLY: nothing is to be "
                 "synchronized", file->name);
    if (!rc)
        rc = io_sync_own(file);
    io_refresh(file);
    return io_agree(file->comm, "MPI_File_sync", file->name, rc, 0, "");
}

/* Locks are tried once, so that a file system without them says so here. */
static int try_lock(struct file *file)
{
    const int number = io_lock_range(file, file->amode & MPI_MODE_RDONLY ? IO_LOCK_READ : IO_LOCK_WRITE, 0, 1);

    if (number)
        return io_system_error(file->name, file->comm->rank, "locking", number);
    io_unlock_range(file, 0, 1);
    return 0;
}

int io_set_atomicity(struct file *file, int flag)
{
    int rc;

    io_op_drain(file);
    rc = flag ? try_lock(file) : 0;
    rc = io_agree(file->comm, "MPI_File_set_atomicity", file->name, rc, flag != 0, "the flag for atomic mode");
    if (!rc)
        atomic_store(&file->is_atomic, flag != 0);
    return rc;
}

int io_is_atomic(struct file *file)
{
    return atomic_load(&file->is_atomic);
}
