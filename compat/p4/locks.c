/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. p4_lock_t: a binary semaphore on one word in shared memory. Knows futexes; not who shares the word.
 *
 *   0 open   1 closed   2 closed, and somebody may sleep
 *
 * Any process may open it. Nobody owns it, so nothing tells of a holder that has died. */
#include "p4/locks.h"

#include "base/base.h"
#include "sys/wake.h"

enum {
    OPEN,
    CLOSED,
    CONTENDED,
    LOOKS = 100,                    /* about 4 us; a sleep and its end cost twice that */
    SLEEP_NS = 1000000000,          /* the word is looked at again by then, whatever happens to wake-ups */
};

static _Atomic uint32_t *word_of(p4_lock_t *lock)
{
    return (_Atomic uint32_t *)(void *)&lock->word;
}

void p4_lock_init(p4_lock_t *lock)
{
    atomic_store_explicit(word_of(lock), OPEN, memory_order_release);
}

/* Closes it if it is open (acquire: sees what was stored before it was opened). */
static int try_close(_Atomic uint32_t *word)
{
    uint32_t expected = OPEN;

    return atomic_compare_exchange_strong_explicit(word, &expected, CLOSED, memory_order_acquire,
                                                   memory_order_relaxed);
}

static NOINLINE void lock_slow(_Atomic uint32_t *word)
{
    for (int looks = 0; looks < LOOKS; looks++) {
        if (atomic_load_explicit(word, memory_order_relaxed) == OPEN && try_close(word))
            return;
        cpu_relax();
    }
    while (atomic_exchange_explicit(word, CONTENDED, memory_order_acquire) != OPEN)
        wake_sleep(word, CONTENDED, SLEEP_NS);
}

void p4_lock(p4_lock_t *lock)
{
    if (!try_close(word_of(lock)))
        lock_slow(word_of(lock));
}

void p4_unlock(p4_lock_t *lock)
{
    _Atomic uint32_t *word = word_of(lock);

    if (atomic_exchange_explicit(word, OPEN, memory_order_release) == CONTENDED)
        wake_one(word);
}

void locks_wait_change(_Atomic uint32_t *word, uint32_t value)
{
    for (int looks = 0; looks < LOOKS; looks++) {
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
        cpu_relax();
    }
    while (atomic_load_explicit(word, memory_order_acquire) == value)
        wake_sleep(word, value, SLEEP_NS);
}
