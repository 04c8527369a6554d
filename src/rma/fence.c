/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. MPI_Win_fence (MPI 5.0 §12.5.1): a barrier on the window's communicator. What goes without messages is
 * done by then anyway; assertions would save nothing else that counts, but that the next epoch is not opened. */
#include "coll/coll.h"
#include "rma/int_rma.h"

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
    win->comm->coll_outer = "MPI_Win_fence";
    rc = coll_barrier(win->comm);
    rc = rc ? rc : refused;
    win->comm->coll_outer = NULL;
    win_own_memory_written(win);
    win->is_open = !(assertion & MPI_MODE_NOSUCCEED);
    win->epoch = win->is_open ? WIN_EPOCH_FENCE : WIN_EPOCH_NONE;
    return rc;
}
