/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The open transport: contacts, connections that come and end, what a poll looks at. Nobody is connected
 * before something is sent, and nothing is sent to find out whether a process is there.
 * Knows: base, sys, net. */
#include "net/tcp/tcp.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "base/err.h"
#include "net/tcp/int_tcp.h"
#include "sys/clock.h"
#include "sys/descriptor.h"
#include "sys/ready.h"

enum {
    EVENTS = 32,
    LOOK_EVERY = 256,           /* polls between looks at callers that say nothing */
    CLOSE_MS = 4000,            /* how long a close waits for others that take nothing … */
    CLOSE_STEP_MS = 5,          /* … looking again after that */
};

static struct tcp *tcp_of_net(struct net *net)
{
    return (struct tcp *)(void *)net;
}

static struct tcp_peer *peer_of(const struct net_ep *ep)
{
    return (struct tcp_peer *)(uintptr_t)ep;
}

/* --- opening --- */

int tcp_watch(struct tcp *tcp, int fd, struct tcp_watch *watch, bool for_output)
{
    struct epoll_event event = { .events = EPOLLIN | (for_output ? EPOLLOUT : 0), .data.ptr = watch };

    if (!epoll_ctl(tcp->epoll, EPOLL_CTL_MOD, fd, &event))
        return 0;
    return errno == ENOENT ? epoll_ctl(tcp->epoll, EPOLL_CTL_ADD, fd, &event) : -1;
}

void tcp_close_watched(int epoll, int fd)
{
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    close(fd);
}

static int make_tables(struct tcp *tcp)
{
    tcp->wishes_size = (size_t)tcp->procs * NET_WISHES * sizeof(uint32_t);
    tcp->peers = mem_zalloc((size_t)tcp->procs * sizeof *tcp->peers);
    tcp->wishes = mem_zalloc(3 * tcp->wishes_size);
    if (!tcp->peers || !tcp->wishes)
        return err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", tcp->procs);
    tcp->heard = tcp->wishes + tcp->procs * NET_WISHES;
    tcp->told = (uint32_t *)(void *)(tcp->heard + tcp->procs * NET_WISHES);
    return 0;
}

static void init_lists(struct tcp *tcp)
{
    list_init(&tcp->dirty);
    list_init(&tcp->stalled);
    list_init(&tcp->lost);
    list_init(&tcp->owed);
    list_init(&tcp->dials);
    list_init(&tcp->ended_dials);
    mem_pool_init(&tcp->chunks, sizeof(struct tcp_chunk), 1);
    mem_pool_init(&tcp->directs, sizeof(struct tcp_direct), 8);
    mem_pool_init(&tcp->buffers, TCP_IN_SIZE, 1);
}

static int set_up(struct tcp *tcp, const struct net_config *config)
{
    int rc = make_tables(tcp);

    if (rc)
        return rc;
    tcp->epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    if (tcp->epoll < 0)
        return tcp_system_error("connections cannot be watched");
    rc = tcp_port_open(config, &tcp->port);
    if (rc)
        return rc;
    if (tcp_watch(tcp, tcp_port_fd(tcp->port), &tcp->port_watch, false))
        return tcp_system_error("the socket for other machines cannot be watched");
    return 0;
}

/* What set_up has made so far, or all of it. */
static void tear_down(struct tcp *tcp)
{
    if (tcp->port)
        tcp_port_close(tcp->port);
    if (tcp->epoll >= 0)
        close(tcp->epoll);
    for (int proc = 0; tcp->peers && proc < tcp->procs; proc++)
        mem_free(tcp->peers[proc]);
    tcp_dial_free_ended(tcp);
    mem_pool_fini(&tcp->chunks);
    mem_pool_fini(&tcp->directs);
    mem_pool_fini(&tcp->buffers);
    mem_free(tcp->peers);
    mem_free((void *)tcp->wishes);
    mem_free(tcp);
}

