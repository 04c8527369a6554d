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

struct blocked;
struct errhandler;
struct file;
struct progress_long;

/* --- opening and asking (§14.2) --- */

/* Collective over `comm`, no intercommunicator. `info` may be NULL. */
int io_open(struct comm *comm, const char *filename, int amode, struct info *info, struct file **out);
/* Takes part in that when an argument is wrong (`rc`), so that the others learn of it; so do those below with "refuse"
 * in their names. */
void io_refuse_open(struct comm *comm, int rc);
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
void io_refuse_info(struct file *file);
/* All that are in use, in a new object. */
int io_get_info(struct file *file, struct info **out);

/* --- views (§14.3) --- */

/* Collective. `disp` may be MPI_DISPLACEMENT_CURRENT in sequential mode. Errors: MPI_ERR_IO for types that no view can
 * have, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_NOT_SAME for representations or extents of etypes that differ. */
int io_set_view(struct file *file, MPI_Offset disp, struct type *etype, struct type *filetype, const char *datarep,
                struct info *info);
void io_refuse_view(struct file *file, int rc);
/* The types are handles that the user frees unless they are predefined; `datarep` has room for
 * MPI_MAX_DATAREP_STRING. */
void io_get_view(struct file *file, MPI_Offset *disp, struct type **etype, struct type **filetype, char *datarep);
/* Where in the file an offset in etypes lies. Error: MPI_ERR_ARG. */
int io_get_byte_offset(struct file *file, MPI_Offset offset, MPI_Offset *disp);
/* §14.5.1 */
int io_get_type_extent(struct file *file, struct type *type, MPI_Count *extent);

/* --- data access (§14.4) --- */

enum io_where { IO_EXPLICIT, IO_POINTER, IO_SHARED, IO_ORDERED };
enum { IO_READ = 0, IO_WRITE = 1 };

struct io_call {
    struct file *file;
    int is_write;
    enum io_where where;
    MPI_Offset offset;    /* IO_EXPLICIT: in etypes */
    void *buf;
    MPI_Count count;
    struct type *type;
    const char *name;     /* of the function, for reports */
    int failed;           /* an argument is wrong: that error. Nothing but `file` and `name` is looked at */
};

/* For the bindings. */
#define IO_CALL(file_, way, where_, offset_, buf_, count_, type_, name_) \
    (&(struct io_call){ file_, way, where_, offset_, (void *)(uintptr_t)(buf_), count_, type_, "MPI_File_" name_, 0 })

/* In a collective call, so that the others learn that this process's arguments are wrong. */
#define IO_FAILED(file_, rc_, name_) (&(struct io_call){ .file = file_, .name = "MPI_File_" name_, .failed = rc_ })

/* By one process alone; the second one is local. */
int io_run(const struct io_call *call, MPI_Status *status);
int io_start(const struct io_call *call, struct req **out);

/* By all together: collective. The second one does not wait for the others. Errors of one are errors of all. */
int io_run_all(const struct io_call *call, MPI_Status *status);
int io_start_all(const struct io_call *call, struct req **out);
/* The second one in two halves, one at a time for each file; `begun` and `call` are the names of both. Error:
 * MPI_ERR_OTHER if they do not belong together. */
int io_begin_all(const struct io_call *call);
int io_end_all(struct file *file, const char *begun, const char *call, MPI_Status *status);
/* What the first half has begun, which is there until the second one. */
struct req *io_split_request(const struct file *file);

/* The individual file pointer. Errors: MPI_ERR_ARG for a place before the beginning or another `whence`. */
int io_seek(struct file *file, MPI_Offset offset, int whence);
int io_get_position(struct file *file, MPI_Offset *offset);

/* --- consistency (§14.6); collective --- */

/* Error: MPI_ERR_UNSUPPORTED_OPERATION if the file system has no locks. */
int io_set_atomicity(struct file *file, int flag);
int io_is_atomic(struct file *file);
int io_sync(struct file *file);

/* --- the shared file pointer (§14.4.4): IO_SHARED in io_run and io_start --- */

/* Collective, in the order of ranks; IO_ORDERED. The second one begins a split call. */
int io_run_ordered(const struct io_call *call, MPI_Status *status);
int io_begin_ordered(const struct io_call *call);
/* Collective. */
int io_seek_shared(struct file *file, MPI_Offset offset, int whence);
int io_get_position_shared(struct file *file, MPI_Offset *offset);

/* --- representations (§14.5.3) --- */

/* The functions and the state are copied. Errors: MPI_ERR_DUP_DATAREP; MPI_ERR_ARG for a name that is too long;
 * MPI_ERR_NO_MEM. */
struct io_datarep;
int io_register_datarep(const char *name, const struct io_datarep *functions);

/* --- error handlers (§14.7), for room bind --- */

/* Whose handler takes an error: that of the file; of MPI_FILE_NULL, which files get when they are opened, if it is
 * NULL. It has the head of an object of kind OBJ_FILE. */
void *io_handler_owner(struct file *file);
/* Where such an object keeps its handler. */
struct errhandler **io_handler_place(void *owner);

/* What a long wait waits for. False: nothing of this room. */
bool io_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

/* Release what is kept between calls. */
void io_fini(void);

#endif
