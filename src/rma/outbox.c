/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. What goes out by messages, and waiting for its end. The first operation goes at once, with the question
 * whether it is done; those that follow it before the next poll or flush are put together. So one that is followed by
 * a flush is one message and its answer, many are few messages, and none waits while its process computes but behind
 * one that is on its way. What is done under a lock that has yet to be asked for goes with that.
 * Knows: int_message.h. Does not know: operations. */
#include <string.h>

#include "base/err.h"
#include "p2p/p2p.h"
#include "rma/int_message.h"
#include "sys/clock.h"

_Atomic uint32_t win_outbox_tick = 1;

static uint32_t tick(void)
{
    return atomic_load_explicit(&win_outbox_tick, memory_order_relaxed);
}

void win_unflushed(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    if (!peer->is_unflushed && !peer->is_lost) {
        peer->is_unflushed = true;
        win_pending(m->win, 1);
    }
}

/* --- sending --- */

/* A question goes: what `pending` has counted for what is unflushed it counts now for the answer. In advance: within
 * the process the answer comes during the call. */
static void ask(struct win_messages *m, struct win_peer *peer)
{
    peer->answers++;
    if (!peer->is_unflushed)
        win_pending(m->win, 1);
    peer->is_unflushed = peer->is_unheard = false;
}

static void ask_not(struct win_peer *peer)
{
    peer->answers--;
    peer->is_unflushed = true;
}

/* To a rank that is lost: what was to go is forgotten, and the next flush tells. */
static COLD int send_nowhere(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    peer->error = p2p_lost_rank(m->win->comm, rank);
    peer->lock_also = 0;
    if (peer->batch)
        peer->batch->len = 0;
    return 0;
}

int win_outbox_send(struct win_messages *m, int rank, uint32_t also)
{
    struct win_peer *peer = &m->peer[rank];
    const uint32_t lock = peer->lock_also;
    struct win_batch *batch = peer->batch;
    const size_t len = batch ? batch->len : 0;
    int rc;

    if (unlikely(peer->is_lost))
        return send_nowhere(m, rank);
    if (also & ALSO_ANSWER)
        ask(m, peer);
    peer->lock_also = 0;
    if (len)
        batch->len = 0;
    peer->burst = tick();
    rc = p2p_parcel_send(m->win->comm, rank, PARCEL_CALLS | also | lock, len ? batch->bytes : NULL, len, NULL, NULL);
    if (likely(!rc))
        return 0;
    peer->lock_also = lock;
    if (len)
        batch->len = len;
    if (also & ALSO_ANSWER)
        ask_not(peer);
    return rc;
}

static bool has_more(const struct win_peer *peer)
{
    return peer->batch && peer->batch->len;
}

void *win_outbox_room(struct win_messages *m, int rank, size_t size)
{
    struct win_peer *peer = &m->peer[rank];
    struct win_batch *batch = peer->batch;

    if (unlikely(!batch)) {
        batch = mem_alloc(sizeof *batch);
        if (!batch)
            return NULL;
        batch->len = 0;
        peer->batch = batch;
    }
    if (batch->len + size > sizeof batch->bytes && win_outbox_send(m, rank, 0))
        return NULL;
    batch->len += size;
    return batch->bytes + batch->len - size;
}

/* Is it of use to ask now whether all is done? One question at a time, and none in an epoch whose end tells the
 * target. */
static uint32_t question(const struct win_messages *m, const struct win_peer *peer)
{
    return peer->is_unflushed && !peer->answers && m->win->epoch != WIN_EPOCH_START ? ALSO_ANSWER : 0;
}

void win_outbox_added(struct win_messages *m, int rank, bool is_asked)
{
    struct win_peer *peer = &m->peer[rank];
    const bool waits = peer->lock_also || peer->burst == tick();

    if (!is_asked)
        win_unflushed(m, rank);
    if (waits && peer->batch->len < MESSAGE_ENOUGH)
        win_defer(m);
    else if (win_outbox_send(m, rank, waits ? 0 : question(m, peer)))
        win_defer(m);
}

