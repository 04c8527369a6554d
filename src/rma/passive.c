/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Passive target synchronization (MPI 5.0 §12.5.3, §12.5.4). The lock of a target is three counts in its
 * part of the control memory, so its process has nothing to do with it. Who wants it takes the next ticket:
 *
 *   to read    when all before are readers inside or are done: `reading` has come to the ticket; then it moves on
 *   to write   when all before are done: `writing` has come to the ticket
 *
 * Who is done moves `writing` on, a writer `reading` as well. So the lock is fair, and who waits is woken by the one
 * whose step lets him in: beside each ticket stands its rank. */
#include <pthread.h>

#include "base/err.h"
#include "rma/int_rma.h"

/* --- the lock of a target --- */

/* Whoever holds it now: that changes while we sleep, so no rank is named as the one that is waited for. */
struct lock_wait {
    struct win_wait wait;
    const _Atomic uint32_t *turn;
    uint32_t ticket;
};

static bool is_our_turn(struct win_wait *wait)
{
    struct lock_wait *lock = (struct lock_wait *)(void *)wait;

    /* acquire pairs with give: what the holders before have done is seen */
    return atomic_load_explicit(lock->turn, memory_order_acquire) == lock->ticket;
}

static void wake_ticket(const struct win *win, struct win_member *member, uint32_t ticket)
{
    progress_fence();
    if (unlikely(atomic_load_explicit(&member->tickets, memory_order_relaxed) != ticket))
        win_wake(win, (int)atomic_load_explicit(&member->pair[ticket & win->pair_mask].waiter,
                                                memory_order_relaxed));
}

static void take(struct win *win, int rank, bool is_shared, const char *call)
{
    struct win_member *member = win_member(win, rank);
    const uint32_t ticket = atomic_fetch_add_explicit(&member->tickets, 1, memory_order_relaxed);
    struct lock_wait lock = { { win, call, MPI_ANY_SOURCE, is_our_turn },
                              is_shared ? &member->reading : &member->writing,
                              ticket };

    atomic_store_explicit(&member->pair[ticket & win->pair_mask].waiter, (uint32_t)win->rank,
                          memory_order_relaxed);
    if (unlikely(atomic_load_explicit(lock.turn, memory_order_acquire) != ticket))
        win_wait_for(&lock.wait);
    if (!is_shared)
        return;
    atomic_store_explicit(&member->reading, ticket + 1, memory_order_release); /* ours to change */
    wake_ticket(win, member, ticket + 1);
}

static void give(struct win *win, int rank, bool is_shared)
{
    struct win_member *member = win_member(win, rank);

    /* release pairs with is_our_turn */
    if (!is_shared)
        atomic_fetch_add_explicit(&member->reading, 1, memory_order_release);
    wake_ticket(win, member, atomic_fetch_add_explicit(&member->writing, 1, memory_order_release) + 1);
}

/* --- MPI_Win_lock, MPI_Win_unlock --- */

/* No other epoch may be open; a fence that nothing has followed has opened none. */
static int check_begin(const struct win *win, bool is_all, const char *call)
{
    if (win->hints & WIN_NO_LOCKS)
        return err(MPI_ERR_RMA_SYNC, "E0801: the window was made with no_locks=true");
    if (win->start_count >= 0 || win->epoch == WIN_EPOCH_LOCK_ALL || (is_all && win->epoch == WIN_EPOCH_LOCK))
        return win_bad_epoch(win, call);
    return 0;
}