static int tcp_open(const struct net_config *config, struct net **out)
{
    struct tcp *tcp = mem_alloc_aligned(CACHE_LINE, sizeof *tcp);
    int rc;

    if (!tcp)
        return err(MPI_ERR_NO_MEM, "no memory for the TCP transport");
    *tcp = (struct tcp){ .epoll = -1 };
    lock_init(&tcp->guard, true);
    tcp->net = (struct net){ .ops = &tcp_ops, .sink = config->sink };
    tcp->port_watch.kind = TCP_WATCH_PORT;
    tcp->kept = config->sink.room ? config->kept : (struct net_kept){ .mask = UINT64_MAX };
    tcp->segment = config->segment;
    tcp->proc = config->proc;
    tcp->procs = config->procs;
    tcp->lane = config->lane;
    tcp->tenant = job_proc(config->segment, config->proc)->tenant;
    tcp->pace = (struct pace){ .told = &tcp->far[0], .heard = &tcp->far[1] };
    init_lists(tcp);
    list_init(&tcp->keeper_link);
    rc = set_up(tcp, config);
    if (rc) {
        tear_down(tcp);
        return rc;
    }
    tcp_keeper_add(tcp);
    *out = &tcp->net;
    return 0;
}

/* --- contacts --- */

struct tcp_peer *tcp_peer(struct tcp *tcp, int proc)
{
    struct tcp_peer *peer = tcp->peers[proc];

    if (likely(peer))
        return peer;
    peer = mem_alloc_aligned(CACHE_LINE, sizeof *peer);
    if (!peer)
        return NULL;
    *peer = (struct tcp_peer){ .ep = { &tcp->net, proc, 0 }, .watch = { TCP_WATCH_PEER }, .fd = -1 };
    list_init(&peer->out);
    list_init(&peer->dirty_link);
    list_init(&peer->stalled_link);
    list_init(&peer->lost_link);
    list_init(&peer->owed_link);
    tcp->peers[proc] = peer;
    return peer;
}

static int tcp_connect(struct net *net, int proc, struct net_ep **out)
{
    struct tcp *tcp = tcp_enter(net);
    struct tcp_peer *peer = tcp_peer(tcp, proc);

    tcp_leave(tcp);
    if (!peer)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    *out = &peer->ep;
    return 0;
}

static void fd_close(struct tcp_peer *peer)
{
    const int fd = peer->fd;

    atomic_store_explicit(&peer->fd, -1, memory_order_relaxed);
    if (fd >= 0)
        tcp_close_watched(tcp_of(peer)->epoll, fd);
}

void tcp_end(struct tcp_peer *peer, int rc)
{
    tcp_dial_stop(peer);
    fd_close(peer);
    tcp_drop_unsent(peer);
    tcp_drop_input(peer);
    list_remove(&peer->owed_link);
    peer->state = rc ? TCP_BROKEN : TCP_GONE;
    peer->out_error = 0;
    peer->rc = rc;
    list_remove(&peer->lost_link);
    if (rc)
        list_append(&tcp_of(peer)->lost, &peer->lost_link);
}

void tcp_lose(struct tcp_peer *peer)
{
    tcp_end(peer, err(MPI_ERR_OTHER, "E0362: process %d has left MPI, and something is to be sent to it",
                      peer->ep.proc));
}

void tcp_adopt(struct tcp_peer *peer, int fd, uint32_t tenant)
{
    struct tcp *tcp = tcp_of(peer);

    tcp_dial_stop(peer);
    peer->state = TCP_UP;
    peer->tenant = tenant;
    peer->is_leaving = peer->has_forgotten = false;
    peer->asked = peer->kept_sent = peer->kept_come = 0;
    peer->kept_may = peer->kept_told = peer->kept_low = TCP_FIRST_ROOM;
    tcp_tune_connected(fd);
    atomic_store_explicit(&peer->fd, fd, memory_order_relaxed);
    memset(&tcp->told[peer->ep.proc * NET_WISHES], 0, NET_WISHES * sizeof *tcp->told);
    if (tcp_watch(tcp, fd, &peer->watch, false)) {
        tcp_end(peer, err(MPI_ERR_OTHER, "E0362: the connection to process %d cannot be watched: %s", peer->ep.proc,
                          strerror(errno)));
        return;
    }
    tcp_flush(peer);
}

