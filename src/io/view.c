/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Views (MPI 5.0 §14.3): the part of a file that a process sees, as a stream of bytes.
 * Knows: types' blocks, data representations. Does not know: pointers. */
#include "base/err.h"
#include "base/mem.h"
#include "io/int_io.h"

void io_view_drop_peers(struct io_view *view)
{
    for (int i = 0; view->peers && i < view->peer_count; i++)
        io_view_unref(view->peers[i]);
    mem_free(view->peers);
    view->peers = NULL;
}

void io_view_unref(struct io_view *view)
{
    if (!view || atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel) != 1)
        return;
    io_view_drop_peers(view);
    if (view->layout)
        type_unref(view->layout);
    if (view->etype) { /* those of other processes have none */
        type_unref(view->etype);
        type_unref(view->filetype);
    }
    mem_free(view);
}

struct io_view *io_view_of(struct file *file)
{
    struct io_view *view;

    pthread_mutex_lock(&file->lock);
    view = file->view;
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&file->lock);
    return view;
}

/* --- checks --- */

static int bad(const struct file *file, const struct type *type, const char *which, const char *why)
{
    char text[TYPE_TEXT_MAX];

    return err(MPI_ERR_IO, "E0906: %s %s of the view of file \"%.200s\" %s", which, type_describe(type, text),
               file->name, why);
}

/* `type` as the user gave it, `layout` as it lies in the file. */
static int check_type(const struct file *file, const struct type *type, const struct type *layout, const char *which)
{
    const bool may_write = !(file->amode & MPI_MODE_RDONLY);
    const enum type_order order = type_order(layout);

    if (!layout->size)
        return 0;
    if (layout->plan.disp < 0)
        return bad(file, type, which, "has negative displacements");
    if (order == TYPE_ORDER_NONE)
        return bad(file, type, which, "has displacements that decrease");
    if (layout->extent <= 0)
        return bad(file, type, which, "has an extent that is not positive");
    if (may_write && order == TYPE_ORDER_OVERLAPS)
        return bad(file, type, which, "overlaps itself, and the file may be written");
    return 0;
}

static int check_pair(const struct file *file, const struct type *etype, const struct type *filetype,
                      const struct type *layout, MPI_Count etype_size)
{
    char text[TYPE_TEXT_MAX];

    if (!etype->size && filetype->size)
        return bad(file, etype, "etype", "has no data, but the filetype has");
    if (etype_size && layout->size % etype_size)
        return err(MPI_ERR_ARG, "E0906: filetype %s of the view of file \"%.200s\" has %lld bytes, which is no "
                   "multiple of the %lld bytes of the etype", type_describe(filetype, text), file->name,
                   (long long)layout->size, (long long)etype_size);
    return 0;
}

/* --- making --- */

static int look_at_etype(const struct file *file, struct io_view *view)
{
    struct type *etype;
    int rc = io_datarep_layout(view->datarep, view->etype, &etype);

    if (rc)
        return rc;
    view->etype_size = etype->size;
    rc = check_type(file, view->etype, etype, "etype");
    type_unref(etype);
    return rc;
}

static void look_at(struct io_view *view)
{
    const struct type *const layout = view->layout;
    const MPI_Count reach = layout->true_extent;

    view->is_run = !layout->size || type_is_run(layout, 2);
    view->is_rising = type_order(layout) == TYPE_ORDER_RISING && layout->extent >= reach;
    view->is_dense = view->is_rising && !view->is_run &&
                     layout->extent / (MPI_Count)type_block_count(layout, 1) <= IO_WRITE_STRIDE;
}

int io_view_create(const struct file *file, MPI_Offset disp, struct type *etype, struct type *filetype,
                   const struct io_datarep *datarep, struct io_view **out)
{
    struct io_view *view = mem_zalloc(sizeof *view);
    int rc = 0;

    if (!view)
        return err(MPI_ERR_NO_MEM, "no memory for a view of file \"%.200s\"", file->name);
    atomic_init(&view->refs, 1);
    view->disp = disp;
    view->etype = etype;
    view->filetype = filetype;
    view->datarep = datarep;
    type_ref(etype);
    type_ref(filetype);
    if (!(rc = look_at_etype(file, view)) && !(rc = io_datarep_layout(datarep, filetype, &view->layout)) &&
        !(rc = check_type(file, filetype, view->layout, "filetype")) &&
        !(rc = check_pair(file, etype, filetype, view->layout, view->etype_size))) {
        look_at(view);
        *out = view;
        return 0;
    }
    io_view_unref(view);
    return rc;
}

/* --- places --- */

MPI_Offset io_view_place(const struct io_view *view, size_t at)
{
    struct type_block block;

    type_next_blocks(view->layout, (uintptr_t)view->disp, at, 1, &block, 1);
    return (MPI_Offset)block.address;
}

/* By the end of its tile, or of the run. */
bool io_view_has(const struct io_view *view, size_t at)
{
    const struct type *const layout = view->layout;
    MPI_Offset begin = 0, end;

    if (!layout->size)
        return true;
    if (view->is_run)
        begin = (MPI_Offset)at;
    else if (__builtin_mul_overflow((MPI_Offset)(at / (size_t)layout->size), layout->extent, &begin))
        return false;
    return !__builtin_add_overflow(begin, view->disp, &end) &&
           !__builtin_add_overflow(end, layout->true_lb + layout->true_extent, &end) && end <= IO_DATA_END;
}

/* Of [low, high) of the stream, the first byte that lies at `place` or behind; `high`: none does. */
static size_t bisect(const struct io_view *view, size_t low, size_t high, MPI_Offset place)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (io_view_place(view, middle) < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Tiles that overlap are looked at one after the other. */
static size_t before_in_turn(const struct io_view *view, MPI_Offset place)
{
    struct type_block block;
    size_t at = 0;

    for (;;) {
        type_next_blocks(view->layout, (uintptr_t)view->disp, at, SIZE_MAX / 2, &block, 1);
        if ((MPI_Offset)block.address >= place)
            return at;
        if ((MPI_Offset)(block.address + block.end) > place)
            return at + (size_t)(place - (MPI_Offset)block.address);
        at += block.end;
    }
}

size_t io_view_before(const struct io_view *view, MPI_Offset place)
{
    const struct type *const layout = view->layout;
    MPI_Offset first;
    size_t tile;

    if (!layout->size)
        return 0;
    first = io_view_place(view, 0);
    if (place <= first)
        return 0;
    if (view->is_run)
        return (size_t)(place - first);
    if (!view->is_rising)
        return before_in_turn(view, place);
    tile = (size_t)((place - first) / layout->extent);
    return bisect(view, tile * (size_t)layout->size, (tile + 1) * (size_t)layout->size, place);
}
