/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. Sleeping for descriptors: in a job of several machines news come through sockets, too. Who sleeps
 * then does so at an epoll descriptor, in which those of the transports are and the process's bell (sys/bell.h); others
 * see by its sleep word that they have to ring.
 *
 * Of several threads that sleep, one is at the descriptors, on watch. The others sleep on a word, the turn, which
 * changes when the watch ends for whatever reason: then all look for what they wait for, and one of those who go on
 * sleeping takes over. A thread has read the turn before its last look, so it cannot miss that.
 *
 * Where there is no bell to be had, naps are short. */
#include <sys/epoll.h>
#include <unistd.h>

#include "progress/int_progress.h"
#include "sys/bell.h"
#include "sys/descriptor.h"
#include "sys/wake.h"

enum { EVENTS = 8, DEAF_NS = 1000000, NS_PER_MS = 1000000 };

static struct {
    int epoll;
    bool has_bell;
    _Atomic uint32_t turn;
    _Atomic uint32_t is_watched; /* a thread is on watch */
} naps;

static void watch_for(int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };

    epoll_ctl(naps.epoll, EPOLL_CTL_ADD, fd, &event);
}

/* From now on this process sleeps at descriptors. A thread that sleeps on its word already is woken to do so, too. */
static void begin(void)
{
    naps.epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    progress.bell = naps.epoll >= 0 ? bell_open(progress.segment, progress.proc) : -1;
    naps.has_bell = progress.bell >= 0;
    if (naps.has_bell)
        watch_for(progress.bell);
    progress.sleep_value = naps.has_bell ? SLEEP_AT_BELL + (uint32_t)progress.proc : SLEEP_ON_WORD;
    progress.has_descriptors = true;
    progress_wake_own();
}

void progress_listen(int fd)
{
    if (!progress.has_descriptors)
        begin();
    if (naps.epoll >= 0)
        watch_for(fd);
}

void progress_unlisten(int fd)
{
    if (progress.has_descriptors && naps.epoll >= 0)
        epoll_ctl(naps.epoll, EPOLL_CTL_DEL, fd, &(struct epoll_event){ 0 });
}

void nap_end(void)
{
    if (naps.has_bell)
        close(progress.bell);
    if (naps.epoll >= 0)
        close(naps.epoll);
    naps.has_bell = false;
}

uint32_t nap_turn(void)
{
    return atomic_load_explicit(&naps.turn, memory_order_acquire); /* pairs with the end of a watch */
}

static void watch(uint64_t limit_ns)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(naps.epoll, events, EVENTS, (int)((limit_ns + NS_PER_MS - 1) / NS_PER_MS));

    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == progress.bell)
            bell_quiet(progress.bell);
    }
}

void nap(uint32_t turn, uint64_t limit_ns)
{
    if (!naps.has_bell) {
        wake_sleep(progress.sleep_word, progress.sleep_value, limit_ns < DEAF_NS ? limit_ns : DEAF_NS);
    } else if (!progress.is_threaded) {
        watch(limit_ns);
    } else if (atomic_exchange_explicit(&naps.is_watched, 1, memory_order_acquire)) {
        wake_sleep(&naps.turn, turn, limit_ns);
    } else {
        watch(limit_ns);
        /* in this order: who has seen the watch taken sees the turn change after that */
        atomic_store_explicit(&naps.is_watched, 0, memory_order_seq_cst);
        atomic_fetch_add_explicit(&naps.turn, 1, memory_order_seq_cst);
        wake_all(&naps.turn);
    }
}
