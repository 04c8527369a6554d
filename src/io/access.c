/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Between memory and the stream of a view, for one process alone.
 *
 * Where the view is one run, the system's calls take the blocks of memory as vectors, or a packed copy when they are
 * small. Where it has gaps, many small blocks near to each other are moved by reading all that lies between the first
 * and the last of them, and, when writing, by writing that back, under a lock since others may write to the gaps.
 * Knows: types' blocks, the calls of transfer.c. Does not know: pointers, requests. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/int_io.h"

enum {
    VECTORS = 256,          /* blocks of memory in one call */
    VECTOR_BYTES = 512,     /* shorter ones are packed instead */
    STAGE = 64 << 10,       /* packed bytes in one call */
    WINDOW = 512 << 10,     /* bytes of the file that are read for the blocks in them */
    BLOCKS = 4096,          /* of the file that are listed at once */
    SINGLE = 256,           /* blocks that are moved one by one under one lock */
};

static int failed(const struct io_access *a, int number)
{
    return io_system_error(a->file->name, a->file->comm->rank, a->is_write ? "writing to" : "reading", number);
}

/* --- one run of the file --- */

/* By vectors; 0 moved and no error: the blocks are too short. */
static int move_vectors(const struct io_access *a, size_t from, size_t len, MPI_Offset at, size_t *wanted,
                        size_t *moved)
{
    struct type_block blocks[VECTORS];
    struct iovec vectors[VECTORS];
    const size_t n = type_next_blocks(a->type, (uintptr_t)a->buf, from, len, blocks, VECTORS);
    size_t begin = 0;

    *wanted = blocks[n - 1].end;
    if (*wanted / n < VECTOR_BYTES) {
        *wanted = 0;
        return 0;
    }
    for (size_t i = 0; i < n; begin = blocks[i++].end)
        vectors[i] = (struct iovec){ (void *)(uintptr_t)blocks[i].address, blocks[i].end - begin };
    return io_transfer(a->file, a->is_write, vectors, (int)n, at, moved);
}

/* By a packed copy of so much as there is room for. */
static int move_packed(const struct io_access *a, size_t from, size_t len, MPI_Offset at, char *stage, size_t *wanted,
                       size_t *moved)
{
    struct iovec whole = { stage, size_min(len, STAGE) };
    int number;

    *wanted = whole.iov_len;
    if (a->is_write)
        type_pack(a->type, a->buf, a->count, from, stage, *wanted);
    number = io_transfer(a->file, a->is_write, &whole, 1, at, moved);
    if (!a->is_write)
        type_unpack(a->type, a->buf, a->count, from, stage, *moved);
    return number;
}

static int move_gaps(const struct io_access *a, size_t from, size_t len, MPI_Offset at, size_t *moved)
{
    char *stage = NULL;
    size_t wanted, now;
    int number = 0;

    for (*moved = 0; *moved < len && !number; *moved += now) {
        now = 0;
        number = move_vectors(a, from + *moved, len - *moved, at + (MPI_Offset)*moved, &wanted, &now);
        if (!wanted && !stage && !(stage = mem_alloc(size_min(len, STAGE))))
            number = ENOMEM;
        else if (!wanted)
            number = move_packed(a, from + *moved, len - *moved, at + (MPI_Offset)*moved, stage, &wanted, &now);
        if (now < wanted) {
            *moved += now;
            break;
        }
    }
    mem_free(stage);
    return number;
}

/* Bytes of the access that lie in one run from `at` on. An errno. */
static int move_run(const struct io_access *a, size_t from, size_t len, MPI_Offset at, size_t *moved)
{
    struct iovec whole;

    if (!type_is_run(a->type, a->count))
        return move_gaps(a, from, len, at, moved);
    whole = (struct iovec){ type_run(a->type, a->buf) + from, len };
    return io_transfer(a->file, a->is_write, &whole, 1, at, moved);
}

/* --- windows --- */

struct window {
    const struct type_block *blocks; /* of the file; `end` counts from the first on */
    size_t count;
    size_t span;                     /* from the first byte to the last */
    size_t from;                     /* of the access, where they begin */
    char *bytes;                     /* of the file; owned */
    char *packed;                    /* as many again, for memory with gaps; owned */
};

static size_t block_len(const struct window *w, size_t i)
{
    return w->blocks[i].end - (i ? w->blocks[i - 1].end : 0);
}

static size_t window_len(const struct window *w)
{
    return w->blocks[w->count - 1].end;
}

/* Between the window and data in a row. */
static void scatter(const struct window *w, char *row, bool is_write)
{
    const uint64_t first = w->blocks[0].address;
    size_t begin = 0;

    for (size_t i = 0; i < w->count; begin = w->blocks[i++].end) {
        char *const place = w->bytes + (w->blocks[i].address - first);

        memcpy(is_write ? place : row + begin, is_write ? row + begin : place, w->blocks[i].end - begin);
    }
}

