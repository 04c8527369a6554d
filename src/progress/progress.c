/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. The waiting policy, in three steps:
 *
 *   1. spin for 20 us; not at all when there are more ranks than processors or others were seen on ours;
 *   2. yield, timing each: one that took some time let somebody else run, perhaps the very process that is waited
 *      for, and then the next 64 waits do not spin; one that took long shows foreign load, and then the next
 *      16 waits skip this step: twice as many each time, up to 1024, and half as many when a yield is of use again.
 *      With more ranks than processors, where it is certain that it was no rank that ran, they leave the processor, or
 *      all skip this step for a while (int_spread.h);
 *   3. announce it in the sleep word, barrier, look once more, sleep on the word with a growing time limit; in a job of
 *      several machines, at descriptors (nap.c).
 *
 * Knows: base, sys. Does not know: what is being waited for. */
#include "progress/int_progress.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>

#include "progress/int_spread.h"
#include "sys/bell.h"
#include "sys/clock.h"
#include "sys/cpus.h"
#include "sys/wake.h"

enum {
    POLL_REST_EVERY = 64,        /* spins on the hint between two polls of everything */
    SPIN_NS = 20000,
    YIELD_NS = 500000,           /* how long to go on yielding, for each rank */
    YIELDS_PER_RANK = 4,         /* and how often, without a processor for each rank … */
    YIELD_MIN_NS = 50000,        /* … or how long: who is alone on a processor would be through in no time, and its
                                  * being asleep and woken again keeps the system from giving it one of the others */
    YIELD_LONG_NS = 400000,      /* a yield that takes this plus YIELD_LONG_RANK_NS a rank shows foreign load: no rank
                                  * runs so long without yielding itself or sleeping, others use their time slice */
    YIELD_LONG_RANK_NS = 20000,
    YIELD_SHARED_NS = 3000,      /* a yield that took this let somebody else run: spinning would keep them out */
    SKIP_YIELDS_FIRST = 16,
    SKIP_YIELDS = 1024,
    SKIP_SPINS = 64,
    SLEEP_MIN_NS = 20000000,     /* more than the system's own clock ticks: an earlier end of the sleep would have to be
                                  * set in the processor's timer, which takes long in a virtual machine */
    SLEEP_MAX_NS = 100000000,
    SLEEP_NO_BARRIER_NS = 8000000, /* without the barrier a wake-up can be missed, if hardly ever */
    VAIN_SLEEP_NS = 1000000,     /* less than a time slice of those who would run meanwhile */
    VAIN_TESTS = 32,             /* of a thread, before it yields to others of its process … */
    VAIN_TESTS_MAX = 32768,      /* … who turn out not to be there */
};

struct progress progress;
_Thread_local bool progress_is_last_look;

struct wait {
    progress_done_fn *is_done;
    void *arg;
    struct progress_hint hint;
    const _Atomic uint32_t *done; /* with a hint: what it may stop for */
};

void progress_init(const struct progress_config *config)
{
    progress = (struct progress){
        .segment = config->segment, .proc = config->proc,
        .local_ranks = config->local_ranks, .cpus_given = config->cpus, .has_fences = config->has_fences,
        .uses_fence = config->has_fences || config->needs_fence, .is_oversubscribed = config->is_oversubscribed,
        .first_polls = POLL_REST_EVERY, .bell = -1,
        .sleep_value = SLEEP_ON_WORD,
    };
    progress.sleep_word = config->sleep_word ? config->sleep_word : &progress.private_word;
    progress_set_threaded(config->is_threaded);
}

void progress_share(const struct progress_config *config)
{
    progress.sleep_word = config->sleep_word;
    progress.segment = config->segment;
    progress.proc = config->proc;
    progress.has_fences = config->has_fences;
    progress.uses_fence = config->has_fences || config->needs_fence;
}

void progress_set_threaded(bool is_threaded)
{
    progress.is_threaded = is_threaded;
    if (is_threaded) {
        wake_barrier_init();
        wake_barrier_own_init();
    }
}

static bool shares_processors(void)
{
    return progress.is_oversubscribed && progress.segment;
}

void progress_fini(void)
{
    if (progress.has_descriptors)
        nap_end();
    if (shares_processors())
        others_end();
    progress = (struct progress){ .sleep_word = &progress.private_word, .bell = -1, .sleep_value = SLEEP_ON_WORD };
}

void progress_add(progress_poll_fn *poll, void *arg)
{
    static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
    int i;

    pthread_mutex_lock(&adding);
    i = atomic_load_explicit(&progress.poller_count, memory_order_relaxed);
    assert(i < PROGRESS_POLLERS);
    progress.pollers[i].poll = poll;
    progress.pollers[i].arg = arg;
    atomic_store_explicit(&progress.poller_count, i + 1, memory_order_release); /* pairs with progress_poll */
    pthread_mutex_unlock(&adding);
}