static int check_lock(const struct win *win, int type, int rank, int assertion)
{
    int rc = win_check_rank(win, rank);

    if (!rc && type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        rc = err(MPI_ERR_LOCKTYPE, "lock_type is %d, neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", type);
    if (!rc)
        rc = win_check_assert(assertion, MPI_MODE_NOCHECK);
    if (!rc)
        rc = check_begin(win, false, "MPI_Win_lock");
    if (!rc && rank >= 0 && win->target[rank].access)
        rc = err(MPI_ERR_RMA_SYNC, "E0801: rank %d is locked already, by this process", rank);
    return rc;
}

/* Threads may lock and unlock different targets at once. */
static void guard(struct win *win)
{
    if (unlikely(progress.is_threaded))
        pthread_mutex_lock(&win->lock);
}

static void unguard(struct win *win)
{
    if (unlikely(progress.is_threaded))
        pthread_mutex_unlock(&win->lock);
}

/* Another thread sees that this target is taken, and that there is an epoch. */
static int begin_lock(struct win *win, int type, int rank, int assertion)
{
    int rc;

    guard(win);
    rc = check_lock(win, type, rank, assertion);
    if (!rc && win->lock_count++ == 0) {
        win->is_open = false;
        win->epoch = WIN_EPOCH_LOCK;
    }
    if (!rc && rank == MPI_PROC_NULL)
        win->null_locks++;
    unguard(win);
    return rc;
}

int win_lock(struct win *win, int type, int rank, int assertion)
{
    const bool is_shared = type == MPI_LOCK_SHARED;
    const int rc = begin_lock(win, type, rank, assertion);

    if (rc || rank == MPI_PROC_NULL)
        return rc;
    if (!(assertion & MPI_MODE_NOCHECK))
        take(win, rank, is_shared, "MPI_Win_lock");
    win->target[rank].access = assertion & MPI_MODE_NOCHECK ? WIN_ACCESS_UNCHECKED
                               : is_shared                  ? WIN_ACCESS_SHARED
                                                            : WIN_ACCESS_EXCLUSIVE;
    if (rank == win->rank)
        win_own_memory_written(win);
    return 0;
}

static void release(struct win *win, int rank)
{
    const uint8_t access = win->target[rank].access;

    win->target[rank].access = WIN_ACCESS_NONE;
    if (access != WIN_ACCESS_UNCHECKED)
        give(win, rank, access == WIN_ACCESS_SHARED);
}

static int check_unlock(const struct win *win, int rank)
{
    const int rc = win_check_rank(win, rank);

    if (rc)
        return rc;
    if (win->epoch != WIN_EPOCH_LOCK)
        return win_bad_epoch(win, "MPI_Win_unlock");
    if (rank == MPI_PROC_NULL ? !win->null_locks : !win->target[rank].access)
        return err(MPI_ERR_RMA_SYNC, "E0801: rank %d is not locked by this process", rank);
    return 0;
}

static void end_lock(struct win *win, int rank)
{
    guard(win);
    if (rank == MPI_PROC_NULL)
        win->null_locks--;
    if (--win->lock_count == 0)
        win->epoch = WIN_EPOCH_NONE;
    unguard(win);
}

int win_unlock(struct win *win, int rank)
{
    const int rc = check_unlock(win, rank);

    if (rc)
        return rc;
    if (rank != MPI_PROC_NULL) {
        win_complete_messages(win, rank, false, "MPI_Win_unlock");
        release(win, rank);
    }
    end_lock(win, rank);
    win_let_others();
    return 0;
}

/* --- all at once --- */

int win_lock_all(struct win *win, int assertion)
{
    int rc = win_check_assert(assertion, MPI_MODE_NOCHECK);

    if (!rc)
        rc = check_begin(win, true, "MPI_Win_lock_all");
    if (rc)
        return rc;
    for (int rank = 0; rank < win->size && !(assertion & MPI_MODE_NOCHECK); rank++)
        take(win, rank, true, "MPI_Win_lock_all");
    win->is_unchecked = assertion & MPI_MODE_NOCHECK;
    win->epoch = WIN_EPOCH_LOCK_ALL;
    win->is_open = true;
    return 0;
}

int win_unlock_all(struct win *win)
{
    if (win->epoch != WIN_EPOCH_LOCK_ALL)
        return win_bad_epoch(win, "MPI_Win_unlock_all");
    win_complete_messages(win, -1, false, "MPI_Win_unlock_all");
    win->is_open = false;
    win->epoch = WIN_EPOCH_NONE;
    for (int rank = 0; rank < win->size && !win->is_unchecked; rank++)
        give(win, rank, true);
    win_let_others();
    return 0;
}

/* --- flush and sync --- */

/* Several threads may be here at once. */
int win_flush(struct win *win, int rank, bool is_local)
{
    const char *const call = is_local ? "MPI_Win_flush_local" : "MPI_Win_flush";
    const int rc = win_check_rank(win, rank);

    if (unlikely(rc))
        return rc;
    if (unlikely(win->epoch < WIN_EPOCH_LOCK || !(win->is_open || rank < 0 || win->target[rank].access)))
        return win_bad_epoch(win, call);
    if (rank >= 0)
        win_complete_messages(win, rank, is_local, call);
    win_order();
    win_let_others();
    return 0;
}

int win_flush_all(struct win *win, bool is_local)
{
    const char *const call = is_local ? "MPI_Win_flush_local_all" : "MPI_Win_flush_all";

    if (unlikely(win->epoch < WIN_EPOCH_LOCK))
        return win_bad_epoch(win, call);
    win_complete_messages(win, -1, is_local, call);
    win_order();
    win_let_others();
    return 0;
}

int win_sync(struct win *win)
{
    win_order();
    win_own_memory_written(win);
    win_let_others();
    return 0;
}
