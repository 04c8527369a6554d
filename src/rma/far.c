/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Synchronizing with processes on other machines, both ends: what a near process stores in the control part
 * of the target, the target's library stores there when it is told by a parcel. So near and far ones wait in one
 * queue for a lock, and who waits for a post or the end of an epoch looks at the same words.
 * Knows: int_message.h, locks. Does not know: epochs, operations. */
#include "p2p/p2p.h"
#include "rma/int_turn.h"
#include "rma/int_message.h"
#include "rma/rma.h"

/* --- telling --- */

struct telling {
    struct win_wait wait; /* first */
    uint32_t word;
};

static bool is_told(struct win_wait *wait)
{
    const struct telling *t = (const struct telling *)(const void *)wait;
    struct win *win = (struct win *)(uintptr_t)wait->win;
    int rc;

    p2p_box_lock(win->comm);
    rc = t->word == PARCEL_POSTED ? p2p_parcel_send(win->comm, wait->peer, PARCEL_POSTED, NULL, 0, NULL, NULL)
                                  : win_outbox_send(win_messages_of(win), wait->peer, t->word);
    p2p_box_unlock(win->comm);
    return !rc;
}

/* Whatever happens: without memory it is tried until there is some. */
static void tell(const struct win *win, int rank, uint32_t word, const char *call)
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
    struct win_peer *peer = &win_messages_of(win)->peer[rank];

    tell(win, rank, ALSO_COMPLETE, call);
    p2p_box_lock(win->comm);
    if (peer->is_unflushed) { /* the target waits for all, before it goes on */
        peer->is_unflushed = false;
        win_pending(win, -1);
    }
    p2p_box_unlock(win->comm);
}

/* --- locks, at the origin --- */

/* The lock that has been wanted last, if it may not be had yet. Whoever wants another one waits for it first, so they
 * are taken in the order of the calls. There is none with several threads, which would wait for each other's. */
static struct {
    struct win *win;   /* NULL: none */
    int rank;
} late;

static _Atomic bool expects_threads;

void rma_expect_threads(void)
{
    atomic_store_explicit(&expects_threads, true, memory_order_relaxed);
}

bool win_far_is_late(void)
{
    return late.win;
}

static int settle(struct win *win, int rank, const char *call)
{
    p2p_box_lock(win->comm);
    win_unflushed(win_messages_of(win), rank);
    p2p_box_unlock(win->comm);
    return win_message_flush(win, rank, false, call);
}

int win_far_await_late(const char *call)
{
    struct win *win = late.win;

    late.win = NULL;
    return settle(win, late.rank, call);
}

static void want(struct win *win, int rank, uint32_t how)
{
    p2p_box_lock(win->comm);
    win_messages_of(win)->peer[rank].lock_also = ALSO_LOCK | how;
    p2p_box_unlock(win->comm);
}

static int take_lock(struct win *win, int rank, bool is_shared, const char *call)
{
    want(win, rank, is_shared ? ALSO_SHARED : 0);
    return settle(win, rank, call);
}

void win_far_ask_lock(struct win *win, int rank)
{
    want(win, rank, ALSO_SHARED);
    p2p_box_lock(win->comm);
    win_unflushed(win_messages_of(win), rank);
    p2p_box_unlock(win->comm);
}

int win_far_lock(struct win *win, int rank, bool is_shared, const char *call)
{
    int rc = p2p_lost_rank(win->comm, rank);

    if (!rc && late.win)
        rc = win_far_await_late(call);
    if (rc)
        return rc;
    if (progress.is_threaded && atomic_load_explicit(&expects_threads, memory_order_relaxed))
        return take_lock(win, rank, is_shared, call);
    want(win, rank, is_shared ? ALSO_SHARED : 0);
    late.win = win;
    late.rank = rank;
    return 0;
}

void win_far_try_lock(struct win *win, int rank, const char *call)
{
    want(win, rank, ALSO_SHARED | ALSO_TRY);
    tell(win, rank, ALSO_ANSWER, call);
}

bool win_far_has_lock(struct win *win, int rank)
{
    const struct win_peer *peer = &win_messages_of(win)->peer[rank];
    bool has;

    p2p_box_lock(win->comm);
    has = !peer->is_denied && !peer->is_lost;
    p2p_box_unlock(win->comm);
    return has;
}

void win_far_unlock(struct win *win, int rank, bool is_shared, const char *call)
{
    struct win_messages *m = win_messages_of(win);
    struct win_peer *peer = &m->peer[rank];
    const uint32_t also = ALSO_UNLOCK | (is_shared ? ALSO_SHARED : 0);
    bool is_asked_for, has_question;

    p2p_box_lock(win->comm);
    is_asked_for = !peer->lock_also || (peer->batch && peer->batch->len);
    has_question = peer->is_unflushed;
    peer->lock_also = is_asked_for ? peer->lock_also : 0; /* nothing was done, and nobody has been told */
    peer->is_unheard = is_asked_for && !peer->is_lost;
    p2p_box_unlock(win->comm);
    if (late.win == win && late.rank == rank)
        late.win = NULL;
    if (is_asked_for)
        tell(win, rank, has_question ? also | ALSO_ANSWER : also, call);
}

void win_far_settle(struct win *win)
{
    struct win_messages *m = win_messages_of(win);

    if (late.win == win)
        late.win = NULL;
    if (!m)
        return;
    p2p_box_lock(win->comm);
    for (int rank = 0; rank < win->size; rank++)
        if (m->peer[rank].is_unheard)
            win_unflushed(m, rank);
    p2p_box_unlock(win->comm);
}

/* --- at the target --- */

static uint32_t take_ticket(struct win_peer *peer, const struct win *win)
{
    const bool is_again = peer->has_left && win_ticket_again(win, win->rank, peer->left);

    peer->has_left = false;
    return is_again ? peer->left : win_lock_ticket(win, win->rank, win->rank);
}

/* After a while the far one goes in as a guest, if it may. */
static bool joins(struct win_peer *peer, const struct win_parcel_in *in)
{
    const struct win *win = peer->m->win;

    if (!(in->word & ALSO_SHARED) || !win_lock_join(win, win->rank, in->ticket, &in->since))
        return false;
    peer->has_left = true;
    peer->left = in->ticket;
    return true;
}

/* This process takes a ticket for the far one, and is woken for it. */
int win_serve_lock(struct win_messages *m, struct win_parcel_in *in)
{
    const struct win *win = m->win;

    if (in->word & ALSO_TRY) {
        m->peer[in->rank].has_denied = !win_lock_try_read(win, win->rank, win->rank);
        return 0;
    }
    if (in->turn == TURN_NONE) {
        in->ticket = take_ticket(&m->peer[in->rank], win);
        in->since = win_patience(win, win->rank);
    }
    in->turn = TURN_WAITS;
    if (!win_lock_enter(win, win->rank, in->ticket, in->word & ALSO_SHARED) && !joins(&m->peer[in->rank], in))
        return LATER;
    in->turn = TURN_NONE;
    return 0;
}

void win_serve_unlock(struct win_messages *m, uint32_t also)
{
    win_lock_leave(m->win, m->win->rank, also & ALSO_SHARED);
}

void win_serve_notice(struct win_messages *m, int rank, bool is_end)
{
    struct win_pair *pair = &win_member(m->win, m->win->rank)->pair[rank];

    atomic_fetch_add_explicit(is_end ? &pair->completed : &pair->posted, 1, memory_order_release);
    progress_notify();
}
