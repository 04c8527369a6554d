/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Synchronizing with processes on other machines, both ends: what a near process stores in the control part
 * of the target, the target's library stores there when it is told by a parcel. So near and far ones wait in one
 * queue for a lock, and who waits for a post or the end of an epoch looks at the same words.
 * Knows: int_message.h, locks. Does not know: epochs, operations. */
#include "rma/int_turn.h"
#include "rma/int_message.h"

static struct win_messages *messages_of(const struct win *win)
{
    return win->messages;
}

/* --- telling --- */

struct telling {
    struct win_wait wait; /* first */
    enum win_parcel word;
};

static bool is_told(struct win_wait *wait)
{
    const struct telling *t = (const struct telling *)(const void *)wait;

    return !p2p_parcel_send(wait->win->comm, wait->peer, t->word, NULL, 0, NULL, NULL);
}

/* Whatever happens: without memory it is tried until there is some. */
static void tell(const struct win *win, int rank, enum win_parcel word, const char *call)
{
    struct telling t = { { win, call, rank, is_told }, word };

    if (unlikely(!is_told(&t.wait)))
        win_wait_for_messages(&t.wait, -1);
}

void win_far_posted(struct win *win, int rank, const char *call)
{
    tell(win, rank, PARCEL_POSTED, call);
}

void win_far_completed(struct win *win, int rank, const char *call)
{
    struct win_peer *peer = &messages_of(win)->peer[rank];

    tell(win, rank, PARCEL_COMPLETED, call);
    p2p_box_lock(win->comm);
    if (peer->is_unflushed) { /* the target waits for all, before it goes on */
        peer->is_unflushed = false;
        atomic_fetch_sub_explicit(&win->pending, 1, memory_order_release);
    }
    p2p_box_unlock(win->comm);
}

/* --- locks, at the origin --- */

void win_far_lock(struct win *win, int rank, bool is_shared, const char *call)
{
    p2p_box_lock(win->comm);
    messages_of(win)->peer[rank].is_locking = true;
    p2p_box_unlock(win->comm);
    tell(win, rank, is_shared ? PARCEL_LOCK_SHARED : PARCEL_LOCK, call);
}

struct lock_wait {
    struct win_wait wait; /* first */
    int next, end;
};

static bool have_locks(struct win_wait *wait)
{
    struct lock_wait *w = (struct lock_wait *)(void *)wait;
    const struct win_messages *m = messages_of(wait->win);

    p2p_box_lock(wait->win->comm);
    while (w->next < w->end && !m->peer[w->next].is_locking)
        w->next++;
    p2p_box_unlock(wait->win->comm);
    return w->next == w->end;
}

/* Whoever has it now is not known here. */
void win_far_await_lock(struct win *win, int rank, const char *call)
{
    struct lock_wait w = { { win, call, MPI_ANY_SOURCE, have_locks },
                           rank < 0 ? 0 : rank, rank < 0 ? win->size : rank + 1 };

    if (!have_locks(&w.wait))
        win_wait_for_messages(&w.wait, rank);
}

void win_far_unlock(struct win *win, int rank, bool is_shared, const char *call)
{
    tell(win, rank, is_shared ? PARCEL_UNLOCK_SHARED : PARCEL_UNLOCK, call);
    p2p_box_lock(win->comm);
    messages_of(win)->peer[rank].is_unheard = true;
    p2p_box_unlock(win->comm);
}

void win_far_settle(struct win *win)
{
    struct win_messages *m = messages_of(win);

    if (!m)
        return;
    p2p_box_lock(win->comm);
    for (int rank = 0; rank < win->size; rank++)
        if (m->peer[rank].is_unheard)
            win_unflushed(m, rank);
    p2p_box_unlock(win->comm);
}

/* --- at the target --- */

/* This process takes a ticket for the far one, and is woken for it. */
int win_serve_lock(struct win_messages *m, struct win_parcel_in *in)
{
    const struct win *win = m->win;

    if (in->turn == TURN_NONE) {
        in->ticket = win_lock_ticket(win, win->rank, win->rank);
        in->turn = TURN_WAITS;
    }
    if (in->turn == TURN_WAITS && win_lock_enter(win, win->rank, in->ticket, in->word == PARCEL_LOCK_SHARED))
        in->turn = TURN_HAS_COME;
    if (in->turn == TURN_WAITS || p2p_parcel_send(win->comm, in->rank, PARCEL_GRANTED, NULL, 0, NULL, NULL))
        return LATER;
    return 0;
}

void win_serve_unlock(struct win_messages *m, const struct win_parcel_in *in)
{
    win_lock_leave(m->win, m->win->rank, in->word == PARCEL_UNLOCK_SHARED);
}

void win_serve_notice(struct win_messages *m, const struct win_parcel_in *in)
{
    struct win_pair *pair = &win_member(m->win, m->win->rank)->pair[in->rank];

    if (in->word == PARCEL_GRANTED)
        m->peer[in->rank].is_locking = false;
    else
        atomic_fetch_add_explicit(in->word == PARCEL_POSTED ? &pair->posted : &pair->completed, 1,
                                  memory_order_release);
    progress_notify();
}
