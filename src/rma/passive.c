/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Passive target synchronization (MPI 5.0 §12.5.3, §12.5.4). The process of a target has
 * nothing to do with near ones who want its lock (int_turn.h); for far ones it does the same itself (far.c). */
#include <pthread.h>

#include "base/err.h"
#include "rma/int_turn.h"
#include "rma/int_rma.h"
#include "sys/clock.h"

enum { PATIENCE_NS = 5000000, PATIENCE_MAX_NS = 320000000 };

/* --- the lock of a target --- */

/* Whoever holds it now: that changes while we sleep, so no rank is named as the one that is waited for. */
struct lock_wait {
    struct win_wait wait;
    const _Atomic uint32_t *turn;
    int rank;
    uint32_t ticket;
    bool is_shared, is_guest;
    struct win_patience since;
    uint64_t until; /* not waited for longer; 0: as long as it takes */
};

static bool is_our_turn(const struct lock_wait *lock)
{
    /* acquire pairs with win_lock_leave: what the holders before have done is seen */
    return atomic_load_explicit(lock->turn, memory_order_acquire) == lock->ticket;
}

static bool is_our_turn_or_late(struct win_wait *wait)
{
    struct lock_wait *lock = (struct lock_wait *)(void *)wait;

    if (is_our_turn(lock))
        return true;
    if (lock->until)
        return clock_ns() >= lock->until;
    lock->is_guest = lock->is_shared && win_lock_join(wait->win, lock->rank, lock->ticket, &lock->since);
    return lock->is_guest;
}

/* True if it is had: only with `until` it may not be. */
static NOINLINE bool await_near(struct win *win, int rank, bool is_shared, uint32_t ticket, uint64_t until,
                                const char *call)
{
    struct win_member *member = win_member(win, rank);
    struct lock_wait lock = { { win, call, MPI_ANY_SOURCE, is_our_turn_or_late },
                              is_shared ? &member->reading : &member->writing, rank, ticket, is_shared, false,
                              win_patience(win, rank), until };

    win_wait_for(&lock.wait);
    if (lock.is_guest) {
        win->target[rank].has_left = true;
        win->target[rank].left = ticket;
        return true;
    }
    return win_lock_enter(win, rank, ticket, is_shared);
}

/* For the lock of a near target. */
static ALWAYS_INLINE uint32_t take_ticket(struct win *win, int rank)
{
    struct win_target *target = &win->target[rank];

    if (unlikely(target->has_left)) {
        target->has_left = false;
        if (win_ticket_again(win, rank, target->left))
            return target->left;
    }
    return win_lock_ticket(win, rank, win->rank);
}

static ALWAYS_INLINE void take_near(struct win *win, int rank, bool is_shared, const char *call)
{
    struct win_member *member = win_member(win, rank);
    const uint32_t ticket = take_ticket(win, rank);
    const _Atomic uint32_t *turn = is_shared ? &member->reading : &member->writing;

    if (unlikely(atomic_load_explicit(turn, memory_order_acquire) != ticket))
        await_near(win, rank, is_shared, ticket, 0, call);
    else if (is_shared)
        win_let_next_read(win, member, ticket);
}

