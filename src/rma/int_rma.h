/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma, private. What its files share beside windows (window.h). */
#ifndef RMA_INT_RMA_H
#define RMA_INT_RMA_H

#include "base/memcheck.h"
#include "obj/blocked.h"
#include "rma/message.h"
#include "rma/rma.h"

enum { WIN_PAGE = 4096 };

/* --- win_info.c: hints --- */

enum win_hint {
    WIN_NO_LOCKS = 1,
    WIN_SAME_SIZE = 2,
    WIN_SAME_DISP_UNIT = 4,
    WIN_NONCONTIG = 8,
    WIN_SAME_OP = 16, /* accumulate_ops=same_op; else same_op_no_op */
};

/* Those of a window that is being made; `info` may be NULL. */
void win_first_info(struct win *win, struct info *info);

/* --- dynamic.c --- */

/* Is it attached here? */
bool win_is_attached_here(struct win *win, uint64_t address, uint64_t len);
/* Is [address, address + len) attached at a target? True also if it is not known, as for a far one. */
bool win_is_attached(const struct win *win, int rank, uint64_t address, uint64_t len);
/* Bytes [at, at + len) of the data of `count` items at `address`. */
struct win_part {
    const struct type *type;
    MPI_Count count;
    uint64_t address;
    size_t at, len;
};
struct win_range {
    uint64_t address, len;
};
/* As win_is_attached, of our own memory as win_is_attached_here: gaps between the items' bytes need not be attached.
 * *missing: what is not. */
bool win_is_part_attached(struct win *win, int rank, const struct win_part *part, struct win_range *missing);
void win_detach_all(struct win *win);

/* --- reach.c --- */

/* `rank` can be reached in this way; found out now if it has not been. */
enum win_way win_way_to(struct win *win, int rank);
/* What others look for when they find that out. */
void win_show_probe(struct win *win);

/* --- serve.c: no window is left --- */

void win_serve_fini(void);

/* --- lists of windows: window.c --- */

void win_enter(struct win *win);
void win_leave(struct win *win);
/* Give back all that it has; nothing of it may be there yet. */
void win_dispose(struct win *win);

/* --- waiting: win_wait.c --- */

/* A test in vain, a flush: let others move on. */
void win_let_others(void);

/* Complete what goes by messages. rank -1: to all. `call`: in which call, for reports. Error: that of
 * win_message_flush. */
static inline int win_complete_messages(struct win *win, int rank, bool is_local, const char *call)
{
    if (likely(!atomic_load_explicit(&win->pending, memory_order_acquire)))
        return 0;
    return win_message_flush(win, rank, is_local, call);
}

/* What has been stored and what will be loaded by operations are seen by all in that order. */
static inline void win_order(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* Others may have written to our memory, which valgrind does not see. At the end of an epoch. */
static inline void win_own_memory_written(const struct win *win)
{
    if (!win->is_mapped && win->bytes)
        memcheck_written(win->base, (size_t)win->bytes);
}

/* No request is left: give back what they lay in. */
void request_close(void);

/* --- errors --- */

/* E0801: `call` does not go with the epoch that the window is in. */
int win_bad_epoch(const struct win *win, const char *call) COLD;
/* Error: MPI_ERR_ASSERT if `assertion` has other bits than `allowed`. */
int win_check_assert(int assertion, int allowed);
/* Error: MPI_ERR_RANK. `rank` may be MPI_PROC_NULL. */
int win_check_rank(const struct win *win, int rank);

#endif
