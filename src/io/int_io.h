/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io, private. An open file, and what its parts share. */
#ifndef IO_INT_IO_H
#define IO_INT_IO_H

#include <pthread.h>

#include "io/fs.h"
#include "io/file_hints.h"
#include "io/io.h"

struct file {
    struct obj obj;                /* first: the handle is its address */
    struct errhandler *errhandler; /* referenced */
    struct comm *comm;             /* of the library's own, with the group that opened the file; referenced */
    const struct io_fs *fs;
    int fd;
    int amode;
    bool can_read;                 /* the descriptor, also when the amode is write-only */
    char *name;                    /* without a prefix like "ufs:"; owned */
    struct io_hints hints;
};

/* --- errors (file_error.c) --- */

/* The error of a call of the system that has failed with `number` (an errno): `what` it was to do, as "opening". */
int io_system_error(const char *name, int rank, const char *what, int number) COLD;

/* Everybody fails if one has (`rc`): with its own error, or with one of the same class that names the rank. With
 * `hash`, also if they differ, as MPI_ERR_NOT_SAME about `what`. Collective over `comm`; `call` for reports. */
int io_agree(struct comm *comm, const char *call, const char *name, int rc, uint64_t hash, const char *what);

/* What the first process has goes to all; collective. */
int io_share(struct file *file, const char *call, void *bytes, size_t size);

/* Other bits for other texts, whatever their length. */
uint64_t io_hash(const void *bytes, size_t size);

#endif
