/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. A lock between the threads of one process, for short sections that one thread enters far more often than
 * any other. Recursive, not fair.
 *
 * A thread that has taken the lock many times in a row becomes its favourite: from then on it enters by counting its
 * own visits (odd: inside), plain stores instead of two locked instructions, which here cost 4 to 12 ns each and
 * wait for all stores before them. Any other thread that wants the lock ends that first, with a barrier over the
 * threads of the process (membarrier), and each time makes the next favour harder to come by. A thread keeps the slot
 * of its counter for good, so that a late step of a former favourite disturbs nobody.
 *
 * Without a favourite: one word with the holder's bit and the number of sleepers; no order, no handing over. A thread
 * that was the last to hold the lock takes it whenever it is free. Another one waits for a moment first, up to some
 * microseconds while that one keeps coming back: all that the lock guards moves between two caches with every change,
 * which takes longer than the section itself. Who finds it held for long sleeps. A release wakes at most one, and
 * nobody while one that was woken has not got to run yet. lock_try is for passers-by, whose work the one inside does as
 * well: they leave the lock to a thread that keeps coming back, or that waits to take it, but not for ever. */
#ifndef SYS_LOCK_H
#define SYS_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

enum { LOCK_NOBODY = 1, LOCK_SLOTS = 8 };

struct lock {
    _Atomic uint32_t word ALIGNED(CACHE_LINE);   /* held, woken, sleepers: see lock.c */
    _Atomic uint32_t tokens;       /* futex word: wake-ups not taken yet */
    _Atomic uint32_t favourite;    /* number of a thread, or LOCK_NOBODY */
    uint32_t polls;                /* how often to look at a held lock before sleeping */
    _Atomic uint32_t *entered;     /* [holder] visits of the favourite; NULL: held by the word */
    _Atomic uint32_t last, turns;  /* [holder] who took it last by the word; how often that was done by all */
    uint32_t row;                  /* [holder] how often the last one took it in a row */
    uint32_t row_wanted;           /* [holder] to become the favourite; 0: never */
    _Atomic uint32_t seen, passes; /* visits or turns as passers-by last saw them, and how many saw no change */
    _Atomic uint32_t refused;      /* passers-by since one of them got in */
    _Atomic uint32_t holder;       /* number of the thread that is inside by the word, or LOCK_NOBODY */
    _Atomic uint32_t takers;       /* threads that look at it to take it; passers-by leave it to them */
    uint32_t depth;                /* [holder] how often it has come in again without having left */
    _Atomic uint32_t owners[LOCK_SLOTS]; /* [holder] thread that has a slot of `visits`; 0: nobody yet */
    _Atomic uint32_t visits[LOCK_SLOTS] ALIGNED(CACHE_LINE); /* [owner] */
};

/* This thread's number, not given out again; 0: it has none yet. */
extern _Thread_local uint32_t lock_self;

/* has_cores: a holder runs, most likely, while others wait. */
void lock_init(struct lock *lock, bool has_cores);

/* The slow halves of what follows. */
void lock_take_slow(struct lock *lock) COLD;
bool lock_try_slow(struct lock *lock) COLD;
void lock_release_slow(struct lock *lock) COLD;

/* True: entered as the favourite. False: it is another, or this thread is inside already. */
static ALWAYS_INLINE bool lock_enter(struct lock *lock)
{
    const uint32_t self = lock_self;
    _Atomic uint32_t *visits = &lock->visits[self % LOCK_SLOTS];
    const uint32_t before = atomic_load_explicit(visits, memory_order_relaxed);

    if (unlikely(atomic_load_explicit(&lock->favourite, memory_order_relaxed) != self || before & 1))
        return false;
    atomic_store_explicit(visits, before + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the barrier of who ends the favour does the rest */
    if (likely(atomic_load_explicit(&lock->favourite, memory_order_acquire) == self))
        return true;
    atomic_store_explicit(visits, before + 2, memory_order_release);
    return false;
}

/* May sleep while another thread holds it. */
static ALWAYS_INLINE void lock_take(struct lock *lock)
{
    if (unlikely(!lock_enter(lock)))
        lock_take_slow(lock);
}

/* True: taken. False: another thread holds it or, as its favourite, has been there not long ago; who keeps trying gets
 * it in the end. */
static ALWAYS_INLINE bool lock_try(struct lock *lock)
{
    return likely(lock_enter(lock)) || lock_try_slow(lock);
}

/* As often as it was taken. */
static ALWAYS_INLINE void lock_release(struct lock *lock)
{
    _Atomic uint32_t *visits = lock->entered;

    if (unlikely(lock->depth)) {
        lock->depth--;
        return;
    }
    if (likely(visits)) /* release pairs with end_favour */
        atomic_store_explicit(visits, atomic_load_explicit(visits, memory_order_relaxed) + 1, memory_order_release);
    else
        lock_release_slow(lock);
}

#endif
