/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The lock without a favourite, and how one comes and goes. Knows: wake (futex, barrier). */
#include "sys/lock.h"

#include <sched.h>

#include "sys/wake.h"

/* Of the word; sleepers are counted in steps of SLEEPER. */
enum { HELD = 1, WOKEN = 2, SLEEPER = 4 };

enum {
    POLLS = 10,                /* of a lock that another thread holds or keeps coming back to: about 20 us … */
    PAUSE = 100,               /* … with this many cpu_relax between two … */
    PAUSE_FIRST = 16,          /* … but this many at first, longer than the way from one section to the next: the one */
    PAUSES_FIRST = 3,          /* inside comes out, a passer-by does not come again, who had it last does or does not */
    ROW_FIRST = 64,            /* takes in a row that make the first favourite */
    ROW_GROWS = 4,             /* times as many for each favour that had to be ended … */
    ROW_MOST = 4096,           /* … up to so much work that ending one is little beside it */
    PASSES = 16,               /* passers-by that must see the favourite idle */
    REFUSALS = 4096,           /* of passers-by in a row, and the next one is let in: a favourite may stay for ever */
};

#define SLEEP_NS UINT64_C(1000000000)

_Thread_local uint32_t lock_self;

static uint32_t self(void)
{
    static _Atomic uint32_t last = LOCK_NOBODY;

    if (unlikely(!lock_self))
        lock_self = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return lock_self;
}

void lock_init(struct lock *lock, bool has_cores)
{
    *lock = (struct lock){ .favourite = LOCK_NOBODY, .holder = LOCK_NOBODY, .polls = has_cores ? POLLS : 1 };
    if (wake_barrier_own_init())
        lock->row_wanted = ROW_FIRST;
}

/* --- by the word --- */

/* Wait for a token: who was counted as a sleeper gets one. */
static void sleep_for_token(struct lock *lock)
{
    uint32_t tokens = atomic_load_explicit(&lock->tokens, memory_order_relaxed);

    for (;;) {
        if (!tokens) {
            wake_sleep(&lock->tokens, 0, SLEEP_NS);
            tokens = atomic_load_explicit(&lock->tokens, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&lock->tokens, &tokens, tokens - 1, memory_order_relaxed,
                                                         memory_order_relaxed)) {
            return;
        }
    }
}

/* Between two looks, which take the line away from the holder. The first ones are short, for a holder that has left. */
static void pause_for(uint32_t polls)
{
    for (int i = polls >= PAUSES_FIRST ? PAUSE : PAUSE_FIRST; i > 0; i--)
        cpu_relax();
}

/* Is the lock better left to the thread that had it last? Until that one was not there between two looks. */
static bool is_anothers(const struct lock *lock, uint32_t *turns)
{
    const uint32_t last = atomic_load_explicit(&lock->last, memory_order_relaxed), before = *turns;

    *turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
    return last && last != lock_self && *turns != before;
}

static void word_take(struct lock *lock)
{
    uint32_t was = atomic_load_explicit(&lock->word, memory_order_relaxed), woken = 0, polls = 0;
    uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed) - 1;
    bool is_told = false;

    for (;;) {
        if (!(was & HELD) && (polls >= lock->polls || !is_anothers(lock, &turns))) {
            if (atomic_compare_exchange_weak_explicit(&lock->word, &was, (was | HELD) & ~woken, memory_order_acquire,
                                                      memory_order_relaxed)) /* acquire pairs with word_release */
                break;
        } else if (polls < lock->polls) {
            if (!is_told)
                atomic_fetch_add_explicit(&lock->takers, 1, memory_order_relaxed);
            is_told = true;
            pause_for(polls++);
            was = atomic_load_explicit(&lock->word, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&lock->word, &was, (was + SLEEPER) & ~woken,
                                                         memory_order_relaxed, memory_order_relaxed)) {
            sleep_for_token(lock);
            woken = WOKEN;
            polls = 0;
            was = atomic_load_explicit(&lock->word, memory_order_relaxed);
        }
    }
    if (is_told)
        atomic_fetch_sub_explicit(&lock->takers, 1, memory_order_relaxed);
}