static bool send_pick(const struct tcp_proven *proven)
{
    const struct tcp_note note = tcp_note_make(&proven->party, TCP_PICK);

    return send(proven->fd, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof note;
}

/* The other one has sent a proof: if it has the lower number it has picked this connection, else we do. */
static bool pick(struct tcp *tcp, const struct tcp_proven *proven)
{
    return !tcp_is_lower(tcp, (int)proven->party.place) || send_pick(proven);
}

static void proven_free(struct tcp_proven *proven)
{
    if (!proven)
        return;
    if (proven->fd >= 0)
        close(proven->fd);
    mem_free(proven);
}

void tcp_adopt_proven(struct tcp *tcp, struct tcp_proven *proven)
{
    struct tcp_peer *peer = tcp->peers[proven->party.place];
    const bool is_first = peer->state == TCP_IDLE || peer->state == TCP_DIALING;

    if (is_first && pick(tcp, proven)) {
        tcp_adopt(peer, proven->fd, proven->party.peer_tenant);
        proven->fd = -1;
    } else if (!is_first && peer->tenant != proven->party.peer_tenant) {
        proven_free(peer->next);
        peer->next = proven; /* of a process that we have not yet been told of */
        return;
    }
    proven_free(proven);
}

static void renew(struct tcp *tcp, struct tcp_peer *peer)
{
    struct tcp_proven *next = peer->next;
    const size_t at = (size_t)peer->ep.proc * NET_WISHES;

    tcp_end(peer, 0);
    peer->state = TCP_IDLE;
    peer->is_byed = false;
    peer->next = NULL;
    for (size_t i = at; i < at + NET_WISHES; i++) {
        atomic_store_explicit(&tcp->wishes[i], 0, memory_order_relaxed);
        atomic_store_explicit(&tcp->heard[i], 0, memory_order_relaxed);
        tcp->told[i] = 0;
    }
    if (next)
        tcp_adopt_proven(tcp, next);
}

/* The first one here may be the new one: the one before was on this machine. */
static void tcp_renew(struct net_ep *ep)
{
    struct tcp_peer *peer = peer_of(ep);
    struct tcp *tcp = tcp_enter(ep->net);

    if (peer->state != TCP_UP || peer->tenant != job_proc(tcp->segment, ep->proc)->tenant)
        renew(tcp, peer);
    tcp_leave(tcp);
}

static void tcp_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct tcp *tcp = tcp_of(peer_of(ep));

    *in = &tcp->wishes[ep->proc * NET_WISHES];
    *out = &tcp->heard[ep->proc * NET_WISHES];
}

static struct pace *tcp_pace(struct net_ep *ep)
{
    return &tcp_of(peer_of(ep))->pace;
}

static void tcp_wake(struct net_ep *ep)
{
    (void)ep; /* the system does, when something arrives */
}

/* --- polling --- */

static NOINLINE int tell_lost(struct tcp *tcp)
{
    const struct net_sink *sink = &tcp->net.sink;
    int events = 0;

    LIST_FOR_EACH_SAFE(link, &tcp->lost) {
        struct tcp_peer *peer = CONTAINER_OF(link, struct tcp_peer, lost_link);
        list_remove(link);
        events++;
        if (sink->lost)
            sink->lost(sink->arg, peer->ep.proc, peer->rc);
    }
    return events;
}

static int peer_event(struct tcp_peer *peer, uint32_t events)
{
    const int sent = events & EPOLLOUT ? tcp_unblock(peer) : 0;

    return sent + (events & ~(uint32_t)EPOLLOUT ? tcp_receive(peer, NULL) : 0);
}