/* Data that the first `got` bytes of the window hold. */
static size_t data_in(const struct window *w, size_t got)
{
    size_t i = 0;

    while (i < w->count && w->blocks[i].address - w->blocks[0].address + block_len(w, i) <= got)
        i++;
    if (i == w->count)
        return window_len(w);
    const size_t begin = i ? w->blocks[i - 1].end : 0, skip = w->blocks[i].address - w->blocks[0].address;
    return begin + (got > skip ? got - skip : 0);
}

static char *row_of(const struct io_access *a, const struct window *w)
{
    return type_is_run(a->type, a->count) ? type_run(a->type, a->buf) + w->from : w->packed;
}

static int read_window(const struct io_access *a, struct window *w, size_t *moved)
{
    struct iovec whole = { w->bytes, w->span };
    size_t got;
    const int number = io_transfer(a->file, false, &whole, 1, (MPI_Offset)w->blocks[0].address, &got);

    *moved = data_in(w, got);
    if (got < w->span) { /* only what has come reaches the user's memory */
        scatter(w, w->packed, false);
        type_unpack(a->type, a->buf, a->count, w->from, w->packed, *moved);
        return number;
    }
    scatter(w, row_of(a, w), false);
    if (row_of(a, w) == w->packed)
        type_unpack(a->type, a->buf, a->count, w->from, w->packed, *moved);
    return number;
}

static int rewrite(const struct io_access *a, struct window *w, size_t *moved)
{
    const MPI_Offset at = (MPI_Offset)w->blocks[0].address;
    struct iovec whole = { w->bytes, w->span };
    size_t got;
    int number = io_transfer(a->file, false, &whole, 1, at, &got);

    if (number)
        return number;
    memset(w->bytes + got, 0, w->span - got);
    if (row_of(a, w) == w->packed)
        type_pack(a->type, a->buf, a->count, w->from, w->packed, window_len(w));
    scatter(w, row_of(a, w), true);
    whole = (struct iovec){ w->bytes, w->span };
    number = io_transfer(a->file, true, &whole, 1, at, &got);
    *moved = data_in(w, got);
    return number;
}

/* Not done, and no error: the file system has no locks, or another handle writes there without them. */
static int write_window(const struct io_access *a, struct window *w, bool *is_done, size_t *moved)
{
    const MPI_Offset at = (MPI_Offset)w->blocks[0].address;
    int number = a->is_locked ? 0 : io_lock_range(a->file, IO_LOCK_WRITE, at, (MPI_Offset)w->span);

    *is_done = !number;
    if (number) {
        atomic_store_explicit(&a->file->has_no_locks, true, memory_order_relaxed);
        return 0;
    }
    *is_done = io_may_write_back(a->file);
    if (*is_done)
        number = rewrite(a, w, moved);
    if (!a->is_locked)
        io_unlock_range(a->file, at, (MPI_Offset)w->span);
    return number;
}

static bool has_room(struct window *w)
{
    if (!w->bytes)
        w->bytes = mem_alloc(WINDOW);
    if (!w->packed)
        w->packed = mem_alloc(WINDOW);
    return w->bytes && w->packed;
}

/* --- views with gaps --- */

/* How many of the `n` blocks from the first on are better moved together; 0: none. */
static size_t count_together(const struct io_access *a, const struct type_block *blocks, size_t n, size_t *span)
{
    size_t low = 0, high = n;

    if (!a->view->is_rising || (a->is_write && (!a->view->is_dense || !a->file->can_read ||
                                                atomic_load(&a->file->has_no_locks))))
        return 0;
    while (low < high) { /* those that end within the window */
        const size_t i = low + (high - low) / 2;
        const size_t end = blocks[i].address + blocks[i].end - (i ? blocks[i - 1].end : 0) - blocks[0].address;

        if (end <= WINDOW) {
            low = i + 1;
            *span = end;
        } else {
            high = i;
        }
    }
    return low && io_is_dense(a->is_write, *span, low) ? low : 0;
}

/* Nobody may be rewriting what lies between the first and the last byte while it is written for itself. True: unlock
 * it afterwards. */
static bool lock_own(const struct io_access *a, MPI_Offset from, MPI_Offset len)
{
    struct file *const file = a->file;

    if (!a->is_write || a->is_locked || !atomic_load_explicit(&file->is_rewritten, memory_order_relaxed) ||
        atomic_load_explicit(&file->has_no_locks, memory_order_relaxed))
        return false;
    if (!io_lock_range(file, file->can_read ? IO_LOCK_READ : IO_LOCK_WRITE, from, len))
        return true;
    atomic_store_explicit(&file->has_no_locks, true, memory_order_relaxed);
    return false;
}

