/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. What to poll, and how to wait; the only place that spins, yields or sleeps.
 *
 * There is one of it in a process, because the word that others wake this process by is one per process. Poll
 * functions may be called from any thread that waits and guard themselves; they never wait. */
#ifndef PROGRESS_PROGRESS_H
#define PROGRESS_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct job_head;
struct job_proc;

/* Moves whatever can be moved now; returns how many things happened. */
typedef int progress_poll_fn(void *arg);

/* Where news for one particular wait will most likely come from: a part of what one of the pollers polls. It may
 * stop as soon as *done is not 0. poll NULL: no idea. */
struct progress_hint {
    int (*poll)(void *arg, const _Atomic uint32_t *done);
    void *arg;
};

typedef bool progress_done_fn(void *arg);

/* A wait that has not ended with its first sleep. It stays where it is until the wait is over. */
struct progress_long {
    const _Atomic uint32_t *done; /* what progress_wait was called with; NULL: it was progress_wait_until with … */
    progress_done_fn *is_done;    /* … these */
    const void *arg;
    bool has_moved;               /* something has happened since the last look */
    bool is_known;                /* the watch's own; false at first */
};

/* Who wants to know what long waits wait for. Both are called in the waiting thread, without locks: `look` after the
 * first sleep and after each one that follows, when everything that had come before it was looked for; `leave` when
 * the wait is over. */
struct progress_watch {
    void (*look)(struct progress_long *wait);
    void (*leave)(struct progress_long *wait);
};

struct progress_config {
    _Atomic uint32_t *sleep_word; /* in shared memory, where others wake us; NULL: nobody does */
    struct job_head *segment;     /* the job's; NULL: alone */
    int proc;                     /* own place in it */
    int local_ranks;              /* ranks that share this machine's processors */
    int cpus;                     /* processors that these ranks have together, by masks and quota; 0: ask */
    bool is_oversubscribed;       /* as progress_is_oversubscribed says */
    bool has_fences;              /* wakers use a fence, so sleepers need no barrier; the same in all of them */
    bool needs_fence;             /* this process uses one when it wakes: barriers of the others do not reach it */
    bool is_threaded;             /* as progress_set_threaded says */
};

enum { PROGRESS_POLLERS = 24 };

struct progress {
    struct {
        progress_poll_fn *poll;
        void *arg;
    } pollers[PROGRESS_POLLERS];
    _Atomic int poller_count;
    struct job_head *segment;
    int proc;
    int local_ranks;
    int cpus_given;               /* cpus of progress_config */
    bool has_fences, uses_fence, is_oversubscribed, is_threaded; /* see progress_config; uses: has or needs */
    _Atomic int first_polls;      /* idle polls of the hint before anything else is done about a wait */
    const struct progress_watch *watch; /* NULL: nobody */
    _Atomic uint32_t *sleep_word;
    _Atomic int cpus;             /* usable processors; 0: not asked yet */
    int bell;                     /* -1: none */
    uint32_t sleep_value;         /* what the sleep word is set to */
    bool has_descriptors;         /* sleepers wait for those, too */

    /* What follows changes with long waits and messages; what is above, hardly ever. */
    _Atomic int work ALIGNED(CACHE_LINE); /* things to do that no hint knows of: then a wait polls everything */
    _Atomic int sleepers;         /* threads of this process in or on the way to sleep */
    _Atomic uint32_t private_word;
    _Atomic uint32_t skip_yields; /* waits left that go to sleep without yielding: foreign load was seen */
    _Atomic uint32_t next_skip_yields; /* how many these were the last time */
    _Atomic uint32_t skip_spins;  /* waits left that do not spin: somebody else runs on our processor */
    _Atomic uint64_t sleeps;      /* counter: times this process has gone to sleep */
    _Atomic uint64_t next_look_ns; /* when it will look whether ranks share processors evenly (int_spread.h) */
};

extern struct progress progress;

void progress_init(const struct progress_config *config);
void progress_fini(void);
/* Others will wake this process from now on, which has been alone: as `sleep_word`, `has_fences` and `needs_fence` of
 * the configuration say. No other thread waits. */
void progress_share(const struct progress_config *config);

/* Threads of this process wait at the same time, and wake each other; or no longer. None of them waits now. */
void progress_set_threaded(bool is_threaded);

/* Poll `poll(arg)` from now on, after those added before. Others may be polling. */
void progress_add(progress_poll_fn *poll, void *arg);
/* No other thread may be polling. */
void progress_remove(progress_poll_fn *poll, void *arg);

/* True in a poll function: this thread will sleep or give up if nothing is found now. Who otherwise leaves its work to
 * another thread that is at it must look itself, since that one may have looked already and be on its way out. */
extern _Thread_local bool progress_is_last_look;

/* News may come through a descriptor as well: it polls readable while a poller would find something. Who sleeps wakes
 * up by it. Until it is closed, or: no longer. Only in a process with a segment. */