static int take_event(struct tcp *tcp, const struct epoll_event *event)
{
    struct tcp_watch *watch = event->data.ptr;

    switch (watch->kind) {
    case TCP_WATCH_PEER:
        return peer_event(CONTAINER_OF(watch, struct tcp_peer, watch), event->events);
    case TCP_WATCH_TRY:
        return tcp_dial_event(watch);
    default:
        return tcp_port_poll(tcp->port);
    }
}

static int take_proven(struct tcp *tcp)
{
    struct tcp_proven *proven;
    int events = 0;

    while ((proven = tcp_port_take(tcp->port, tcp->lane))) {
        if (!tcp_peer(tcp, (int)proven->party.place)) { /* no memory now: the caller takes it for connected already */
            tcp_port_put_back(tcp->port, proven);
            break;
        }
        tcp_adopt_proven(tcp, proven);
        events++;
    }
    return events;
}

/* What is seldom there. */
static NOINLINE int poll_rare(struct tcp *tcp)
{
    int events = 0;

    if (!list_is_empty(&tcp->dials))
        events += tcp_dial_tick(tcp);
    tcp_dial_free_ended(tcp);
    if (!list_is_empty(&tcp->lost))
        events += tell_lost(tcp);
    if (!list_is_empty(&tcp->owed))
        tcp_tell_owed(tcp);
    return events + tcp_retry_stalled(tcp);
}

static bool has_rare(const struct tcp *tcp)
{
    return !list_is_empty(&tcp->dials) || !list_is_empty(&tcp->ended_dials) || !list_is_empty(&tcp->lost) ||
           !list_is_empty(&tcp->stalled) || !list_is_empty(&tcp->owed);
}

static int poll_all(struct tcp *tcp)
{
    struct epoll_event events[EVENTS];
    int taken = 0, count;

    if (unlikely(memcmp((const void *)tcp->wishes, tcp->told, tcp->wishes_size)))
        tcp_tell_all(tcp);
    if (!list_is_empty(&tcp->dirty) || tcp->has_kept)
        tcp_flush_dirty(tcp);
    if (unlikely(has_rare(tcp)))
        taken += poll_rare(tcp);
    count = ready_look(tcp->epoll, events, EVENTS);
    for (int i = 0; i < count; i++)
        taken += take_event(tcp, &events[i]);
    if (++tcp->polls % LOOK_EVERY == 0 && tcp_port_has_callers(tcp->port))
        taken += tcp_port_poll(tcp->port);
    return taken + take_proven(tcp);
}

static int tcp_poll(struct net *net)
{
    struct tcp *tcp = tcp_enter(net);
    const int events = poll_all(tcp);

    tcp_leave(tcp);
    return events;
}

static ALWAYS_INLINE int poll_one(struct tcp *tcp, struct tcp_peer *peer, const _Atomic uint32_t *done)
{
    int sent = 0;

    if (unlikely(peer->state != TCP_UP || has_rare(tcp)))
        return poll_all(tcp);
    if (!list_is_empty(&peer->dirty_link)) {
        list_remove(&peer->dirty_link);
        peer->in_burst = false;
        tcp_flush(peer);
    }
    if (unlikely(peer->is_blocked))
        sent = tcp_unblock(peer);
    if (tcp->has_kept && list_is_empty(&tcp->dirty))
        tcp_tell_flushed(tcp);
    return sent + tcp_receive(peer, done);
}

static int tcp_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct tcp_peer *peer = peer_of(ep);
    struct tcp *tcp = tcp_enter(peer->ep.net);
    const int events = poll_one(tcp, peer, done);

    tcp_leave(tcp);
    return events;
}

static bool tcp_is_silent(const struct net_ep *ep)
{
    const struct tcp_peer *peer = peer_of(ep);
    const int fd = atomic_load_explicit(&peer->fd, memory_order_relaxed);
    int bytes = 0;

    if (atomic_load_explicit(&peer->has_input, memory_order_relaxed))
        return false;
    return fd < 0 || ioctl(fd, FIONREAD, &bytes) || !bytes;
}

