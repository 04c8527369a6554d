/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Opening, closing and deleting files (MPI 5.0 §14.2.1 to §14.2.3). The first process opens first, and
 * creates the file if need be; the others open what it has found.
 * Knows: the file system's table, coll, comm. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "io/operation.h"
#include "io/same_file.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"
#include "sys/place.h"

enum {
    ACCESS_MODES = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY,
    ALL_MODES = ACCESS_MODES | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND,
};

/* What the first process tells of the file. */
struct found {
    int32_t number;      /* errno, 0: it is open */
    uint64_t device;
    struct io_mark mark;
    MPI_Offset shown;    /* as in struct file */
    struct io_hints hints; /* the same at all */
};

/* Names may begin with the name of a kind of file system; every kind is reached in the same way here. */
static const char *without_prefix(const char *name)
{
    static const char *const kinds[] = { "ufs:", "nfs:", "xfs:", "panfs:", "lustre:", "gpfs:", "testfs:" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strncmp(name, kinds[i], strlen(kinds[i])))
            return name + strlen(kinds[i]);
    return name;
}

static int check_amode(const char *name, int amode)
{
    const int access = amode & ACCESS_MODES;
    const char *why = NULL;

    if (amode & ~ALL_MODES)
        why = "it has bits that are no mode of files";
    else if (!access || (access & (access - 1)))
        why = "it must have one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY";
    else if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        why = "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY";
    else if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
        why = "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR";
    return why ? err(MPI_ERR_AMODE, "E0904: amode is 0x%x for file \"%.200s\": %s", (unsigned)amode, name, why) : 0;
}

/* --- the descriptor --- */

static int open_as(struct file *file, int flags)
{
    const int creating = file->comm->rank || !(file->amode & MPI_MODE_CREATE) ? 0
                         : file->amode & MPI_MODE_EXCL                         ? O_CREAT | O_EXCL
                                                                               : O_CREAT;

    do
        file->fd = file->fs->open(file->name, flags | creating | O_CLOEXEC, (unsigned)file->hints.permissions);
    while (file->fd == -EINTR);
    return file->fd < 0 ? -file->fd : 0;
}

/* An errno. Who only writes reads, too, if the file may be read: then small blocks can be written together. */
static int open_descriptor(struct file *file, struct stat *st)
{
    int number;

    if (file->amode & MPI_MODE_RDONLY) {
        number = open_as(file, O_RDONLY);
    } else {
        number = open_as(file, O_RDWR);
        file->can_read = !number;
        if (number == EACCES && (file->amode & MPI_MODE_WRONLY))
            number = open_as(file, O_WRONLY);
    }
    file->can_read |= (file->amode & MPI_MODE_RDONLY) != 0;
    if (number)
        return number;
    number = -file->fs->stat(file->fd, st);
    return !number && S_ISDIR(st->st_mode) ? EISDIR : number;
}

static int close_descriptor(struct file *file)
{
    const int rc = file->fd >= 0 ? file->fs->close(file->fd) : 0;

    file->fd = -1;
    return rc && rc != -EINTR ? -rc : 0; /* interrupted: closed all the same */
}

static int open_other(struct file *file, const struct found *first)
{
    struct stat st;
    bool is_far;
    int number;

    if (first->number)
        return io_system_error(file->name, 0, "opening", first->number);
    is_far = file->machines.of[file->comm->rank] != file->machines.of[0];
    number = open_descriptor(file, &st);
    if (number == ENOENT && is_far)
        return io_is_missing(file);
    if (number)
        return io_system_error(file->name, file->comm->rank, "opening", number);
    if (is_far)
        return io_check_mark(file, &first->mark, &st);
    if ((uint64_t)st.st_dev == first->device && (uint64_t)st.st_ino != first->mark.inode)
        return err(MPI_ERR_NOT_SAME, "E0905: the name \"%.200s\" of rank %d leads to another file than that of rank 0",
                   file->name, file->comm->rank);
    return 0;
}

/* Both begin at 0, or at the end. */
static int start_pointers(struct file *file)
{
    int rc = io_shared_open(file);

    file->is_lazy = file->machines.count > 1 && file->fs->is_lazy(file->fd);
    if (!rc && (file->amode & MPI_MODE_APPEND))
        rc = io_get_size(file, &file->position);
    if (!rc)
        io_shared_set(file, file->position);
    return rc;
}

/* Collective. After an error no process has it open. */
static int open_together(struct file *file)
{
    const int made_now = MPI_MODE_CREATE | MPI_MODE_EXCL;
    struct found found = { 0 };
    struct stat st = { 0 };
    int rc = 0, told;

    if (!file->comm->rank) {
        found.number = open_descriptor(file, &st);
        found.device = (uint64_t)st.st_dev;
        found.hints = file->hints;
        if (!found.number)
            io_show_handle(file);
        found.shown = file->shown;
        if (found.number)
            rc = io_system_error(file->name, 0, "opening", found.number);
        else
            io_mark(file, &st, &found.mark); /* holds a lock from now on */
    }
    told = io_share(file, "MPI_File_open", &found, sizeof found);
    file->hints = found.hints;
    file->shown = found.shown;
    if (!told && file->comm->rank)
        rc = open_other(file, &found);
    if (!told && !rc)
        rc = start_pointers(file);
    rc = io_agree(file->comm, "MPI_File_open", file->name, told ? told : rc, 0, "");
    if (!file->comm->rank)
        io_unmark(file, &found.mark);
    if (rc) {
        close_descriptor(file);
        if (!file->comm->rank && !found.number && (file->amode & made_now) == made_now)
            file->fs->remove(file->name); /* nobody else can have it yet */
    }
    return rc;
}