static void word_release(struct lock *lock)
{
    /* release pairs with word_take and lock_try_slow */
    uint32_t now = atomic_fetch_sub_explicit(&lock->word, HELD, memory_order_release) - HELD;

    while (now >= SLEEPER && !(now & (HELD | WOKEN))) {
        if (!atomic_compare_exchange_weak_explicit(&lock->word, &now, (now - SLEEPER) | WOKEN, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        atomic_fetch_add_explicit(&lock->tokens, 1, memory_order_relaxed);
        wake_one(&lock->tokens);
        return;
    }
}

static void set_holder(struct lock *lock, uint32_t holder)
{
    atomic_store_explicit(&lock->holder, holder, memory_order_relaxed);
}

/* True: this thread is inside already, and now once more. What is compared with its own number, and its own visits,
 * are stored by this thread only; 0 is nobody's number. */
static bool lock_again(struct lock *lock)
{
    const uint32_t thread = lock_self, slot = thread % LOCK_SLOTS;
    const bool is_favoured = atomic_load_explicit(&lock->owners[slot], memory_order_relaxed) == thread &&
                             atomic_load_explicit(&lock->visits[slot], memory_order_relaxed) & 1;

    if (!thread || (!is_favoured && atomic_load_explicit(&lock->holder, memory_order_relaxed) != thread))
        return false;
    lock->depth++;
    return true;
}

/* --- favour; all with the word --- */

/* The favourite may be inside; it comes out without waiting for anything. */
static void end_favour(struct lock *lock, uint32_t favourite)
{
    const _Atomic uint32_t *visits = &lock->visits[favourite % LOCK_SLOTS];
    uint32_t polls = 0;

    atomic_store_explicit(&lock->favourite, LOCK_NOBODY, memory_order_relaxed);
    wake_barrier_own(); /* either it sees that, or its visit is seen here */
    while (atomic_load_explicit(visits, memory_order_acquire) & 1) { /* pairs with lock_release */
        if (polls++ < lock->polls)
            cpu_relax();
        else
            sched_yield();
    }
    lock->entered = NULL;
    lock->row_wanted = lock->row_wanted < ROW_MOST ? lock->row_wanted * ROW_GROWS : ROW_MOST;
}

/* Become the favourite, inside, unless another thread has this one's slot or somebody waits. */
static void begin_favour(struct lock *lock, uint32_t thread)
{
    const uint32_t slot = thread % LOCK_SLOTS;
    _Atomic uint32_t *visits = &lock->visits[slot];
    const uint32_t owner = atomic_load_explicit(&lock->owners[slot], memory_order_relaxed);

    lock->row = 0;
    if ((owner && owner != thread) || atomic_load_explicit(&lock->word, memory_order_relaxed) != HELD)
        return;
    set_holder(lock, LOCK_NOBODY);
    atomic_store_explicit(&lock->owners[slot], thread, memory_order_relaxed);
    lock->entered = visits;
    atomic_store_explicit(visits, atomic_load_explicit(visits, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&lock->favourite, thread, memory_order_relaxed);
    word_release(lock);
}

/* The word has been taken. */
static void settle(struct lock *lock)
{
    const uint32_t thread = self(), favourite = atomic_load_explicit(&lock->favourite, memory_order_relaxed);

    set_holder(lock, thread);
    if (favourite != LOCK_NOBODY)
        end_favour(lock, favourite);
    lock->row = atomic_load_explicit(&lock->last, memory_order_relaxed) == thread ? lock->row + 1 : 0;
    atomic_store_explicit(&lock->last, thread, memory_order_relaxed);
    atomic_store_explicit(&lock->turns, atomic_load_explicit(&lock->turns, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (lock->row_wanted && lock->row >= lock->row_wanted)
        begin_favour(lock, thread);
}

/* For passers-by: has the thread that has the lock to itself, or had it last, been inside since one of them looked? */
static bool is_active(struct lock *lock, uint32_t favourite)
{
    const bool is_favoured = favourite != LOCK_NOBODY;
    const _Atomic uint32_t *count = is_favoured ? &lock->visits[favourite % LOCK_SLOTS] : &lock->turns;
    const uint32_t now = atomic_load_explicit(count, memory_order_relaxed);
    const uint32_t passes = atomic_load_explicit(&lock->passes, memory_order_relaxed) + 1;

    if (now != atomic_load_explicit(&lock->seen, memory_order_relaxed) || (is_favoured && now & 1)) {
        atomic_store_explicit(&lock->seen, now, memory_order_relaxed);
        atomic_store_explicit(&lock->passes, 0, memory_order_relaxed);
        return true;
    }
    atomic_store_explicit(&lock->passes, passes, memory_order_relaxed);
    return is_favoured && passes < PASSES;
}

/* For passers-by: is the lock left to that thread, or to one that waits to take it? */
static bool is_refused(struct lock *lock)
{
    const uint32_t refused = atomic_load_explicit(&lock->refused, memory_order_relaxed);
    const bool is_left = (atomic_load_explicit(&lock->last, memory_order_relaxed) != self() &&
                          is_active(lock, atomic_load_explicit(&lock->favourite, memory_order_relaxed))) ||
                         atomic_load_explicit(&lock->takers, memory_order_relaxed);

    if (!is_left || refused >= REFUSALS)
        return false;
    atomic_store_explicit(&lock->refused, refused + 1, memory_order_relaxed);
    return true;
}

/* --- both --- */

void lock_take_slow(struct lock *lock)
{
    if (lock_again(lock))
        return;
    self();
    word_take(lock);
    settle(lock);
}

bool lock_try_slow(struct lock *lock)
{
    uint32_t was = atomic_load_explicit(&lock->word, memory_order_relaxed);

    if (lock_again(lock))
        return true;
    if (was & HELD || is_refused(lock))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &was, was | HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    atomic_store_explicit(&lock->refused, 0, memory_order_relaxed);
    settle(lock);
    return true;
}

void lock_release_slow(struct lock *lock)
{
    set_holder(lock, LOCK_NOBODY);
    word_release(lock);
}