void progress_remove(progress_poll_fn *poll, void *arg)
{
    const int count = atomic_load_explicit(&progress.poller_count, memory_order_relaxed);
    int kept = 0;

    for (int i = 0; i < count; i++) {
        if (progress.pollers[i].poll != poll || progress.pollers[i].arg != arg)
            progress.pollers[kept++] = progress.pollers[i];
    }
    atomic_store_explicit(&progress.poller_count, kept, memory_order_relaxed);
}

void progress_set_watch(const struct progress_watch *watch)
{
    progress.watch = watch;
}

int progress_poll(void)
{
    const int count = atomic_load_explicit(&progress.poller_count, memory_order_acquire);
    int events = 0;

    for (int i = 0; i < count; i++)
        events += progress.pollers[i].poll(progress.pollers[i].arg);
    return events;
}

int progress_poll_last(void)
{
    int events;

    progress_is_last_look = true;
    events = progress_poll();
    progress_is_last_look = false;
    return events;
}

void progress_wake_own(void)
{
    progress_wake_other(progress.sleep_word);
}

void progress_wake_other(_Atomic uint32_t *sleep_word)
{
    bell_wake(progress.bell, progress.segment, sleep_word);
}

const _Atomic uint32_t *progress_alert(const _Atomic uint32_t *sleep_word)
{
    static const _Atomic uint32_t always = 1;

    return progress.uses_fence ? &always : sleep_word;
}

/* One wait less of those that skip something; true while there were any. */
static bool use_up(_Atomic uint32_t *waits)
{
    const uint32_t left = atomic_load_explicit(waits, memory_order_relaxed);

    if (likely(!left))
        return false;
    atomic_store_explicit(waits, left - 1, memory_order_relaxed);
    return true;
}

/* More ranks than processors, or foreign load on them. */
static bool is_crowded(void)
{
    int cpus = atomic_load_explicit(&progress.cpus, memory_order_relaxed);

    if (unlikely(!cpus)) {
        cpus = progress.cpus_given ? progress.cpus_given : cpus_within_quota(cpus_in_mask());
        atomic_store_explicit(&progress.cpus, cpus, memory_order_relaxed);
        if (progress.local_ranks > cpus)
            atomic_store_explicit(&progress.first_polls, 1, memory_order_relaxed);
    }
    return progress.local_ranks > cpus || atomic_load_explicit(&progress.skip_yields, memory_order_relaxed);
}

static ALWAYS_INLINE bool has_work(void)
{
    return atomic_load_explicit(&progress.work, memory_order_relaxed) != 0;
}

static ALWAYS_INLINE int poll_hint(const struct wait *wait)
{
    int events = wait->hint.poll ? wait->hint.poll(wait->hint.arg, wait->done) : 0;

    if (!wait->hint.poll || (!events && has_work()))
        events = progress_poll();
    return events;
}

/* The budget is for idle time: it starts anew with every piece of news. */
static bool spin(const struct wait *wait)
{
    uint64_t start = clock_ns(), now = start;

    while (now - start < SPIN_NS) {
        int events = 0;
        for (int i = 0; i < POLL_REST_EVERY; i++) {
            events += poll_hint(wait);
            if (wait->is_done(wait->arg))
                return true;
            cpu_relax();
        }
        events += progress_poll();
        if (wait->is_done(wait->arg))
            return true;
        now = clock_ns();
        if (events)
            start = now;
    }
    return false;
}

/* A yield has shown foreign load, or has been of use. */
static void skip_more_yields(void)
{
    uint32_t next = 2 * atomic_load_explicit(&progress.next_skip_yields, memory_order_relaxed);

    next = next < SKIP_YIELDS_FIRST ? SKIP_YIELDS_FIRST : next > SKIP_YIELDS ? SKIP_YIELDS : next;
    atomic_store_explicit(&progress.next_skip_yields, next, memory_order_relaxed);
    atomic_store_explicit(&progress.skip_yields, next, memory_order_relaxed);
}

static void skip_fewer_yields(void)
{
    const uint32_t next = atomic_load_explicit(&progress.next_skip_yields, memory_order_relaxed);

    if (unlikely(next))
        atomic_store_explicit(&progress.next_skip_yields, next / 2, memory_order_relaxed);
}

/* A yield on processor `cpu` was long. True: it goes on. */
static bool goes_on(int cpu, uint64_t before, uint64_t now)
{
    const enum spread_verdict verdict = shares_processors() ? spread_judge(cpu, before, now) : SPREAD_UNKNOWN;

    if (verdict == SPREAD_UNKNOWN)
        skip_more_yields();
    return verdict == SPREAD_LEFT;
}

