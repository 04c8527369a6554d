/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Finding out whether processes on several machines have opened the same file. */
#ifndef IO_SAME_FILE_H
#define IO_SAME_FILE_H

#include "io/int_io.h"

/* What the first process tells of its file. */
struct io_mark {
    uint64_t inode;
    MPI_Offset size;
    int64_t changed_s, changed_ns;
    MPI_Offset place; /* a byte on which it holds a lock; 0: none */
    bool is_regular;
};

/* At the first process: the file is open as `st` says. Holds a lock until io_unmark, if there are several machines. */
void io_mark(struct file *file, const struct stat *st, struct io_mark *mark);
void io_unmark(struct file *file, const struct io_mark *mark);
/* At a process on another machine, while the first one has its lock. Error: MPI_ERR_NOT_SAME. */
int io_check_mark(struct file *file, const struct io_mark *mark, const struct stat *st);
/* The error of one that has found nothing. */
int io_is_missing(const struct file *file) COLD;

#endif