/* Error: a process on another machine is lost. */
static int take(struct win *win, int rank, bool is_shared)
{
    int rc = 0;

    if (unlikely(win->target[rank].is_far))
        return win_far_lock(win, rank, is_shared, "MPI_Win_lock");
    if (unlikely(win_far_is_late()))
        rc = win_far_await_late("MPI_Win_lock");
    if (!rc)
        take_near(win, rank, is_shared, "MPI_Win_lock");
    return rc;
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

static void end_lock(struct win *win, int rank)
{
    guard(win);
    if (rank == MPI_PROC_NULL)
        win->null_locks--;
    if (--win->lock_count == 0)
        win->epoch = WIN_EPOCH_NONE;
    unguard(win);
}

int win_lock(struct win *win, int type, int rank, int assertion)
{
    const bool is_shared = type == MPI_LOCK_SHARED;
    int rc = begin_lock(win, type, rank, assertion);

    if (rc || rank == MPI_PROC_NULL)
        return rc;
    if (!(assertion & MPI_MODE_NOCHECK))
        rc = take(win, rank, is_shared);
    if (unlikely(rc)) {
        end_lock(win, rank);
        return rc;
    }
    win->target[rank].access = assertion & MPI_MODE_NOCHECK ? WIN_ACCESS_UNCHECKED
                               : is_shared                  ? WIN_ACCESS_SHARED
                                                            : WIN_ACCESS_EXCLUSIVE;
    if (rank == win->rank)
        win_own_memory_written(win);
    return 0;
}

/* A far target gives the lock to the next one when it has done what we wanted, whether or not we know that yet. Error:
 * that of win_message_flush. */
static int release(struct win *win, int rank)
{
    const uint8_t access = win->target[rank].access;
    const bool has_lock = access != WIN_ACCESS_UNCHECKED, is_far = win->target[rank].is_far;
    int rc;

    if (unlikely(is_far && has_lock))
        win_far_unlock(win, rank, access == WIN_ACCESS_SHARED, "MPI_Win_unlock");
    rc = win_complete_messages(win, rank, false, "MPI_Win_unlock");
    win->target[rank].access = WIN_ACCESS_NONE;
    if (likely(!is_far && has_lock))
        win_lock_leave(win, rank, access == WIN_ACCESS_SHARED);
    return rc;
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

int win_unlock(struct win *win, int rank)
{
    int rc = check_unlock(win, rank);

    if (rc)
        return rc;
    if (rank != MPI_PROC_NULL)
        rc = release(win, rank);
    end_lock(win, rank);
    win_let_others();
    return rc;
}

/* --- all at once --- */

static const char lock_all[] = "MPI_Win_lock_all";

/* What a MPI_Win_lock_all that has to wait holds. Whoever wants exclusive locks of several targets may wait for what it
 * has while it waits for what they have; so it waits only so long before it gives back all but its turn at the target
 * that it waits for. Then it has nothing that others wait for, and starts again with that one. */
struct all_locks {
    struct win *win;
    int next;             /* ranks below are had … */
    int kept;             /* … and this one; -1: none */
    uint64_t patience_ns;
};

/* Far ranks in [from, end) have been tried, near ones are had. */
static bool is_had(struct win *win, int rank)
{
    return !win->target[rank].is_far || win_far_has_lock(win, rank);
}

static void give_back(struct win *win, int rank)
{
    if (win->target[rank].is_far)
        win_far_unlock(win, rank, true, lock_all);
    else
        win_lock_leave(win, rank, true);
}

static void give_all_back(struct all_locks *all)
{
    for (int rank = 0; rank < all->next; rank++)
        if (rank != all->kept)
            give_back(all->win, rank);
    if (all->kept >= 0)
        give_back(all->win, all->kept);
    all->next = 0;
    all->kept = -1;
}

/* Those that can be had without waiting, up to the first one that cannot. Far ones are asked at once. Error: one is
 * lost, and none of these is had. */
static int try_some(struct all_locks *all)
{
    struct win *win = all->win;
    int stop = all->next, first = all->next, rc = 0;

    while (stop < win->size && (stop == all->kept || win->target[stop].is_far ||
                                win_lock_try_read(win, stop, win->rank)))
        stop++;
    for (int rank = first; rank < stop; rank++)
        if (rank != all->kept && win->target[rank].is_far)
            win_far_try_lock(win, rank, lock_all);
    if (win->has_far)
        rc = win_message_flush(win, -1, false, lock_all);
    while (!rc && first < stop && (first == all->kept || is_had(win, first)))
        first++;
    for (int rank = first; rank < stop; rank++)
        if (rank != all->kept && is_had(win, rank))
            give_back(win, rank);
    all->next = first;
    return rc;
}

/* It is had when we return, or, with `until`, perhaps not yet: then this is called again. */
static int await_one(struct win *win, int rank, uint32_t ticket, uint64_t until, bool *is_had_now)
{
    if (win->target[rank].is_far)
        return win_message_flush_until(win, rank, until, lock_all, is_had_now);
    *is_had_now = await_near(win, rank, true, ticket, until, lock_all);
    return 0;
}

static int wait_for_next(struct all_locks *all)
{
    struct win *win = all->win;
    const int rank = all->next;
    uint32_t ticket = 0;
    bool is_had_now;
    int rc;

    if (win->target[rank].is_far)
        win_far_ask_lock(win, rank);
    else
        ticket = take_ticket(win, rank);
    rc = await_one(win, rank, ticket, clock_ns() + all->patience_ns, &is_had_now);
    if (rc || is_had_now) {
        all->next += !rc;
        return rc;
    }
    all->patience_ns *= all->patience_ns < PATIENCE_MAX_NS ? 2 : 1;
    give_all_back(all);
    rc = await_one(win, rank, ticket, 0, &is_had_now);
    all->kept = rc ? -1 : rank;
    return rc;
}

/* Whoever waits for a target has only such with lower ranks, for a while, so those who lock in the order of ranks do
 * not wait for each other; and where nobody is in the way it takes one message to each far target and back. */
static int take_some(struct win *win, int from)
{
    struct all_locks all = { win, from, -1, PATIENCE_NS };
    int rc = 0;

    while (!rc) {
        rc = try_some(&all);
        if (rc || all.next == win->size)
            break;
        rc = wait_for_next(&all);
    }
    if (rc)
        give_all_back(&all);
    return rc;
}

static int take_all(struct win *win)
{
    int rank = 0, rc = unlikely(win_far_is_late()) ? win_far_await_late(lock_all) : 0;

    while (likely(!rc && !win->has_far) && rank < win->size && win_lock_try_read(win, rank, win->rank))
        rank++;
    return rc || rank == win->size ? rc : take_some(win, rank);
}

int win_lock_all(struct win *win, int assertion)
{
    int rc = win_check_assert(assertion, MPI_MODE_NOCHECK);

    if (!rc)
        rc = check_begin(win, true, "MPI_Win_lock_all");
    if (rc)
        return rc;
    if (!(assertion & MPI_MODE_NOCHECK))
        rc = take_all(win);
    if (rc)
        return rc;
    win->is_unchecked = assertion & MPI_MODE_NOCHECK;
    win->epoch = WIN_EPOCH_LOCK_ALL;
    win->is_open = true;
    return 0;
}

/* As release, for all. */
static int release_all(struct win *win)
{
    const bool has_locks = !win->is_unchecked, has_far = win->has_far;
    int rc;

    for (int rank = 0; rank < win->size && has_locks && has_far; rank++)
        if (win->target[rank].is_far)
            win_far_unlock(win, rank, true, "MPI_Win_unlock_all");
    rc = win_complete_messages(win, -1, false, "MPI_Win_unlock_all");
    for (int rank = 0; rank < win->size && has_locks; rank++)
        if (!has_far || !win->target[rank].is_far)
            win_lock_leave(win, rank, true);
    return rc;
}

int win_unlock_all(struct win *win)
{
    int rc;

    if (win->epoch != WIN_EPOCH_LOCK_ALL)
        return win_bad_epoch(win, "MPI_Win_unlock_all");
    rc = release_all(win);
    win->is_open = false;
    win->epoch = WIN_EPOCH_NONE;
    win_let_others();
    return rc;
}

/* --- flush and sync --- */

/* Several threads may be here at once. */
int win_flush(struct win *win, int rank, bool is_local)
{
    const char *const call = is_local ? "MPI_Win_flush_local" : "MPI_Win_flush";
    int rc = win_check_rank(win, rank);

    if (unlikely(rc))
        return rc;
    if (unlikely(win->epoch < WIN_EPOCH_LOCK))
        return win_bad_epoch(win, call);
    if (unlikely(!(win->is_open || rank < 0 || win->target[rank].access)))
        return err(MPI_ERR_RMA_SYNC, "E0801: rank %d is not locked by this process", rank);
    if (rank >= 0)
        rc = win_complete_messages(win, rank, is_local, call);
    win_order();
    win_let_others();
    return rc;
}

int win_flush_all(struct win *win, bool is_local)
{
    const char *const call = is_local ? "MPI_Win_flush_local_all" : "MPI_Win_flush_all";
    int rc;

    if (unlikely(win->epoch < WIN_EPOCH_LOCK))
        return win_bad_epoch(win, call);
    rc = win_complete_messages(win, -1, is_local, call);
    win_order();
    win_let_others();
    return rc;
}

int win_sync(struct win *win)
{
    win_order();
    win_own_memory_written(win);
    win_let_others();
    return 0;
}
