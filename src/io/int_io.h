/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io, private. An open file, its view, and what the parts of the room share. */
#ifndef IO_INT_IO_H
#define IO_INT_IO_H

#include <pthread.h>

#include "base/list.h"
#include "io/datarep.h"
#include "io/file_hints.h"
#include "io/fs.h"
#include "io/io.h"
#include "io/machines.h"

/* A view (MPI 5.0 §14.3), never changed. The data that it shows, one after the other, are its stream; places in it and
 * lengths are bytes in the file. */
struct io_view {
    _Atomic uint32_t refs;
    MPI_Offset disp;
    struct type *etype, *filetype; /* as the user gave them; referenced */
    struct type *layout;           /* the filetype as it lies in the file; referenced */
    MPI_Count etype_size;          /* in the file; 0: there can be no data */
    const struct io_datarep *datarep;
    bool is_run;                   /* the stream is one run of bytes */
    bool is_rising;                /* it never goes back, and no byte comes twice */
    bool is_dense;                 /* rising, with blocks so near to each other that they may be written together */
    struct io_view **peers;        /* what an exchange knows of the views of all ranks; owned; NULL: nothing yet */
    int peer_count;
};

struct io_op;

/* Memory that exchanges use again, by purpose. */
enum { IO_SCRATCH_OWN, IO_SCRATCH_OTHERS, IO_SCRATCH_WINDOW, IO_SCRATCH_OLD, IO_SCRATCH_COVERED, IO_SCRATCHES };

struct file {
    struct obj obj;                /* first: the handle is its address */
    struct errhandler *errhandler; /* referenced */
    struct comm *comm;             /* of the library's own, with the group that opened the file; referenced */
    const struct io_fs *fs;
    int fd;
    int amode;
    bool can_read;                 /* the descriptor, also when the amode is write-only */
    struct io_machines machines;   /* where the processes are */
    bool is_lazy;                  /* they are on several, which see what others have written after both have locked */
    MPI_Offset shown;              /* a byte that the handle has locked (handles.c); 0: none */
    char *name;                    /* without a prefix like "ufs:"; owned */
    struct io_hints hints;
    _Atomic bool is_atomic;
    _Atomic bool has_no_locks;     /* the file system refuses them */
    _Atomic bool is_rewritten;     /* a view of some process has gaps that it may write back: who writes anything there
                                    * meanwhile locks it, so that it is not lost */
    _Atomic bool is_dirty;         /* written since the last sync */
    pthread_mutex_t rewriting;     /* held with a lock of the system's, which is of the file, not of the thread */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct io_view *view;          /* referenced */
    MPI_Offset position;           /* of the individual file pointer, in etypes */
    int pending;                   /* operations under way */
    int detached;                  /* those of them that the user has let go of */
    struct io_op *active;          /* the collective one whose turn it is; NULL: none */
    _Atomic int64_t *pointer;      /* the shared file pointer, in etypes; NULL: rank 0 has it */
    _Atomic int64_t own_pointer;   /* it is this one, perhaps */
    struct comm *asking;           /* by which rank 0 answers parcels; `comm`, or owned; NULL: neither is there yet */
    struct comm *home;             /* owned: those of this machine; NULL: all are, or they ask rank 0 as well */
    bool is_boxed, is_attended;    /* its box is open; this is rank 0 and answers while it computes */
    /* of the thread that makes collective calls: */
    struct io_op *split;           /* begun, and not ended; NULL: none */
    /* of the collective operation whose turn it is: */
    struct {
        char *memory;              /* owned; NULL: none yet */
        size_t size;
    } scratch[IO_SCRATCHES];
};

/* --- errors (file_error.c) --- */

/* The error of a call of the system that has failed with `number` (an errno): `what` it was to do, as "opening". */
int io_system_error(const char *name, int rank, const char *what, int number) COLD;

/* That of process `own`, because the call has failed at `rank`. */
int io_failed_at(const char *name, int error_class, int rank, int own) COLD;
/* Everybody fails if one has (`rc`): with its own error, or with one of the same class that names the rank. With
 * `hash`, also if they differ, as MPI_ERR_NOT_SAME about `what`. Collective over `comm`; `call` for reports. */
int io_agree(struct comm *comm, const char *call, const char *name, int rc, uint64_t hash, const char *what);
/* Is it so at one process, at least? Collective. */
int io_any(struct file *file, const char *call, bool *is_so);
/* What the first process has goes to all; collective. */
int io_share(struct file *file, const char *call, void *bytes, size_t size);