int win_outbox_alone(struct win_messages *m, int rank, uint32_t word, void *bytes, size_t len, p2p_letter_gone *gone,
                     void *arg)
{
    struct win_peer *peer = &m->peer[rank];
    int rc = has_more(peer) || peer->lock_also ? win_outbox_send(m, rank, 0) : 0;

    if (rc)
        return rc;
    peer->burst = tick();
    word |= question(m, peer);
    if (word & ALSO_ANSWER)
        ask(m, peer);
    rc = p2p_parcel_send(m->win->comm, rank, word, bytes, len, gone, arg);
    if (unlikely(rc) && word & ALSO_ANSWER)
        ask_not(peer);
    return rc;
}

void win_outbox_retry(struct win_messages *m, int rank)
{
    if (has_more(&m->peer[rank]) && win_outbox_send(m, rank, 0)) /* perhaps by the helper: no look at the epoch */
        win_defer(m);
}

/* --- coming in --- */

void win_outbox_answered(struct win_messages *m, int rank, uint32_t word, int rc)
{
    struct win_peer *peer = &m->peer[rank];

    peer->answers--;
    peer->is_denied = word & ALSO_TRY;
    if (unlikely(rc))
        peer->error = rc;
    win_pending(m->win, -1);
    progress_notify();
}

void win_outbox_lost(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    peer->error = p2p_lost_rank(m->win->comm, rank);
    win_pending(m->win, -(int)peer->answers - peer->is_unflushed);
    peer->answers = 0;
    peer->is_unflushed = peer->is_unheard = false;
    peer->lock_also = 0;
    if (peer->batch)
        peer->batch->len = 0;
    win_forget_asked(peer, peer->error);
}

/* --- flush --- */

struct flush {
    struct win_wait wait; /* first */
    struct win_messages *m;
    int rank;             /* -1: all */
    bool is_local;
    uint64_t until;       /* not waited for longer; 0: as long as it takes */
    bool is_done;
};

/* What is to be waited for goes now, if there is memory for it. */
static void push(struct flush *f, int rank)
{
    struct win_peer *peer = &f->m->peer[rank];

    if (!f->is_local && peer->is_unflushed)
        win_outbox_send(f->m, rank, ALSO_ANSWER);
    else if (peer->reading && has_more(peer))
        win_outbox_send(f->m, rank, 0);
    peer->burst = tick() - 1; /* what comes next is the first */
}

static bool is_flushed_at(struct flush *f, int rank)
{
    const struct win_peer *peer = &f->m->peer[rank];

    push(f, rank);
    if (!peer->reading && !peer->sending && (f->is_local || (!peer->answers && !peer->is_unflushed)))
        return true;
    f->wait.peer = rank;
    return false;
}

static bool is_flushed(struct win_wait *wait)
{
    struct flush *f = (struct flush *)(void *)wait;
    const int first = f->rank < 0 ? 0 : f->rank, last = f->rank < 0 ? f->m->win->size - 1 : f->rank;

    attend_look();
    f->is_done = true;
    p2p_box_lock(f->m->win->comm);
    for (int rank = first; rank <= last; rank++)
        f->is_done &= is_flushed_at(f, rank);
    p2p_box_unlock(f->m->win->comm);
    return f->is_done || (f->until && clock_ns() >= f->until);
}

/* What targets have refused, once, or that they are lost. */
static int take_error(const struct flush *f)
{
    const int first = f->rank < 0 ? 0 : f->rank, last = f->rank < 0 ? f->m->win->size - 1 : f->rank;
    int rc = 0;

    p2p_box_lock(f->m->win->comm);
    for (int rank = first; rank <= last; rank++) {
        rc = rc ? rc : f->m->peer[rank].error;
        f->m->peer[rank].error = 0;
    }
    p2p_box_unlock(f->m->win->comm);
    return rc;
}

int win_message_flush(struct win *win, int rank, bool is_local, const char *call)
{
    struct flush f = { .wait = { win, call, MPI_ANY_SOURCE, is_flushed },
                       .m = win_messages_of(win), .rank = rank, .is_local = is_local };

    if (!is_flushed(&f.wait))
        win_wait_for_messages(&f.wait, rank);
    return take_error(&f);
}

int win_message_flush_until(struct win *win, int rank, uint64_t until, const char *call, bool *is_done)
{
    struct flush f = { .wait = { win, call, MPI_ANY_SOURCE, is_flushed },
                       .m = win_messages_of(win), .rank = rank, .until = until };

    if (!is_flushed(&f.wait))
        win_wait_for_messages(&f.wait, rank);
    *is_done = f.is_done;
    return f.is_done ? take_error(&f) : 0;
}
