/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Locks in shared memory that are held for some copies at most. Who finds one taken leaves a mark and waits
 * as for any news, so the holder gets the processor; who leaves one with a mark wakes all ranks that sleep.
 * Knows: the control part. Does not know: what is done under a lock. */
#include "rma/stripe.h"

#include "obj/comm.h"

enum { FREE, HELD, WANTED }; /* held, and others wait for it */

static bool take(_Atomic uint32_t *word, uint32_t as)
{
    uint32_t free = FREE;

    return atomic_compare_exchange_strong_explicit(word, &free, as, memory_order_acquire, memory_order_relaxed);
}

bool stripe_try(struct stripe stripe)
{
    return likely(take(stripe.word, HELD)) ||
           atomic_exchange_explicit(stripe.word, WANTED, memory_order_acquire) == FREE;
}

struct stripe_wait {
    struct win_wait wait; /* first */
    struct stripe stripe;
};

/* All who wait look again when it gets free, so a mark need not stay. */
static bool is_ours(struct win_wait *wait)
{
    const struct stripe_wait *w = (const struct stripe_wait *)(const void *)wait;

    return atomic_load_explicit(w->stripe.word, memory_order_relaxed) != WANTED && stripe_try(w->stripe);
}

void stripe_lock(struct stripe stripe, const char *call)
{
    struct stripe_wait w = { { stripe.win, call, MPI_ANY_SOURCE, is_ours }, stripe };

    if (unlikely(!take(stripe.word, HELD)))
        win_wait_for(&w.wait);
}

void stripe_unlock(struct stripe stripe)
{
    if (likely(atomic_exchange_explicit(stripe.word, FREE, memory_order_release) != WANTED))
        return;
    for (int rank = 0; rank < stripe.win->size; rank++)
        win_wake(stripe.win, rank);
    progress_notify();
}