/* What this process has written is to reach the device, if there is anything (consistency.c). */
int io_sync_own(struct file *file);
/* What processes on other machines have written and synchronized is seen from now on. */
void io_refresh(struct file *file);

/* Other bits for other texts, whatever their length. */
uint64_t io_hash(const void *bytes, size_t size);

/* --- other handles of the file (handles.c) --- */

/* Data end here, at last: locks on bytes behind stand for something else, and whoever takes one takes one of so many
 * places by chance. */
#define IO_DATA_END   (INT64_MAX - ((MPI_Offset)1 << 42))
#define IO_PLACES     ((MPI_Offset)1 << 40)
#define IO_MARKS      IO_DATA_END                 /* same_file.c */
#define IO_HANDLES    (IO_DATA_END + 2 * IO_PLACES) /* handles.c */

/* At the first process, which has it open; the others are told where (`shown`). Waits for what others write back. */
void io_show_handle(struct file *file);
/* May bytes be written back that are not those of the call? With the lock of the range they lie in. */
bool io_may_write_back(const struct file *file);

/* --- views (view.c) --- */

/* Error: as io_set_view. */
int io_view_create(const struct file *file, MPI_Offset disp, struct type *etype, struct type *filetype,
                   const struct io_datarep *datarep, struct io_view **out);
void io_view_unref(struct io_view *view);
/* Forget them. */
void io_view_drop_peers(struct io_view *view);
/* The file's, with a reference for the caller. */
struct io_view *io_view_of(struct file *file);
/* Where byte `at` of the stream lies in the file. The view has data. */
MPI_Offset io_view_place(const struct io_view *view, size_t at);
/* Does it lie where there can be data, and not behind all places of a file? */
bool io_view_has(const struct io_view *view, size_t at);
/* How many bytes of the stream lie before `place` in the file; of a view that is not rising, those before the first one
 * that does not. */
size_t io_view_before(const struct io_view *view, MPI_Offset place);

/* --- the shared file pointer (shared_pointer.c) --- */

/* Local; before another process uses it. Error: MPI_ERR_NO_MEM. */
int io_shared_prepare(struct file *file); /* collective, before it is opened */
int io_shared_open(struct file *file);
void io_shared_close(struct file *file);
/* Move it on, and where it was; waits for rank 0 if that has it, and `call` names the wait in reports. Error: rank 0 is
 * lost. */
int io_shared_add(struct file *file, const char *call, int64_t amount, int64_t *before);
/* Rank 0 sets it, all others do nothing; nobody uses it meanwhile. */
void io_shared_set(struct file *file, int64_t value);

/* --- moving bytes (transfer.c) --- */

/* All that the vectors say, to or from `at` on, whatever the system does at once; they are used up. *moved is less
 * than that at the end of the file, or after an error. Returns an errno. */
int io_transfer(const struct file *file, bool is_write, struct iovec *vectors, int count, MPI_Offset at,
                size_t *moved);
/* The same as an error, for one run of bytes. */
int io_transfer_run(struct file *file, bool is_write, void *bytes, size_t len, MPI_Offset at, size_t *moved);
/* Nobody else is in [from, from + len) until io_unlock_range; all of it: [0, IO_DATA_END). An errno. */
int io_lock_range(struct file *file, enum io_lock kind, MPI_Offset from, MPI_Offset len);
void io_unlock_range(struct file *file, MPI_Offset from, MPI_Offset len);

/* What one process moves, in native form, between memory and the stream of a view. */
struct io_access {
    struct file *file;
    struct io_view *view;
    bool is_write;
    void *buf;
    MPI_Count count;
    struct type *type;
    size_t at;             /* in the stream */
    size_t len;            /* bytes; no more than the memory has */
    bool is_locked;        /* its range is: nothing else needs a lock */
};

/* Bytes [from, from + len) of the access. *moved is less at the end of the file, or after an error. (access.c) */
int io_move(const struct io_access *a, size_t from, size_t len, size_t *moved);
/* All of it; in atomic mode nobody else moves anything of what lies in between meanwhile. */
int io_move_all(struct io_access *a, size_t *moved);

enum { IO_READ_STRIDE = 4096, IO_WRITE_STRIDE = 2048 };

/* Is it worth while to move whole `span` bytes of the file for `blocks` blocks in it, and not each of them? */
static inline bool io_is_dense(bool is_write, size_t span, size_t blocks)
{
    return blocks > 3 && span / blocks <= (is_write ? IO_WRITE_STRIDE : IO_READ_STRIDE);
}

#endif
