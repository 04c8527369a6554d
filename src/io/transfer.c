/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Calls of the file system, repeated until all is done: short ones go on, interrupted ones begin again.
 * Knows: the table of the file system. Does not know: views. */
#include <errno.h>

#include "io/int_io.h"

/* Vectors behind the first `done` bytes. */
static void advance(struct iovec **vectors, int *count, size_t done)
{
    while (*count && done >= (*vectors)->iov_len) {
        done -= (*vectors)->iov_len;
        (*vectors)++;
        (*count)--;
    }
    if (*count) {
        (*vectors)->iov_base = (char *)(*vectors)->iov_base + done;
        (*vectors)->iov_len -= done;
    }
}

int io_transfer(const struct file *file, bool is_write, struct iovec *vectors, int count, MPI_Offset at,
                size_t *moved)
{
    ssize_t n;

    *moved = 0;
    advance(&vectors, &count, 0);
    while (count) {
        n = is_write ? file->fs->write(file->fd, vectors, count, at) : file->fs->read(file->fd, vectors, count, at);
        if (n == -EINTR || n == -EAGAIN)
            continue;
        if (n < 0)
            return (int)-n;
        if (n == 0)
            return is_write ? EIO : 0; /* a file that takes nothing and does not say why */
        *moved += (size_t)n;
        at += n;
        advance(&vectors, &count, (size_t)n);
    }
    return 0;
}

int io_transfer_run(struct file *file, bool is_write, void *bytes, size_t len, MPI_Offset at, size_t *moved)
{
    struct iovec whole = { bytes, len };
    const int number = io_transfer(file, is_write, &whole, 1, at, moved);

    if (is_write)
        atomic_store_explicit(&file->is_dirty, true, memory_order_relaxed);
    return number ? io_system_error(file->name, file->comm->rank, is_write ? "writing to" : "reading", number) : 0;
}

int io_lock_range(struct file *file, enum io_lock kind, MPI_Offset from, MPI_Offset len)
{
    int number;

    pthread_mutex_lock(&file->rewriting);
    do
        number = -file->fs->lock(file->fd, kind, from, len);
    while (number == EINTR);
    if (number)
        pthread_mutex_unlock(&file->rewriting);
    return number;
}

void io_unlock_range(struct file *file, MPI_Offset from, MPI_Offset len)
{
    file->fs->lock(file->fd, IO_UNLOCK, from, len);
    pthread_mutex_unlock(&file->rewriting);
}
