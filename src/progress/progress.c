/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. The waiting policy, in three steps:
 *
 *   1. spin for 20 us; for next to nothing when there are more ranks than processors or foreign load was seen;
 *   2. yield, timing each: one that took long shows that somebody else needs the processor, and then the next
 *      256 waits skip this step;
 *   3. announce it in the sleep word, barrier, look once more, sleep on the word with a growing time limit.
 *
 * Knows: base, sys. Does not know: what is being waited for. */
#include "progress/progress.h"

#include <limits.h>
#include <sched.h>

#include "sys/clock.h"
#include "sys/cpus.h"
#include "sys/wake.h"

enum {
    POLL_REST_EVERY = 64,        /* spins on the hint between two polls of everything */
    SPIN_NS = 20000,
    SPIN_CROWDED_NS = 200,
    YIELD_NS = 1000000,          /* how long to go on yielding */
    YIELDS_PER_RANK = 4,         /* and how often, without a processor for each rank */
    YIELD_LONG_NS = 30000,       /* a yield that takes this plus YIELD_LONG_RANK_NS a rank shows foreign load */
    YIELD_LONG_RANK_NS = 2000,
    SKIP_YIELDS = 256,
    SLEEP_MIN_NS = 1000000,
    SLEEP_MAX_NS = 100000000,
    SLEEP_NO_BARRIER_NS = 1000000, /* without the barrier a wake-up can be missed */
};

struct progress progress;

struct wait {
    progress_done_fn *is_done;
    void *arg;
    struct progress_hint hint;
};

void progress_init(const struct progress_config *config)
{
    progress = (struct progress){ .local_ranks = config->local_ranks };
    progress.sleep_word = config->sleep_word ? config->sleep_word : &progress.private_word;
}

void progress_fini(void)
{
    progress = (struct progress){ .sleep_word = &progress.private_word };
}

void progress_add(progress_poll_fn *poll, void *arg)
{
    progress.pollers[progress.poller_count++] = (struct progress_hint){ poll, arg };
}

void progress_remove(progress_poll_fn *poll, void *arg)
{
    int kept = 0;

    for (int i = 0; i < progress.poller_count; i++) {
        if (progress.pollers[i].poll != poll || progress.pollers[i].arg != arg)
            progress.pollers[kept++] = progress.pollers[i];
    }
    progress.poller_count = kept;
}

int progress_poll(void)
{
    int events = 0;

    for (int i = 0; i < progress.poller_count; i++)
        events += progress.pollers[i].poll(progress.pollers[i].arg);
    return events;
}

void progress_wake_own(void)
{
    progress_wake_other(progress.sleep_word);
}

void progress_wake_other(_Atomic uint32_t *sleep_word)
{
    /* acquire and release: pairs with the announcement in sleep_once */
    if (atomic_exchange_explicit(sleep_word, 0, memory_order_acq_rel))
        wake_all(sleep_word);
}

/* More ranks than processors, or somebody else on them. */
static bool is_crowded(void)
{
    int cpus = atomic_load_explicit(&progress.cpus, memory_order_relaxed);

    if (unlikely(!cpus)) {
        cpus = cpus_usable();
        atomic_store_explicit(&progress.cpus, cpus, memory_order_relaxed);
    }
    return progress.local_ranks > cpus || atomic_load_explicit(&progress.skip_yields, memory_order_relaxed);
}

static ALWAYS_INLINE bool poll_hint(const struct wait *wait)
{
    if (wait->hint.poll)
        wait->hint.poll(wait->hint.arg);
    else
        progress_poll();
    return wait->is_done(wait->arg);
}

static bool spin(const struct wait *wait, uint64_t budget_ns)
{
    const uint64_t start = clock_ns();

    do {
        for (int i = 0; i < POLL_REST_EVERY; i++) {
            if (poll_hint(wait))
                return true;
            cpu_relax();
        }
        progress_poll();
        if (wait->is_done(wait->arg))
            return true;
    } while (clock_ns() - start < budget_ns);
    return false;
}

/* Without a processor for each rank, let every other rank run a few times. */
static bool yield(const struct wait *wait)
{
    const int most = is_crowded() ? YIELDS_PER_RANK * progress.local_ranks : INT_MAX;
    const uint64_t start = clock_ns();
    const uint64_t is_long = YIELD_LONG_NS + (uint64_t)YIELD_LONG_RANK_NS * (uint64_t)progress.local_ranks;
    uint64_t now = start;

    for (int i = 0; i < most && now - start < YIELD_NS; i++) {
        const uint64_t before = now;
        sched_yield();
        progress_poll();
        if (wait->is_done(wait->arg))
            return true;
        now = clock_ns();
        if (now - before > is_long) {
            atomic_store_explicit(&progress.skip_yields, SKIP_YIELDS, memory_order_relaxed);
            return false;
        }
    }
    return false;
}

/* True when the wait is over. is_done is not asked again after it has said so: it may have taken something. */
static bool sleep_once(const struct wait *wait, uint64_t limit_ns)
{
    bool is_over, is_news;

    atomic_fetch_add_explicit(&progress.sleepers, 1, memory_order_seq_cst);
    atomic_store_explicit(progress.sleep_word, 1, memory_order_seq_cst); /* pairs with progress_wake */
    if (!wake_barrier())
        limit_ns = SLEEP_NO_BARRIER_NS;
    is_news = progress_poll() > 0;
    is_over = wait->is_done(wait->arg);
    if (!is_news && !is_over) {
        atomic_fetch_add_explicit(&progress.sleeps, 1, memory_order_relaxed);
        wake_sleep(progress.sleep_word, 1, limit_ns);
    }
    if (atomic_fetch_sub_explicit(&progress.sleepers, 1, memory_order_seq_cst) == 1)
        atomic_store_explicit(progress.sleep_word, 0, memory_order_relaxed);
    if (is_over)
        return true;
    progress_poll();
    return wait->is_done(wait->arg);
}

static NOINLINE void wait_long(const struct wait *wait)
{
    uint64_t limit_ns = SLEEP_MIN_NS;

    if (spin(wait, is_crowded() ? SPIN_CROWDED_NS : SPIN_NS))
        return;
    if (atomic_load_explicit(&progress.skip_yields, memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&progress.skip_yields, 1, memory_order_relaxed);
    } else if (yield(wait)) {
        return;
    }
    while (!sleep_once(wait, limit_ns))
        limit_ns = limit_ns * 2 < SLEEP_MAX_NS ? limit_ns * 2 : SLEEP_MAX_NS;
}

void progress_wait_until(progress_done_fn *is_done, void *arg, struct progress_hint hint)
{
    const struct wait wait = { is_done, arg, hint };

    if (is_done(arg))
        return;
    progress_poll();
    if (!is_done(arg))
        wait_long(&wait);
}

static bool word_is_set(void *arg)
{
    _Atomic uint32_t *word = arg;

    return atomic_load_explicit(word, memory_order_acquire); /* pairs with who sets it */
}

/* The first spins go straight to the hint: this is the way of a short message. */
void progress_wait(_Atomic uint32_t *done, struct progress_hint hint)
{
    const struct wait wait = { word_is_set, done, hint };

    if (likely(hint.poll)) {
        for (int i = 0; i < POLL_REST_EVERY; i++) {
            if (word_is_set(done))
                return;
            hint.poll(hint.arg);
        }
    }
    if (!word_is_set(done))
        wait_long(&wait);
}
