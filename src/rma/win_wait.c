/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Waiting for other ranks of a window, what is told of it, and checks that several files share. */
#include "base/err.h"
#include "p2p/parcel.h"
#include "rma/int_rma.h"

static bool is_over(void *arg)
{
    struct win_wait *wait = arg;

    return wait->is_over(wait);
}

void win_wait_for(struct win_wait *wait)
{
    progress_wait_look(is_over, wait);
}

void win_wait_for_messages(struct win_wait *wait, int rank)
{
    static _Atomic uint32_t nothing;

    if (rank < 0)
        progress_wait_until(is_over, wait);
    else
        progress_wait_hinted(is_over, wait, p2p_box_hint(wait->win->comm, rank), &nothing);
}

bool rma_describe_wait(const struct progress_long *told, struct blocked *out)
{
    const struct win_wait *wait = told->arg;

    if (told->is_done != is_over)
        return false;
    *out = (struct blocked){ .call = wait->call,
                             .comm = wait->win->comm,
                             .way = BLOCKED_RECEIVING,
                             .peer = wait->peer,
                             .tag = JOB_NO_VALUE,
                             .count = -1 };
    return true;
}

/* Every now and then: a program that waits for a word in a window calls this again and again. */
void win_let_others(void)
{
    static _Thread_local unsigned turn;

    if (unlikely(++turn % 16 == 0)) {
        progress_poll();
        progress_in_vain();
    }
}

/* --- errors --- */

static const char *epoch_name(const struct win *win)
{
    if (win->start_count >= 0)
        return "MPI_Win_start has opened an access epoch, and MPI_Win_complete has not ended it";
    switch (win->epoch) {
    case WIN_EPOCH_FENCE: return "the last call was MPI_Win_fence";
    case WIN_EPOCH_LOCK:
        return "MPI_Win_lock has opened an access epoch, and MPI_Win_unlock has not ended it";
    case WIN_EPOCH_LOCK_ALL:
        return "MPI_Win_lock_all has opened an access epoch, and MPI_Win_unlock_all has not ended it";
    }
    if (win->post_count >= 0)
        return "MPI_Win_post has opened an exposure epoch, and MPI_Win_wait has not ended it";
    return "there is no epoch that it could belong to";
}

int win_bad_epoch(const struct win *win, const char *call)
{
    return err(MPI_ERR_RMA_SYNC, "E0801: %s cannot be called now: %s", call, epoch_name(win));
}

int win_check_assert(int assertion, int allowed)
{
    if (likely(!(assertion & ~allowed)))
        return 0;
    return err(MPI_ERR_ASSERT, "assert is 0x%x; of its bits 0x%x are no assertions for this call",
               (unsigned)assertion, (unsigned)(assertion & ~allowed));
}

int win_check_rank(const struct win *win, int rank)
{
    if (likely((unsigned)rank < (unsigned)win->size) || rank == MPI_PROC_NULL)
        return 0;
    return err(MPI_ERR_RANK, "rank is %d; the window has ranks 0 to %d, and MPI_PROC_NULL", rank,
               win->size - 1);
}
