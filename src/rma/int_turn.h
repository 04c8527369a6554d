/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma, private. The lock of a near target (§12.5.3): three counts in its part of the control memory. Who wants it
 * takes the next ticket:
 *
 *   to read    when all before are readers inside or are done: `reading` has come to the ticket; then it moves on
 *   to write   when all before are done: `writing` has come to the ticket
 *
 * Who is done moves `writing` on, a writer `reading` as well. So the lock is fair, and who waits is woken by the one
 * whose step lets him in: beside each ticket stands its rank. All of it may be done in a handler of messages.
 *
 * A reader behind a writer who waits for other readers must not wait as long as those please: what they wait for may
 * be something that he has. So after a while he goes in as their *guest* (turn.c): he moves `writing` back, and on
 * when he is done, as they do. His ticket stays where it is, with a mark; whoever comes to it passes it on. Or he takes
 * it up again when he wants the lock the next time, so each has one at most. */
#ifndef RMA_INT_TURN_H
#define RMA_INT_TURN_H

#include "rma/window.h"

/* What stands beside a ticket: who has it. */
enum { TICKET_LEFT = 1 << 30 }; /* who had it is or was in as a guest */
static inline uint64_t win_ticket_word(uint32_t ticket, uint32_t holder)
{
    return (uint64_t)ticket << 32 | holder;
}

/* --- turn.c --- */

/* This ticket is out: who has it may look again, or it is passed on. */
void win_turn_has_come(const struct win *win, struct win_member *member, uint32_t ticket);

/* For who begins to wait. */
struct win_patience win_patience(const struct win *win, int rank);

/* True if the reader who waits since then is in now as a guest. Then `ticket` is left. */
bool win_lock_join(const struct win *win, int rank, uint32_t ticket, const struct win_patience *since);

/* One that was left: true if it is ours again; it has not been passed on. */
bool win_ticket_again(const struct win *win, int rank, uint32_t ticket) COLD;

/* --- the short way --- */

/* Whoever has this one may look again, if it is out. */
static ALWAYS_INLINE void win_wake_ticket(const struct win *win, struct win_member *member, uint32_t ticket)
{
    progress_fence();
    if (unlikely(atomic_load_explicit(&member->tickets, memory_order_relaxed) != ticket))
        win_turn_has_come(win, member, ticket);
}

static ALWAYS_INLINE void win_ticket_sign(const struct win *win, struct win_member *member, uint32_t ticket, int waiter)
{
    atomic_store_explicit(&member->pair[ticket & win->pair_mask].holder, win_ticket_word(ticket, (uint32_t)waiter),
                          memory_order_relaxed);
}

/* The next ticket; `waiter` is woken when it has its turn. */
static ALWAYS_INLINE uint32_t win_lock_ticket(const struct win *win, int rank, int waiter)
{
    struct win_member *member = win_member(win, rank);
    const uint32_t ticket = atomic_fetch_add_explicit(&member->tickets, 1, memory_order_relaxed);

    win_ticket_sign(win, member, ticket, waiter);
    return ticket;
}

/* Readers let the next one look whether he is one, too. */
static ALWAYS_INLINE void win_let_next_read(const struct win *win, struct win_member *member, uint32_t ticket)
{
    atomic_store_explicit(&member->reading, ticket + 1, memory_order_release); /* ours to change */
    win_wake_ticket(win, member, ticket + 1);
}

/* False: its turn has not come. */
static inline bool win_lock_enter(const struct win *win, int rank, uint32_t ticket, bool is_shared)
{
    struct win_member *member = win_member(win, rank);

    if (atomic_load_explicit(is_shared ? &member->reading : &member->writing, memory_order_acquire) != ticket)
        return false;
    if (is_shared)
        win_let_next_read(win, member, ticket);
    else
        atomic_store_explicit(&member->guests, 0, memory_order_relaxed);
    return true;
}

/* For reading, if its turn is now: nobody is asked to wait for it. False: it is not, or others came in between. */
static inline bool win_lock_try_read(const struct win *win, int rank, int waiter)
{
    struct win_member *member = win_member(win, rank);
    uint32_t ticket = atomic_load_explicit(&member->reading, memory_order_acquire);

    if (!atomic_compare_exchange_strong_explicit(&member->tickets, &ticket, ticket + 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return false;
    win_ticket_sign(win, member, ticket, waiter);
    win_let_next_read(win, member, ticket);
    return true;
}

static ALWAYS_INLINE void win_lock_leave(const struct win *win, int rank, bool is_shared)
{
    struct win_member *member = win_member(win, rank);

    /* release pairs with those who look whether it is their turn */
    if (!is_shared)
        atomic_fetch_add_explicit(&member->reading, 1, memory_order_release);
    win_wake_ticket(win, member, atomic_fetch_add_explicit(&member->writing, 1, memory_order_release) + 1);
}

#endif
