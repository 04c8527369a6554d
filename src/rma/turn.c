/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Locks: what is done when somebody waits (int_turn.h). Guests count in `writing` as if one of those who are
 * done were not, and that can only be while somebody is inside to read, since `writing` is behind `reading` only then:
 *
 *   tickets  0 1 2   3       4          done: 0, so `writing` is 1, and `reading` 3
 *            readers writer  reader     the last one goes in as a guest: `writing` is 0, and comes to 3 when 1, 2 and
 *                                       the guest are done
 *
 * When `reading` comes to a ticket that is left, its holder has read meanwhile or still does, so it is passed on as if
 * he had come and gone. Whoever brings `reading` there looks at the ticket afterwards, and whoever leaves it marks it
 * and looks at `reading` afterwards; the mark is taken away by the one of them who passes it on. */
#include "rma/int_turn.h"

#include "sys/clock.h"

enum { PATIENCE_NS = 5000000, MOST_GUESTS = 1000 };

static bool take_mark(_Atomic uint64_t *holder, uint64_t word)
{
    return word & TICKET_LEFT &&
           atomic_compare_exchange_strong_explicit(holder, &word, word & ~(uint64_t)TICKET_LEFT, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void win_turn_has_come(const struct win *win, struct win_member *member, uint32_t ticket)
{
    do {
        _Atomic uint64_t *const holder = &member->pair[ticket & win->pair_mask].holder;
        const uint64_t word = atomic_load_explicit(holder, memory_order_acquire);

        if (word >> 32 != ticket)
            return; /* who is about to sign it looks himself */
        if (!(word & TICKET_LEFT)) {
            win_wake(win, (int)(uint32_t)word);
            return;
        }
        if (atomic_load_explicit(&member->reading, memory_order_acquire) != ticket || !take_mark(holder, word))
            return;
        ticket++;
        atomic_store_explicit(&member->reading, ticket, memory_order_release);
        atomic_fetch_add_explicit(&member->writing, 1, memory_order_release);
        progress_fence();
    } while (atomic_load_explicit(&member->tickets, memory_order_relaxed) != ticket);
}

static bool may_join(struct win_member *member)
{
    const uint32_t reading = atomic_load_explicit(&member->reading, memory_order_relaxed);

    return (int32_t)(reading - atomic_load_explicit(&member->writing, memory_order_relaxed)) > 0;
}

/* Each guest since a writer was let in makes readers who come later more patient, so that writers get in at last. */
static bool is_late(struct win_member *member, const struct win_patience *wait)
{
    const uint32_t now = atomic_load_explicit(&member->guests, memory_order_relaxed);
    const uint64_t guests = 1 + (uint64_t)(now < wait->guests ? now : wait->guests);

    return clock_ns() - wait->since >= guests * guests * PATIENCE_NS;
}

/* Acquire: what writers have done who were in before. */
static bool is_let_in(struct win_member *member)
{
    const uint32_t reading = atomic_load_explicit(&member->reading, memory_order_acquire);
    uint32_t writing = atomic_load_explicit(&member->writing, memory_order_relaxed);

    while ((int32_t)(reading - writing) > 0)
        if (atomic_compare_exchange_weak_explicit(&member->writing, &writing, writing - 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

struct win_patience win_patience(const struct win *win, int rank)
{
    return (struct win_patience){ clock_ns(),
                                  atomic_load_explicit(&win_member(win, rank)->guests, memory_order_relaxed) };
}

bool win_lock_join(const struct win *win, int rank, uint32_t ticket, const struct win_patience *since)
{
    struct win_member *member = win_member(win, rank);
    _Atomic uint64_t *const holder = &member->pair[ticket & win->pair_mask].holder;

    /* The first barrier only shows that there is one. */
    if (!may_join(member) || !is_late(member, since) || !progress_barrier() || !is_let_in(member))
        return false;
    if (atomic_load_explicit(&member->guests, memory_order_relaxed) < MOST_GUESTS)
        atomic_fetch_add_explicit(&member->guests, 1, memory_order_relaxed);
    atomic_fetch_or_explicit(holder, TICKET_LEFT, memory_order_acq_rel);
    progress_barrier(); /* pairs with win_wake_ticket */
    if (atomic_load_explicit(&member->reading, memory_order_acquire) == ticket)
        win_turn_has_come(win, member, ticket);
    return true;
}

bool win_ticket_again(const struct win *win, int rank, uint32_t ticket)
{
    _Atomic uint64_t *const holder = &win_member(win, rank)->pair[ticket & win->pair_mask].holder;
    const uint64_t word = atomic_load_explicit(holder, memory_order_relaxed);

    return word >> 32 == ticket && take_mark(holder, word);
}