static uint64_t long_yield(void)
{
    return YIELD_LONG_NS + (uint64_t)YIELD_LONG_RANK_NS * (uint64_t)progress.local_ranks;
}

/* Without a processor for each rank, let every other rank run a few times. */
static bool yield(const struct wait *wait, uint64_t start)
{
    const int most = is_crowded() ? YIELDS_PER_RANK * progress.local_ranks : INT_MAX;
    const uint64_t end = start + (uint64_t)YIELD_NS * (uint64_t)progress.local_ranks, is_long = long_yield();
    uint64_t now = start;

    for (int i = 0; (i < most || now - start < YIELD_MIN_NS) && now < end; i++) {
        const uint64_t before = now;
        const int cpu = sched_getcpu();
        sched_yield();
        if (wait->hint.poll) { /* the most likely place first */
            wait->hint.poll(wait->hint.arg, wait->done);
            if (wait->is_done(wait->arg)) {
                skip_fewer_yields();
                return true;
            }
        }
        progress_poll();
        if (wait->is_done(wait->arg)) {
            skip_fewer_yields();
            return true;
        }
        now = clock_ns();
        if (now - before > YIELD_SHARED_NS)
            atomic_store_explicit(&progress.skip_spins, SKIP_SPINS, memory_order_relaxed);
        if (now - before > is_long && !goes_on(cpu, before, now))
            return false;
    }
    return false;
}

bool progress_barrier(void)
{
    if (!progress.has_fences)
        return wake_barrier();
    atomic_thread_fence(memory_order_seq_cst);
    return true;
}

/* After the announcement, before the last look: whoever stores news from now on sees the announcement. With fences on
 * the wakers' side that is so for other processes, and threads of this one get a barrier of their own. */
static bool barrier(void)
{
    const bool is_for_all = progress_barrier();

    return progress.has_fences && progress.is_threaded ? wake_barrier_own() : is_for_all;
}

/* True when the wait is over. is_done is not asked again after it has said so: it may have taken something. */
static bool sleep_once(const struct wait *wait, uint64_t limit_ns, bool *has_moved)
{
    const uint32_t turn = nap_turn();
    bool is_over, is_news;

    atomic_fetch_add_explicit(&progress.sleepers, 1, memory_order_seq_cst);
    /* pairs with progress_wake */
    atomic_store_explicit(progress.sleep_word, progress.sleep_value, memory_order_seq_cst);
    if (!barrier() && limit_ns > SLEEP_NO_BARRIER_NS)
        limit_ns = SLEEP_NO_BARRIER_NS;
    is_news = progress_poll_last() > 0;
    is_over = wait->is_done(wait->arg);
    if (!is_news && !is_over) {
        atomic_fetch_add_explicit(&progress.sleeps, 1, memory_order_relaxed);
        if (progress.has_descriptors)
            nap(turn, limit_ns);
        else
            wake_sleep(progress.sleep_word, SLEEP_ON_WORD, limit_ns);
    }
    /* With threads it is left to the next waker: another one may just have announced its own sleep. */
    if (atomic_fetch_sub_explicit(&progress.sleepers, 1, memory_order_seq_cst) == 1 && !progress.is_threaded)
        atomic_store_explicit(progress.sleep_word, 0, memory_order_relaxed);
    if (is_over)
        return true;
    *has_moved = progress_poll() > 0 || is_news;
    return wait->is_done(wait->arg);
}

static bool word_is_set(void *arg)
{
    const _Atomic uint32_t *word = arg;

    return atomic_load_explicit(word, memory_order_acquire); /* pairs with who sets it */
}

/* Sleep until the wait is over, telling whoever wants to know. */
static NOINLINE COLD void sleep_on(const struct wait *wait, uint64_t limit_ns, bool has_moved)
{
    const struct progress_watch *watch = progress.watch;
    struct progress_long told = { .is_done = wait->is_done, .arg = wait->arg, .has_moved = has_moved };
    bool is_over;

    if (wait->is_done == word_is_set)
        told.done = wait->done;
    do {
        if (watch)
            watch->look(&told);
        limit_ns = limit_ns * 2 < SLEEP_MAX_NS ? limit_ns * 2 : SLEEP_MAX_NS;
        is_over = sleep_once(wait, limit_ns, &told.has_moved);
        if (!is_over && told.has_moved && progress.has_descriptors && !is_crowded())
            is_over = spin(wait); /* news through descriptors take long to wake a sleeper */
    } while (!is_over);
    if (watch)
        watch->leave(&told);
}

