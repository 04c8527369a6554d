/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Setting and asking for the view of a file (MPI 5.0 §14.3), and extents in the file (§14.5.1).
 * Knows: views, representations, agreement. */
#include <string.h>

#include "base/err.h"
#include "io/operation.h"

static int find_datarep(const struct file *file, const char *name, const struct io_datarep **out)
{
    *out = io_datarep_find(name);
    return *out ? 0 : err(MPI_ERR_UNSUPPORTED_DATAREP, "E0909: datarep is \"%.100s\" for file \"%.200s\"; there are "
                          "native, internal, external32 and those of MPI_Register_datarep", name, file->name);
}

static int not_current(const struct file *file, MPI_Offset disp)
{
    return err(MPI_ERR_ARG, "E0908: disp is %lld for file \"%.200s\", which was opened with MPI_MODE_SEQUENTIAL; it "
               "must be MPI_DISPLACEMENT_CURRENT", (long long)disp, file->name);
}

/* Where the shared file pointer is, when all have come with nothing wrong so far (`rc`). Collective. */
static int find_current(struct file *file, int rc, MPI_Offset *disp)
{
    struct io_view *const view = io_view_of(file);
    MPI_Offset current = 0;

    rc = io_agree(file->comm, "MPI_File_set_view", file->name, rc, 0, "");
    if (!rc)
        rc = io_shared_add(file, "MPI_File_set_view", 0, &current);
    if (!rc)
        *disp = view->layout->size ? io_view_place(view, (size_t)(current * view->etype_size)) : view->disp;
    io_view_unref(view);
    return rc;
}

/* Of a file with MPI_MODE_SEQUENTIAL it is collective, whatever a process gives. */
static int find_disp(struct file *file, MPI_Offset *disp)
{
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return find_current(file, *disp == MPI_DISPLACEMENT_CURRENT ? 0 : not_current(file, *disp), disp);
    if (*disp < 0)
        return err(MPI_ERR_ARG, "E0908: disp is %lld for file \"%.200s\"; %s", (long long)*disp, file->name,
                   *disp == MPI_DISPLACEMENT_CURRENT ? "MPI_DISPLACEMENT_CURRENT is for MPI_MODE_SEQUENTIAL"
                                                     : "it must not be negative");
    return 0;
}

/* What all must give alike. */
static uint64_t common_of(const struct io_view *view)
{
    return io_hash(view->datarep->name, strlen(view->datarep->name)) ^
           (uint64_t)view->etype_size * UINT64_C(0x9E3779B97F4A7C15);
}

static void replace(struct file *file, struct io_view *view)
{
    struct io_view *old;

    pthread_mutex_lock(&file->lock);
    old = file->view;
    file->view = view;
    file->position = 0;
    pthread_mutex_unlock(&file->lock);
    io_view_unref(old);
}

int io_set_view(struct file *file, MPI_Offset disp, struct type *etype, struct type *filetype, const char *datarep,
                struct info *info)
{
    const struct io_datarep *found;
    struct io_view *view = NULL;
    bool is_rewritten;
    int rc;

    io_op_drain(file);
    rc = find_disp(file, &disp);
    if (!rc)
        rc = find_datarep(file, datarep, &found);
    if (!rc)
        rc = io_view_create(file, disp, etype, filetype, found, &view);
    rc = io_agree(file->comm, "MPI_File_set_view", file->name, rc, view ? common_of(view) : 0,
                  "the extent of the etype or the data representation");
    if (rc) {
        io_view_unref(view);
        return rc;
    }
    is_rewritten = file->comm->size > 1 && view->is_dense && !(file->amode & MPI_MODE_RDONLY);
    io_shared_set(file, 0);
    rc = io_any(file, "MPI_File_set_view", &is_rewritten);
    replace(file, view);
    atomic_store(&file->is_rewritten, is_rewritten);
    if (rc)
        return rc;
    return io_set_info(file, info);
}

void io_refuse_view(struct file *file, int rc)
{
    MPI_Offset disp;

    io_op_drain(file);
    if (file->amode & MPI_MODE_SEQUENTIAL)
        rc = find_current(file, rc, &disp);
    io_agree(file->comm, "MPI_File_set_view", file->name, rc, 0, "");
}

/* A handle more of a type that is the user's already. */
static struct type *again(struct type *type)
{
    type_handle_again(type);
    return type;
}

void io_get_view(struct file *file, MPI_Offset *disp, struct type **etype, struct type **filetype, char *datarep)
{
    struct io_view *const view = io_view_of(file);

    *disp = view->disp;
    *etype = again(view->etype);
    *filetype = again(view->filetype);
    strcpy(datarep, view->datarep->name);
    io_view_unref(view);
}

int io_get_type_extent(struct file *file, struct type *type, MPI_Count *extent)
{
    struct io_view *const view = io_view_of(file);
    struct type *layout;
    const int rc = io_datarep_layout(view->datarep, type, &layout);

    io_view_unref(view);
    if (rc)
        return rc;
    *extent = layout->extent;
    type_unref(layout);
    return 0;
}