/* --- the object --- */

static void destroy(struct file *file)
{
    io_shared_close(file);
    if (file->home)
        comm_unref(file->home);
    if (file->asking && file->asking != file->comm)
        comm_unref(file->asking);
    if (file->comm)
        comm_unref(file->comm);
    if (file->errhandler)
        errhandler_unref(file->errhandler);
    io_view_unref(file->view);
    for (int i = 0; i < IO_SCRATCHES; i++)
        mem_free(file->scratch[i].memory);
    pthread_mutex_destroy(&file->lock);
    pthread_mutex_destroy(&file->rewriting);
    io_machines_drop(&file->machines);
    mem_free(file->name);
    obj_destroy(&file->obj);
}

static int find_machines(struct file *file, const struct comm *comm)
{
    int rc = io_machines_init(&file->machines, comm->size);

    for (int rank = 0; rank < comm->size && !rc; rank++)
        io_machines_add(&file->machines, rank, comm_machine_of(comm, rank));
    return rc;
}

/* Local. */
static int create(const char *name, int amode, struct info *info, const struct comm *comm, struct file **out)
{
    struct file *file = obj_create(OBJ_FILE, sizeof *file);
    int rc;

    *out = file;
    if (file) {
        pthread_mutex_init(&file->lock, NULL);
        pthread_mutex_init(&file->rewriting, NULL);
        file->name = mem_strdup(name);
    }
    if (!file || !file->name)
        return err(MPI_ERR_NO_MEM, "no memory for file \"%.200s\"", name);
    file->fs = io_fs_now();
    file->fd = -1;
    file->amode = amode;
    file->errhandler = *io_handler_place(io_handler_owner(NULL));
    obj_ref(&file->errhandler->obj);
    rc = find_machines(file, comm);
    if (rc)
        return rc;
    io_hints_init(&file->hints, comm->size, file->machines.count);
    io_hints_read(&file->hints, info, comm->size);
    return io_view_create(file, 0, obj_type(MPI_BYTE), obj_type(MPI_BYTE), io_datarep_find("native"), &file->view);
}

int io_open(struct comm *comm, const char *filename, int amode, struct info *info, struct file **out)
{
    const char *const name = without_prefix(filename);
    struct file *file;
    int rc = p2p_check_kin(comm, "MPI_File_open");

    if (rc)
        return rc;
    rc = create(name, amode, info, comm, &file);
    if (!rc)
        rc = check_amode(name, amode);
    rc = io_agree(comm, "MPI_File_open", name, rc, (uint64_t)amode, "amode");
    if (!rc)
        rc = comm_create_for(comm, comm->group, "MPI_File_open", &file->comm);
    if (!rc)
        rc = io_shared_prepare(file);
    if (!rc)
        rc = open_together(file);
    if (!rc)
        *out = file;
    else if (file)
        destroy(file);
    return rc;
}

void io_refuse_open(struct comm *comm, int rc)
{
    if (!p2p_check_kin(comm, "MPI_File_open"))
        io_agree(comm, "MPI_File_open", "", rc, 0, "");
}

/* --- the end --- */

/* The first process, when all have closed it. */
static int remove_at_end(struct file *file)
{
    const int number = -file->fs->remove(file->name);

    return number ? io_system_error(file->name, file->comm->rank, "deleting", number) : 0;
}

int io_close(struct file *file)
{
    const bool is_deleted = file->amode & MPI_MODE_DELETE_ON_CLOSE;
    int number, pending, rc = 0;

    io_op_drain(file);
    pending = io_op_settle(file) + (file->split != NULL);
    if (pending)
        rc = err(MPI_ERR_FILE, "E0912: %d operations on file \"%.200s\" are not complete at rank %d", pending,
                 file->name, file->comm->rank);
    rc = io_agree(file->comm, "MPI_File_close", file->name, rc, 0, "");
    if (rc)
        return rc;
    if (!is_deleted)
        rc = io_sync_own(file);
    number = close_descriptor(file);
    if (number && !rc)
        rc = io_system_error(file->name, file->comm->rank, "closing", number);
    rc = io_agree(file->comm, "MPI_File_close", file->name, rc, 0, "");
    if (is_deleted) {
        const int removed = file->comm->rank ? 0 : remove_at_end(file);
        const int agreed = io_agree(file->comm, "MPI_File_close", file->name, removed, 0, "");
        rc = rc ? rc : agreed;
    }
    destroy(file);
    return rc;
}

int io_delete(const char *filename)
{
    const char *const name = without_prefix(filename);
    const int number = -io_fs_now()->remove(name);

    return number ? io_system_error(name, obj_comm(MPI_COMM_WORLD) ? obj_comm(MPI_COMM_WORLD)->rank : 0, "deleting",
                                    number) : 0;
}