/* The others hear that this rank waits, and now and then it looks who else is on its processor. Returns the time. */
static uint64_t share_processors(void)
{
    const uint64_t now = clock_ns();

    others_wait_begins(now);
    if (now < atomic_load_explicit(&progress.next_look_ns, memory_order_relaxed))
        return now;
    atomic_store_explicit(&progress.next_look_ns, now + SPREAD_EVERY_NS, memory_order_relaxed);
    spread_look(now);
    return clock_ns(); /* it may have moved */
}

/* Spins and yields as far as they may be of use. True: the wait is over. */
static bool wait_awake(const struct wait *wait)
{
    const uint64_t start = shares_processors() ? share_processors() : 0;

    if (!use_up(&progress.skip_spins) && !is_crowded() && spin(wait))
        return true;
    return !use_up(&progress.skip_yields) && !others_are_here() && yield(wait, start ? start : clock_ns());
}

static NOINLINE void wait_long(const struct wait *wait)
{
    bool has_moved = false;

    if (!wait_awake(wait) && !sleep_once(wait, SLEEP_MIN_NS, &has_moved))
        sleep_on(wait, SLEEP_MIN_NS, has_moved);
    if (shares_processors())
        others_wait_ends(clock_ns());
}

void progress_wait_until(progress_done_fn *is_done, void *arg)
{
    const struct wait wait = { .is_done = is_done, .arg = arg };

    if (is_done(arg))
        return;
    progress_poll();
    if (!is_done(arg))
        wait_long(&wait);
}

static NOINLINE void wait_for_word(_Atomic uint32_t *done, struct progress_hint hint)
{
    const struct wait wait = { word_is_set, done, hint, done };

    wait_long(&wait);
}

/* --- tests in vain --- */

static bool never(void *arg)
{
    (void)arg;
    return false;
}

/* A wait of one yield; where others than ranks use the processors, of a sleep that ends with any news. */
static void let_ranks(void)
{
    static const struct wait anything = { .is_done = never };
    const uint64_t before = share_processors();
    uint64_t now;
    bool has_moved;

    if (others_are_here()) {
        sleep_once(&anything, VAIN_SLEEP_NS, &has_moved);
        now = clock_ns();
    } else {
        const int cpu = sched_getcpu();

        sched_yield();
        now = clock_ns();
        if (now - before > long_yield())
            spread_judge(cpu, before, now);
    }
    others_wait_ends(now);
}

/* Threads of a process may be more than processors, too. Where who runs instead computes, it is seldom let. */
static void let_threads(void)
{
    static _Thread_local uint32_t tests, most = VAIN_TESTS;
    uint64_t before;

    if (++tests < most)
        return;
    tests = 0;
    before = clock_ns();
    sched_yield();
    if (clock_ns() - before > YIELD_LONG_NS)
        most = most < VAIN_TESTS_MAX ? 2 * most : most;
    else if (most > VAIN_TESTS)
        most /= 2;
}

void progress_in_vain(void)
{
    if (shares_processors())
        let_ranks();
    else if (progress.is_threaded)
        let_threads();
}

static int nothing_to_poll(void *arg, const _Atomic uint32_t *done)
{
    (void)arg;
    (void)done;
    return 0;
}

void progress_wait_look(progress_done_fn *is_done, void *arg)
{
    const struct wait wait = { .is_done = is_done, .arg = arg, .hint = { nothing_to_poll, NULL } };

    PROGRESS_LOOK_FIRST {
        if (is_done(arg))
            return;
    }
    wait_long(&wait);
}

void progress_wait_hinted(progress_done_fn *is_done, void *arg, struct progress_hint hint,
                          const _Atomic uint32_t *news)
{
    const struct wait wait = { is_done, arg, hint, news };
    const int first_polls = atomic_load_explicit(&progress.first_polls, memory_order_relaxed);

    for (int idle = 0; idle < first_polls;) {
        if (is_done(arg))
            return;
        if (hint.poll(hint.arg, news) || (unlikely(has_work()) && progress_poll())) {
            idle = 0;
        } else {
            cpu_relax();
            idle++;
        }
    }
    if (!is_done(arg))
        wait_long(&wait);
}

/* The first spins go straight to the hint: this is the way of a short message. */
void progress_wait(_Atomic uint32_t *done, struct progress_hint hint)
{
    if (likely(hint.poll)) {
        const int first_polls = atomic_load_explicit(&progress.first_polls, memory_order_relaxed);
        for (int idle = 0; idle < first_polls;) {
            if (word_is_set(done))
                return;
            if (hint.poll(hint.arg, done) || (unlikely(has_work()) && progress_poll())) {
                idle = 0;
            } else {
                cpu_relax(); /* a tight loop would take the line away from the sender that is writing it */
                idle++;
            }
        }
    }
    if (!word_is_set(done))
        wait_for_word(done, hint);
}
