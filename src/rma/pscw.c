/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. General active target synchronization (MPI 5.0 §12.5.2): counts in the control memory. MPI_Win_post adds
 * one in the part of each origin, for which MPI_Win_start waits; MPI_Win_complete adds one in the part of each target,
 * for which MPI_Win_wait waits. Far ones are told to do that themselves, and so are targets of operations by messages,
 * since what comes behind those needs no answer to them. Assertions would save nothing. */
#include "base/err.h"
#include "comm/comm.h"
#include "p2p/p2p.h"
#include "rma/int_rma.h"

/* The members of `group` as ranks of the window. */
static int translate(const struct win *win, const struct group *group, int *ranks)
{
    for (int i = 0; i < group->size; i++) {
        const int proc = group_proc(group, i),
                  rank = i < win->size ? comm_rank_of(win->comm, proc) : -1;

        if (rank < 0)
            return err(MPI_ERR_GROUP, "rank %d of the group is process %d, which has no part in the window",
                       i, proc);
        ranks[i] = rank;
    }
    return 0;
}

struct pair_wait {
    struct win_wait wait;
    int next, count;
    const int *ranks;
    const uint32_t *seen; /* by rank: what has been used up */
    bool is_start;
    int error;            /* one of them is lost */
};

static bool is_lost(struct pair_wait *w, int rank)
{
    const struct win *win = w->wait.win;
    const int rc = unlikely(win->target[rank].is_far) ? p2p_lost_rank(win->comm, rank) : 0;

    w->error = rc ? rc : w->error;
    return rc;
}

static bool have_all_come(struct win_wait *wait)
{
    struct pair_wait *w = (struct pair_wait *)(void *)wait;
    const struct win_member *own = win_member(wait->win, wait->win->rank);

    for (; w->next < w->count; w->next++) {
        const int rank = w->ranks[w->next];
        const struct win_pair *pair = &own->pair[rank];

        wait->peer = rank;
        /* acquire pairs with tell */
        if (atomic_load_explicit(w->is_start ? &pair->posted : &pair->completed, memory_order_acquire) ==
                w->seen[rank] &&
            !is_lost(w, rank))
            return false;
    }
    return true;
}

static void await(struct pair_wait *w)
{
    if (unlikely(w->wait.win->has_far))
        win_wait_for_messages(&w->wait, -1);
    else
        win_wait_for(&w->wait);
}

static void use_up(const struct pair_wait *w, uint32_t *seen)
{
    for (int i = 0; i < w->count; i++)
        seen[w->ranks[i]]++;
}

static bool is_by_messages(const struct win *win, int rank, bool is_post)
{
    const struct win_target *target = &win->target[rank];

    return is_post ? target->is_far : atomic_load_explicit(&target->way, memory_order_relaxed) == WIN_WAY_MESSAGES;
}

/* Each of `ranks` sees that we have posted, or completed. */
static void tell(struct win *win, int count, const int *ranks, bool is_post)
{
    for (int i = 0; i < count; i++) {
        struct win_pair *pair = &win_member(win, ranks[i])->pair[win->rank];

        if (!is_by_messages(win, ranks[i], is_post))
            atomic_fetch_add_explicit(is_post ? &pair->posted : &pair->completed, 1, memory_order_release);
        else if (is_post)
            win_far_posted(win, ranks[i], "MPI_Win_post");
        else
            win_far_completed(win, ranks[i], "MPI_Win_complete");
    }
    for (int i = 0; i < count; i++)
        win_wake(win, ranks[i]);
}

static void set_access(struct win *win, enum win_access access)
{
    for (int i = 0; i < win->start_count; i++)
        win->target[win->start_ranks[i]].access = (uint8_t)access;
}

int win_start(struct win *win, struct group *group, int assertion)
{
    struct pair_wait w = {
        { win, "MPI_Win_start", 0, have_all_come }, 0, group->size, win->start_ranks, win->taken, true, 0
    };
    int rc = win_check_assert(assertion, MPI_MODE_NOCHECK);

    if (!rc && (win->start_count >= 0 || win->epoch > WIN_EPOCH_FENCE))
        rc = win_bad_epoch(win, "MPI_Win_start");
    if (!rc)
        rc = translate(win, group, win->start_ranks);
    if (rc)
        return rc;
    await(&w);
    if (unlikely(w.error))
        return w.error;
    use_up(&w, win->taken);
    win->is_open = false;
    win->epoch = WIN_EPOCH_START;
    win->start_count = group->size;
    set_access(win, WIN_ACCESS_STARTED);
    return 0;
}

int win_complete(struct win *win)
{
    const bool is_local = win->create_flavor != MPI_WIN_FLAVOR_DYNAMIC; /* else targets may have refused something */
    int rc;

    if (win->start_count < 0)
        return win_bad_epoch(win, "MPI_Win_complete");
    rc = win_complete_messages(win, -1, is_local, "MPI_Win_complete");
    set_access(win, WIN_ACCESS_NONE);
    tell(win, win->start_count, win->start_ranks, false);
    win->start_count = -1;
    win->epoch = WIN_EPOCH_NONE;
    return rc;
}

int win_post(struct win *win, struct group *group, int assertion)
{
    int rc = win_check_assert(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);

    if (!rc && win->post_count >= 0)
        rc = win_bad_epoch(win, "MPI_Win_post");
    if (!rc)
        rc = translate(win, group, win->post_ranks);
    if (rc)
        return rc;
    win->post_count = group->size;
    tell(win, group->size, win->post_ranks, true);
    return 0;
}

static struct pair_wait wait_for_completes(const struct win *win)
{
    return (struct pair_wait){
        { win, "MPI_Win_wait", 0, have_all_come }, 0, win->post_count, win->post_ranks, win->waited, false, 0
    };
}

static void end_exposure(struct win *win, const struct pair_wait *w)
{
    use_up(w, win->waited);
    win->post_count = -1;
    win_order();
    win_own_memory_written(win);
}

int win_wait(struct win *win)
{
    struct pair_wait w = wait_for_completes(win);

    if (win->post_count < 0)
        return win_bad_epoch(win, "MPI_Win_wait");
    await(&w);
    end_exposure(win, &w);
    return w.error;
}

int win_test(struct win *win, int *flag)
{
    struct pair_wait w = wait_for_completes(win);

    if (win->post_count < 0)
        return win_bad_epoch(win, "MPI_Win_test");
    *flag = have_all_come(&w.wait);
    if (!*flag) {
        progress_poll();
        *flag = have_all_come(&w.wait);
    }
    if (*flag)
        end_exposure(win, &w);
    else
        progress_in_vain();
    return w.error;
}