void progress_listen(int fd);
void progress_unlisten(int fd);

/* A thread of the library's own that polls while no thread of the program does: for processes that compute. One in a
 * process. */
struct progress_helper {
    int fd;                       /* polls readable while `poll` finds something */
    progress_poll_fn *poll;       /* called at any time until the helper ends; not by progress_poll */
    void *arg;
    const _Atomic uint32_t *looks; /* another number whenever somebody else has looked for the same */
    const _Atomic unsigned *unfinished; /* not 0: `poll` may find something whatever the descriptor says */
};
/* False: there is no thread to be had. */
bool progress_help(const struct progress_helper *config);
/* `unfinished` is no longer 0. */
void progress_help_soon(void);
/* It has ended on return; no lock is held that `poll` takes. */
void progress_help_end(void);

/* NULL: nobody. Until progress_fini. */
void progress_set_watch(const struct progress_watch *watch);

/* Poll everything once. */
int progress_poll(void);
/* The same as a last look: what has come by now is found, even if another thread is polling. No lock is held. */
int progress_poll_last(void);

/* There is one thing more, or one less, that only polling everything moves on. From any thread. */
static inline void progress_work(int change)
{
    atomic_fetch_add_explicit(&progress.work, change, memory_order_relaxed);
}

/* A loop that looks for what a short message brings, before anything is made ready for a longer wait: to be left by
 * `break` when something is found. With a processor for each rank it goes round a while, else once. */
#define PROGRESS_LOOK_FIRST                                                                                   \
    for (int looks_ = 0; looks_ < atomic_load_explicit(&progress.first_polls, memory_order_relaxed) &&         \
                         (!looks_ || !atomic_load_explicit(&progress.work, memory_order_relaxed));             \
         looks_++, cpu_relax())

/* Return when *done is not 0. Polls the hint's source first and the rest now and then. */
void progress_wait(_Atomic uint32_t *done, struct progress_hint hint);

/* Return when is_done(arg) says true; it is asked after every poll, and not again once it has said so. */
void progress_wait_until(progress_done_fn *is_done, void *arg);

/* The same with an idea where news will come from; the hint's source may stop when *news is not 0. The first spins go
 * straight there. */
void progress_wait_hinted(progress_done_fn *is_done, void *arg, struct progress_hint hint,
                          const _Atomic uint32_t *news);

/* The same for what others store in shared memory, which is_done looks at itself: it may be asked more often than
 * anything is polled. Who stores it wakes this process. */
void progress_wait_look(progress_done_fn *is_done, void *arg);

/* Do more ranks share this machine's processors than there are? The same answer in all of them, for choosing
 * algorithms that count context switches. */
static inline bool progress_is_oversubscribed(void)
{
    return progress.is_oversubscribed;
}

/* Did another rank of this machine wait on another processor than this one, as far as both have said? They do with more
 * ranks than processors. */
bool progress_is_elsewhere(const struct job_proc *place);

/* Somebody has tested for something in vain, and will probably do so again at once: with more ranks than processors
 * another one gets this one first. */
void progress_in_vain(void);

/* Slow half of progress_notify. */
void progress_wake_own(void) COLD;

/* A thread of this process may be waiting for what has just been stored: wake it if it sleeps. No fence: threads of
 * one process that wake each other sleep only after a barrier. */
static ALWAYS_INLINE void progress_notify(void)
{
    if (unlikely(atomic_load_explicit(&progress.sleepers, memory_order_relaxed)))
        progress_wake_own();
}

/* Slow half of progress_wake. */
void progress_wake_other(_Atomic uint32_t *sleep_word) COLD;

/* Between news that has been stored and a look at who polls or sleeps, when barriers do not do. */
static ALWAYS_INLINE void progress_fence(void)
{
    if (unlikely(progress.uses_fence))
        atomic_thread_fence(memory_order_seq_cst);
}

/* The other side of progress_fence, for who is seldom there: either it sees what others have stored before theirs, or
 * they see after theirs what was stored before this. False: the system denies it. */
bool progress_barrier(void);

/* progress_wake for who has called progress_fence since it stored the news. */
static ALWAYS_INLINE void progress_wake_seen(_Atomic uint32_t *sleep_word)
{
    if (unlikely(atomic_load_explicit(sleep_word, memory_order_relaxed)))
        progress_wake_other(sleep_word);
}

/* News for another process has just been stored (release): wake it if it sleeps. One load, no fence; the sleeper's
 * barrier makes up for it. With more ranks than processors sleeping is frequent, the barrier is what costs, and the
 * fence is here; so it is where the system denies the barrier. */
static ALWAYS_INLINE void progress_wake(_Atomic uint32_t *sleep_word)
{
    progress_fence();
    progress_wake_seen(sleep_word);
}

/* A word that is 0 while progress_wake would do nothing. */
const _Atomic uint32_t *progress_alert(const _Atomic uint32_t *sleep_word);

#endif
