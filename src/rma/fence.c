/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. MPI_Win_fence (MPI 5.0 §12.5.1): a barrier on the window's communicator. What goes without messages is
 * done by then anyway; assertions would save nothing else that counts, but that the next epoch is not opened. */
#include "coll/coll.h"
#include "p2p/attend.h"
#include "p2p/parcel.h"
#include "rma/int_rma.h"

/* What this thread has stored is there for the library's helper, which serves far ranks, and the other way round. Of
 * the barrier in between they know by other processes, which no tool that looks at threads sees. */
static void meet_helper(const struct win *win)
{
    if (likely(!win->has_far) || !attend_is_there())
        return;
    p2p_box_lock(win->comm);
    p2p_box_unlock(win->comm);
}

int win_fence(struct win *win, int assertion)
{
    int rc = win_check_assert(assertion,
                              MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
    int refused;

    if (!rc && (win->epoch > WIN_EPOCH_FENCE || win->post_count >= 0))
        rc = win_bad_epoch(win, "MPI_Win_fence");
    if (rc)
        return rc;
    refused = win_complete_messages(win, -1, false, "MPI_Win_fence");
    meet_helper(win);
    win->comm->coll_outer = "MPI_Win_fence";
    rc = coll_barrier(win->comm);
    rc = rc ? rc : refused;
    win->comm->coll_outer = NULL;
    meet_helper(win);
    win_own_memory_written(win);
    win->is_open = !(assertion & MPI_MODE_NOSUCCEED);
    win->epoch = win->is_open ? WIN_EPOCH_FENCE : WIN_EPOCH_NONE;
    return rc;
}
