/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Files (MPI 5.0 §14).
 *
 * * All functions return 0 or an error code of the classes that §14.7 lists; a text names the file, the rank and the
 *   system's reason. Arguments are checked by the caller as far as one parameter tells.
 * * Those marked collective are so over the group that opened the file, in the same order at all its processes. What
 *   they check together fails at all of them. They block until the others have come.
 * * Several threads may call at once; calls that are collective over one file come one after another.
 * * A failed access tells in its status how much it has moved. */
#ifndef IO_IO_H
#define IO_IO_H

#include <mpi.h>

#include "obj/comm.h"
#include "obj/info.h"
#include "obj/req.h"
#include "type/type.h"

struct errhandler;
struct file;

/* --- opening and asking (§14.2) --- */

/* Collective over `comm`, no intercommunicator. `info` may be NULL. */
int io_open(struct comm *comm, const char *filename, int amode, struct info *info, struct file **out);
/* Collective. The file is gone, also after an error of the system; it stays when operations on it are under way
 * (MPI_ERR_FILE). */
int io_close(struct file *file);
int io_delete(const char *filename);
/* Collective. */
int io_set_size(struct file *file, MPI_Offset size);
int io_preallocate(struct file *file, MPI_Offset size);
int io_get_size(struct file *file, MPI_Offset *size);
int io_amode(const struct file *file);
struct group *io_group(const struct file *file);
/* Collective: hints (§14.2.8); unknown ones, and those with a value that means nothing, are ignored. */
int io_set_info(struct file *file, struct info *info);
/* All that are in use, in a new object. */
int io_get_info(struct file *file, struct info **out);

/* --- error handlers (§14.7), for room bind --- */

/* Whose handler takes an error: that of the file; of MPI_FILE_NULL, which files get when they are opened, if it is
 * NULL. It has the head of an object of kind OBJ_FILE. */
void *io_handler_owner(struct file *file);
/* Where such an object keeps its handler. */
struct errhandler **io_handler_place(void *owner);

/* Release what is kept between calls. */
void io_fini(void);

#endif
