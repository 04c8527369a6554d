/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. What an open file is asked, its size, its hints (MPI 5.0 §14.2.4 to §14.2.8), and its error handler. */
#include <errno.h>

#include "base/err.h"
#include "io/operation.h"
#include "obj/errhandler.h"

/* Stands for MPI_FILE_NULL where a handler is looked for; in no table of handles. */
static struct file none = {
    .obj = { .kind = OBJ_FILE, .predefined = (uint16_t)(uintptr_t)MPI_FILE_NULL },
    .errhandler = &errhandler_return,
};

void *io_handler_owner(struct file *file)
{
    return file ? file : &none;
}

struct errhandler **io_handler_place(void *owner)
{
    return &((struct file *)owner)->errhandler;
}

void io_fini(void)
{
    io_op_close();
    io_datarep_fini();
    errhandler_unref(none.errhandler);
    none.errhandler = &errhandler_return;
}

int io_amode(const struct file *file)
{
    return file->amode;
}

struct group *io_group(const struct file *file)
{
    obj_ref(&file->comm->group->obj);
    return file->comm->group;
}

/* --- size --- */

static int failed(const struct file *file, const char *what, int number)
{
    return io_system_error(file->name, file->comm->rank, what, number);
}

static int check_size(const struct file *file, MPI_Offset size)
{
    if (size < 0)
        return err(MPI_ERR_ARG, "size is %lld for file \"%.200s\"; it must not be negative", (long long)size,
                   file->name);
    if (file->amode & MPI_MODE_RDONLY)
        return err(MPI_ERR_READ_ONLY, "file \"%.200s\" was opened with MPI_MODE_RDONLY", file->name);
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "file \"%.200s\" was opened with MPI_MODE_SEQUENTIAL", file->name);
    return 0;
}

/* The first process does it for all, when all have come and agree. */
static int change_size(struct file *file, const char *call, MPI_Offset size,
                       int (*change)(int fd, MPI_Offset size))
{
    int number, rc;

    io_op_drain(file);
    rc = check_size(file, size);
    if (!rc && file->is_lazy) /* what is written later would make it longer again */
        rc = io_sync_own(file);
    rc = io_agree(file->comm, call, file->name, rc, (uint64_t)size, "the size");
    if (rc)
        return rc;
    if (!file->comm->rank) {
        do
            number = -change(file->fd, size);
        while (number == EINTR);
        if (number)
            rc = failed(file, "changing the size of", number);
    }
    rc = io_agree(file->comm, call, file->name, rc, 0, "");
    io_refresh(file);
    return rc;
}

int io_set_size(struct file *file, MPI_Offset size)
{
    return change_size(file, "MPI_File_set_size", size, file->fs->resize);
}

int io_preallocate(struct file *file, MPI_Offset size)
{
    return change_size(file, "MPI_File_preallocate", size, file->fs->reserve);
}

int io_get_size(struct file *file, MPI_Offset *size)
{
    struct stat st;
    const int number = -file->fs->stat(file->fd, &st);

    if (number)
        return failed(file, "asking for the size of", number);
    *size = st.st_size;
    return 0;
}

/* --- hints --- */

int io_set_info(struct file *file, struct info *info)
{
    io_op_drain(file);
    io_hints_read(&file->hints, info, file->comm->size);
    return io_share(file, "MPI_File_set_info", &file->hints, sizeof file->hints);
}

void io_refuse_info(struct file *file)
{
    io_set_info(file, NULL);
}

int io_get_info(struct file *file, struct info **out)
{
    struct info *info;
    int rc = info_create(&info);

    if (rc)
        return rc;
    rc = io_hints_tell(&file->hints, file->name, file->comm->size, info);
    if (rc)
        info_unref(info);
    else
        *out = info;
    return rc;
}
