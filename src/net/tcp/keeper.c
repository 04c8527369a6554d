/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The keeper: a thread that writes what was left here while the program computes. A sender whose call
 * has returned need not come back for what the system did not take, or for what was kept back to go out with others
 * (MPI 5.0 §3.7.4, §2.9). There is one in a process, from the first time that something is left; it sleeps while
 * nothing is.
 *
 * While something is, it looks every few milliseconds, and steps in only where nobody has been in the transport since
 * its last look. Transports are guarded by a lock that costs the program's own thread next to nothing (sys/lock.h).
 *
 * Knows: base, sys. Does not know: anything above this room; it hands nothing on and tells nobody. */
#include <pthread.h>

#include "net/tcp/int_tcp.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "sys/wake.h"

enum { LOOK_NS = 2000000, LOOK_MAX_NS = 8000000, LOOKS_IDLE = 32, STACK = 131072, DEAF_NS = 50000000 };

_Atomic uint32_t tcp_keeper_word = TCP_KEEPER_ASLEEP;

static struct {
    pthread_mutex_t lock;       /* of `all`; taken before the guard of a transport, never after it */
    struct list all;            /* of struct tcp */
    bool is_there;              /* written by who has set the word to TCP_KEEPER_AWAKE, or is the last */
    pthread_t thread;
} keeper = { .lock = PTHREAD_MUTEX_INITIALIZER, .all = { &keeper.all, &keeper.all } };

bool tcp_keeper_flush(struct tcp *tcp)
{
    bool is_left = false;

    tcp->is_kept_by_keeper = true;
    tcp_flush_all(tcp);
    for (int proc = 0; proc < tcp->procs; proc++) {
        struct tcp_peer *peer = tcp->peers[proc];
        if (peer && peer->is_blocked)
            tcp_unblock(peer);
        is_left = is_left || (peer && peer->state == TCP_UP && !peer->out_error && !list_is_empty(&peer->out));
    }
    tcp->is_kept_by_keeper = false;
    return is_left;
}

/* True if somebody has left something. */
static bool look(struct tcp *tcp)
{
    const uint32_t visits = atomic_load_explicit(&tcp->visits, memory_order_relaxed);
    const bool is_new = visits != tcp->visits_seen;

    tcp->visits_seen = visits;
    if (!atomic_load_explicit(&tcp->has_left, memory_order_relaxed))
        return false;
    if (is_new)
        return true;
    lock_take(&tcp->guard);
    atomic_store_explicit(&tcp->has_left, tcp_keeper_flush(tcp), memory_order_relaxed);
    lock_release(&tcp->guard);
    return true;
}

static bool look_at_all(void)
{
    bool is_left = false;

    pthread_mutex_lock(&keeper.lock);
    LIST_FOR_EACH(link, &keeper.all)
        is_left = look(CONTAINER_OF(link, struct tcp, keeper_link)) || is_left;
    pthread_mutex_unlock(&keeper.lock);
    return is_left;
}

/* Who leaves something stores that and then looks at the word, without a fence. */
static void sleep_till_woken(void)
{
    uint32_t was = TCP_KEEPER_AWAKE;
    bool is_heard;

    if (!atomic_compare_exchange_strong(&tcp_keeper_word, &was, TCP_KEEPER_ASLEEP))
        return;
    is_heard = wake_barrier_own();
    if (look_at_all()) {
        was = TCP_KEEPER_ASLEEP;
        atomic_compare_exchange_strong(&tcp_keeper_word, &was, TCP_KEEPER_AWAKE);
        return;
    }
    do {
        wake_sleep(&tcp_keeper_word, TCP_KEEPER_ASLEEP, is_heard ? UINT64_C(1000000000) : DEAF_NS);
    } while (is_heard && atomic_load(&tcp_keeper_word) == TCP_KEEPER_ASLEEP);
    was = TCP_KEEPER_ASLEEP;
    atomic_compare_exchange_strong(&tcp_keeper_word, &was, TCP_KEEPER_AWAKE);
}

static void *keep(void *arg)
{
    uint64_t pause = LOOK_NS;
    int idle = 0;

    while (atomic_load(&tcp_keeper_word) != TCP_KEEPER_ENDS) {
        wake_sleep(&tcp_keeper_word, TCP_KEEPER_AWAKE, pause);
        pause = size_min(2 * pause, LOOK_MAX_NS);
        idle = look_at_all() ? 0 : idle + 1;
        if (idle < LOOKS_IDLE)
            continue;
        sleep_till_woken();
        pause = LOOK_NS;
        idle = 0;
    }
    return arg;
}

/* If there is no thread to be had, the next call of the program's sends what is left. */
static void start(void)
{
    keeper.is_there = thread_start(&keeper.thread, "parley-keeper", STACK, keep);
}

void tcp_keeper_wake(void)
{
    uint32_t was = TCP_KEEPER_ASLEEP;

    if (!atomic_compare_exchange_strong(&tcp_keeper_word, &was, TCP_KEEPER_AWAKE))
        return;
    if (keeper.is_there)
        wake_all(&tcp_keeper_word);
    else
        start();
}

void tcp_keeper_add(struct tcp *tcp)
{
    pthread_mutex_lock(&keeper.lock);
    list_append(&keeper.all, &tcp->keeper_link);
    pthread_mutex_unlock(&keeper.lock);
}

void tcp_keeper_remove(struct tcp *tcp)
{
    bool is_last;

    pthread_mutex_lock(&keeper.lock);
    list_remove(&tcp->keeper_link);
    is_last = list_is_empty(&keeper.all);
    pthread_mutex_unlock(&keeper.lock);
    if (!is_last || !keeper.is_there)
        return;
    atomic_store(&tcp_keeper_word, TCP_KEEPER_ENDS);
    wake_all(&tcp_keeper_word);
    pthread_join(keeper.thread, NULL);
    keeper.is_there = false;
    atomic_store(&tcp_keeper_word, TCP_KEEPER_ASLEEP);
}
