/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. The helper: a thread of the library that polls for one purpose while no thread of the program does.
 * While the program looks itself, the helper only looks every few milliseconds whether it still does. Else it sleeps at
 * a descriptor, and polls as soon as something comes; if somebody has looked meanwhile it first waits for a moment,
 * longer each time that this happens again.
 *
 * A thread of the program that sleeps for what the helper brings has made its sleep known before it looked for the
 * last time, and the helper looks for sleepers after a fence, so none is missed.
 * Knows: base, sys. */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "progress/progress.h"
#include "sys/descriptor.h"
#include "sys/thread.h"
#include "sys/wake.h"

enum {
    PAUSE_NS = 500000,
    PAUSE_MAX_NS = 4000000,
    NAP_MS = 8,          /* how long to sleep at the descriptor without a look at the others, doubled each time … */
    NAP_MAX_MS = 1024,   /* … up to this */
    SOON_MS = 2,         /* how long to sleep with something unfinished, or … */
    SOON = 64,           /* … so often after something has been done: not all news come by the descriptor */
    STACK = 262144,
};

static struct {
    struct progress_helper config;
    pthread_t thread;
    int epoll, event;             /* event: to wake it */
    _Atomic uint32_t is_ending;
    _Atomic uint32_t is_asleep;   /* until something comes by the descriptors */
    /* the thread's own */
    uint64_t pause;
    uint32_t seen;                /* looks of others, when it looked last */
    int soon, nap_ms;
    bool is_alone;                /* nobody else has looked since */
} helper;

static bool is_unfinished(void)
{
    return atomic_load_explicit(helper.config.unfinished, memory_order_seq_cst);
}

static bool has_looked(void)
{
    const uint32_t looks = atomic_load_explicit(helper.config.looks, memory_order_relaxed);
    const bool is_new = looks != helper.seen;

    helper.seen = looks;
    return is_new;
}

static void pause_for(uint64_t ns)
{
    wake_sleep(&helper.is_ending, 0, ns);
}

/* True: there may be some. Whoever leaves something unfinished stores that, then looks whether we are asleep. */
static bool sleep_till_news(void)
{
    struct epoll_event event;
    uint64_t bytes;
    bool is_soon;
    int count;

    atomic_store_explicit(&helper.is_asleep, 1, memory_order_seq_cst);
    is_soon = is_unfinished() || helper.soon > 0;
    count = epoll_wait(helper.epoll, &event, 1, is_soon ? SOON_MS : helper.nap_ms);
    if (count > 0 && event.data.fd == helper.event && read(helper.event, &bytes, sizeof bytes) < 0)
        is_soon = true; /* nothing was in it any more */
    if (is_soon)
        helper.soon--;
    else if (count <= 0 && helper.nap_ms < NAP_MAX_MS)
        helper.nap_ms *= 2;
    atomic_store_explicit(&helper.is_asleep, 0, memory_order_relaxed);
    return is_soon || count > 0;
}

/* Does nobody look for a moment? */
static bool await_others(void)
{
    pause_for(helper.pause);
    helper.is_alone = !has_looked();
    helper.pause = helper.is_alone ? PAUSE_NS : helper.pause < PAUSE_MAX_NS ? 2 * helper.pause : PAUSE_MAX_NS;
    return helper.is_alone;
}

/* For as long as the program looks itself: a helper that slept at the descriptor meanwhile would be woken by all that
 * comes, in vain, and by the processor of the thread that takes it. */
static void leave_it_to_others(void)
{
    bool is_left = has_looked();

    if (is_left)
        helper.nap_ms = NAP_MS;
    while (is_left && !atomic_load_explicit(&helper.is_ending, memory_order_acquire))
        is_left = !await_others();
}

/* Something has come. Is it for us? Not if the program looks itself before long. */
static bool is_ours(void)
{
    return (!has_looked() && helper.is_alone) || await_others();
}

static void *help(void *arg)
{
    progress_is_last_look = true; /* nobody looks instead of it */
    while (!atomic_load_explicit(&helper.is_ending, memory_order_acquire)) {
        leave_it_to_others();
        if (!sleep_till_news() || atomic_load_explicit(&helper.is_ending, memory_order_acquire) || !is_ours())
            continue;
        if (helper.config.poll(helper.config.arg)) {
            helper.soon = SOON;
            atomic_thread_fence(memory_order_seq_cst);
            progress_notify();
        } else {
            pause_for(PAUSE_NS);
        }
    }
    return arg;
}

static bool watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };

    return !epoll_ctl(helper.epoll, EPOLL_CTL_ADD, fd, &event);
}

/* mpiexec knows by the name that it is none of the program's. */
static bool start(void)
{
    return thread_start(&helper.thread, "parley-helper", STACK, help);
}

static void close_all(void)
{
    if (helper.epoll >= 0)
        close(helper.epoll);
    if (helper.event >= 0)
        close(helper.event);
}

bool progress_help(const struct progress_helper *config)
{
    helper.config = *config;
    helper.is_ending = helper.is_asleep = 0;
    helper.pause = PAUSE_NS;
    helper.soon = 0;
    helper.nap_ms = NAP_MS;
    helper.is_alone = false;
    helper.epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    helper.event = descriptor_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (helper.epoll >= 0 && helper.event >= 0 && watch(config->fd) && watch(helper.event) && start())
        return true;
    close_all();
    return false;
}

static void ring(void)
{
    const uint64_t one = 1;

    if (write(helper.event, &one, sizeof one) < 0)
        return; /* it has been rung so often that it wakes anyway */
}

void progress_help_soon(void)
{
    uint32_t is_asleep = 1;

    atomic_thread_fence(memory_order_seq_cst); /* behind what was stored, see sleep_till_news */
    if (atomic_load_explicit(&helper.is_asleep, memory_order_relaxed) &&
        atomic_compare_exchange_strong(&helper.is_asleep, &is_asleep, 0))
        ring();
}

void progress_help_end(void)
{
    atomic_store_explicit(&helper.is_ending, 1, memory_order_release);
    ring();
    wake_all(&helper.is_ending);
    pthread_join(helper.thread, NULL);
    close_all();
}