/* Each block for itself. */
static int move_single(const struct io_access *a, const struct window *w, size_t n, size_t *moved)
{
    const MPI_Offset first = (MPI_Offset)w->blocks[0].address;
    const MPI_Offset end = (MPI_Offset)(w->blocks[n - 1].address + block_len(w, n - 1));
    const MPI_Offset len = a->view->is_rising ? end - first : IO_DATA_END;
    const bool is_locked = lock_own(a, a->view->is_rising ? first : 0, len);
    size_t begin = 0, now;
    int number = 0;

    for (size_t i = 0; i < n && !number; begin = w->blocks[i++].end) {
        number = move_run(a, w->from + begin, w->blocks[i].end - begin, (MPI_Offset)w->blocks[i].address, &now);
        *moved += now;
        if (now < w->blocks[i].end - begin)
            break;
    }
    if (is_locked)
        io_unlock_range(a->file, a->view->is_rising ? first : 0, len);
    return number;
}

/* The next blocks: as many as go together, or some of those that do not. */
static int move_some(const struct io_access *a, struct window *w, size_t n, size_t *wanted, size_t *moved)
{
    bool is_done = false;
    int number = 0;

    *moved = 0;
    w->count = count_together(a, w->blocks, n, &w->span);
    if (w->count && !has_room(w))
        w->count = 0;
    if (w->count && !a->is_write) {
        is_done = true;
        number = read_window(a, w, moved);
    } else if (w->count) {
        number = write_window(a, w, &is_done, moved);
    }
    if (!is_done) {
        w->count = w->count ? w->count : size_min(n, SINGLE);
        number = move_single(a, w, w->count, moved);
    }
    *wanted = window_len(w);
    return number;
}

static int move_blocks(const struct io_access *a, size_t from, size_t len, size_t *moved)
{
    const size_t room = size_min(BLOCKS, len);
    struct type_block *blocks = mem_alloc(room * sizeof *blocks);
    struct window w = { .blocks = blocks };
    size_t now = 0, wanted = 0;
    int number = blocks ? 0 : ENOMEM;

    for (*moved = 0; *moved < len && !number && now == wanted; *moved += now) {
        const size_t n = type_next_blocks(a->view->layout, (uintptr_t)a->view->disp, a->at + from + *moved,
                                          len - *moved, blocks, room);
        w.from = from + *moved;
        number = move_some(a, &w, n, &wanted, &now);
    }
    mem_free(blocks);
    mem_free(w.bytes);
    mem_free(w.packed);
    return number;
}

static int move_whole(const struct io_access *a, size_t from, size_t len, size_t *moved)
{
    const MPI_Offset at = io_view_place(a->view, a->at + from);
    const bool is_locked = lock_own(a, at, (MPI_Offset)len);
    const int number = move_run(a, from, len, at, moved);

    if (is_locked)
        io_unlock_range(a->file, at, (MPI_Offset)len);
    return number;
}

int io_move(const struct io_access *a, size_t from, size_t len, size_t *moved)
{
    int number;

    *moved = 0;
    if (!len)
        return 0;
    if (a->view->is_run)
        number = move_whole(a, from, len, moved);
    else
        number = move_blocks(a, from, len, moved);
    if (a->is_write)
        atomic_store_explicit(&a->file->is_dirty, true, memory_order_relaxed);
    return number ? failed(a, number) : 0;
}

/* From the first byte to the last one that it may touch. */
static void range_of(const struct io_access *a, MPI_Offset *from, MPI_Offset *len)
{
    *from = 0;
    *len = IO_DATA_END; /* all */
    if (a->view->is_rising) {
        *from = io_view_place(a->view, a->at);
        *len = io_view_place(a->view, a->at + a->len - 1) + 1 - *from;
    }
}

int io_move_all(struct io_access *a, size_t *moved)
{
    MPI_Offset from, len;
    int number, rc;

    *moved = 0;
    if (!a->len)
        return 0;
    if (!atomic_load_explicit(&a->file->is_atomic, memory_order_relaxed))
        return io_move(a, 0, a->len, moved);
    range_of(a, &from, &len);
    number = io_lock_range(a->file, a->is_write ? IO_LOCK_WRITE : IO_LOCK_READ, from, len);
    if (number)
        return io_system_error(a->file->name, a->file->comm->rank, "locking", number);
    a->is_locked = true;
    rc = io_move(a, 0, a->len, moved);
    a->is_locked = false;
    io_unlock_range(a->file, from, len);
    return rc;
}