static int tcp_wait_fd(struct net *net)
{
    return tcp_of_net(net)->epoll;
}

/* --- the end --- */

static int drop_arrival(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)arg, (void)proc, (void)head, (void)payload, (void)len;
    return 0;
}

/* Has the system of the other side all that was sent before the good-bye? Till then a connection that is closed with
 * something unread in it would take it along. */
static bool is_delivered(const struct tcp_peer *peer)
{
    int left = 0;

    return list_is_empty(&peer->out) && (ioctl(peer->fd, SIOCOUTQ, &left) || left <= TCP_FRAME_SIZE);
}

static bool is_all_delivered(struct tcp *tcp, uint64_t *waiting)
{
    bool is_all = true;

    *waiting = 0;
    for (int proc = 0; proc < tcp->procs; proc++) {
        const struct tcp_peer *peer = tcp->peers[proc];
        if (!peer || peer->out_error || (peer->state != TCP_UP && peer->state != TCP_DIALING))
            continue;
        *waiting += peer->unsent;
        is_all = is_all && (peer->state == TCP_UP ? is_delivered(peer) : list_is_empty(&peer->out));
    }
    return is_all;
}

static void say_bye(struct tcp *tcp)
{
    for (int proc = 0; proc < tcp->procs; proc++) {
        struct tcp_peer *peer = tcp->peers[proc];
        if (peer && !peer->is_byed && (peer->state == TCP_UP || (peer->state == TCP_DIALING && peer->unsent)))
            peer->is_byed = tcp_append_frame(peer, TCP_BYE, (struct net_head){ { 0, 0 } });
    }
}

/* As long as others take something, and a moment more. */
static void let_go_out(struct tcp *tcp)
{
    uint64_t looked_at = clock_ns(), waited = 0, before = 0, waiting;

    say_bye(tcp);
    tcp_flush_dirty(tcp);
    while (!is_all_delivered(tcp, &waiting) && waited < CLOSE_MS * UINT64_C(1000000)) {
        waited = waiting == before ? waited + clock_waited_ns(&looked_at, clock_ns()) : 0;
        before = waiting;
        say_bye(tcp); /* where there was no room for it */
        if (!poll_all(tcp))
            ready_wait(tcp->epoll, CLOSE_STEP_MS);
    }
}

static void tcp_close(struct net *net)
{
    struct tcp *tcp = tcp_enter(net);

    net->sink = (struct net_sink){ .arrive = drop_arrival };
    let_go_out(tcp);
    tcp_leave(tcp);
    tcp_keeper_remove(tcp);
    for (int proc = 0; proc < tcp->procs; proc++) {
        struct tcp_peer *peer = tcp->peers[proc];
        if (!peer)
            continue;
        tcp_end(peer, 0);
        proven_free(peer->next);
    }
    tear_down(tcp);
}

const struct net_ops tcp_ops = {
    .name = "tcp",
    .short_max = TCP_EAGER_MAX,
    .eager_max = TCP_EAGER_MAX,
    .open = tcp_open,
    .close = tcp_close,
    .connect = tcp_connect,
    .renew = tcp_renew,
    .send = tcp_send,
    .send_in_room = tcp_send_in_room,
    .send_soon = tcp_send_soon,
    .alloc = tcp_alloc,
    .commit = tcp_commit,
    .release = tcp_release,
    .send_from = tcp_send_from,
    .wishes = tcp_wishes,
    .pace = tcp_pace,
    .wake = tcp_wake,
    .poll = tcp_poll,
    .poll_ep = tcp_poll_ep,
    .is_silent = tcp_is_silent,
    .wait_fd = tcp_wait_fd,
    .take = net_take_nothing,
    .can_copy = net_cannot_copy,
};
