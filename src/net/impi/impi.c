/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. The open net: hosts and processes of other clients, what a poll looks at, connections that end.
 * Knows: base, sys, net. */
#include "net/impi/impi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/err.h"
#include "net/impi/int_impi.h"
#include "sys/descriptor.h"
#include "sys/ready.h"

enum { EVENTS = 32 };

/* --- opening --- */

int impi_watch(struct impi *impi, int fd, struct impi_watch *watch, bool for_output)
{
    struct epoll_event event = { .events = EPOLLIN | (for_output ? EPOLLOUT : 0), .data.ptr = watch };

    if (!epoll_ctl(impi->epoll, EPOLL_CTL_MOD, fd, &event))
        return 0;
    return errno == ENOENT ? epoll_ctl(impi->epoll, EPOLL_CTL_ADD, fd, &event) : -1;
}

static int host_create(struct impi *impi, int index)
{
    struct impi_host *host = mem_zalloc(sizeof *host);

    impi->hosts[index] = host;
    if (!host)
        return err(MPI_ERR_NO_MEM, "no memory for a host of another client");
    host->watch.kind = IMPI_WATCH_HOST;
    host->impi = impi;
    host->index = index;
    host->fd = -1;
    host->state = index < impi->own ? IMPI_TO_TRY : IMPI_EXPECTED;
    list_init(&host->out);
    list_init(&host->owing);
    list_init(&host->stalled_link);
    list_init(&host->lost_link);
    impi->missing++;
    impi->live++;
    return 0;
}

static int make_tables(struct impi *impi)
{
    const struct joint *joint = impi->joint;
    int rc = 0;

    impi->hosts = mem_zalloc(joint->hosts * sizeof(struct impi_host *));
    impi->peers = mem_zalloc(joint->procs * sizeof(struct impi_peer *));
    if (!impi->hosts || !impi->peers)
        return err(MPI_ERR_NO_MEM, "no memory for a table of %u processes of all clients", joint->procs);
    for (int i = 0; i < (int)joint->hosts && !rc; i++) {
        if (joint_host(joint, i)->client != joint->client)
            rc = host_create(impi, i);
    }
    return rc;
}

static int set_up(struct impi *impi)
{
    int rc = make_tables(impi);

    if (rc)
        return rc;
    impi->epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    if (impi->epoll < 0)
        return impi_system_error("connections cannot be watched");
    if (impi->listener >= 0)
        (void)fcntl(impi->listener, F_SETFL, fcntl(impi->listener, F_GETFL) | O_NONBLOCK);
    return impi_link_open(impi);
}

static void impi_close(struct net *net);

int impi_open(const struct impi_config *config, struct net **out)
{
    struct impi *impi = mem_zalloc(sizeof *impi);
    int rc;

    if (!impi)
        return err(MPI_ERR_NO_MEM, "no memory for the connections to other clients");
    impi->net.ops = &impi_ops;
    impi->joint = config->joint;
    impi->config = *config;
    impi->marks = (struct credit_marks){ config->joint->ackmark, config->joint->hiwater };
    impi->own = (int)joint_proc(config->joint, config->rank)->host;
    impi->epoll = impi->timer = impi->knell = -1;
    impi->listener = config->listener;
    impi->port_watch.kind = IMPI_WATCH_PORT;
    impi->timer_watch.kind = IMPI_WATCH_TIMER;
    impi->knell_watch.kind = IMPI_WATCH_KNELL;
    list_init(&impi->stalled);
    list_init(&impi->lost);
    impi->in_size = IMPI_HEADER_SIZE + config->joint->maxlen + IMPI_READ;
    mem_pool_init(&impi->buffers, impi->in_size, 1);
    atomic_store_explicit(&impi->heard[0], 1, memory_order_relaxed);
    impi->pace = (struct pace){ .told = &impi->far[0], .heard = &impi->far[1] };
    rc = set_up(impi);
    if (rc)
        impi_close(&impi->net);
    else
        *out = &impi->net;
    return rc;
}

static void impi_close(struct net *net)
{
    struct impi *impi = impi_of(net);

    for (uint32_t i = 0; impi->hosts && i < impi->joint->hosts; i++) {
        if (impi->hosts[i])
            impi_end(impi->hosts[i], 0);
        mem_free(impi->hosts[i]);
    }
    for (uint32_t i = 0; impi->peers && i < impi->joint->procs; i++)
        mem_free(impi->peers[i]);
    impi_link_close(impi);
    if (impi->knell >= 0)
        close(impi->knell);
    if (impi->epoll >= 0)
        close(impi->epoll);
    mem_pool_fini(&impi->buffers);
    mem_free(impi->hosts);
    mem_free(impi->peers);
    mem_free(impi);
}

/* --- processes --- */

struct impi_peer *impi_peer(struct impi *impi, int rank)
{
    struct impi_peer *peer = impi->peers[rank];

    if (likely(peer))
        return peer;
    peer = mem_zalloc(sizeof *peer);
    if (!peer)
        return NULL;
    peer->ep.net = &impi->net;
    peer->ep.proc = joint_number(impi->joint, rank);
    peer->host = impi->hosts[joint_proc(impi->joint, rank)->host];
    peer->rank = rank;
    list_init(&peer->owing_link);
    impi->peers[rank] = peer;
    return peer;
}

static int impi_connect(struct net *net, int proc, struct net_ep **out)
{
    struct impi *impi = impi_of(net);
    struct impi_peer *peer = impi_peer(impi, joint_rank(impi->joint, proc));

    if (!peer)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    *out = &peer->ep;
    return 0;
}

static void impi_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct impi *impi = impi_of(ep->net);

    *in = impi->told;
    *out = impi->heard;
}

static struct pace *impi_pace(struct net_ep *ep)
{
    return &impi_of(ep->net)->pace;
}

static void impi_wake(struct net_ep *ep)
{
    (void)ep;
}

/* --- the end --- */

void impi_end(struct impi_host *host, int rc)
{
    struct impi *impi = host->impi;
    const int fd = host->fd;

    if (host->state == IMPI_ENDED)
        return;
    host->state = IMPI_ENDED;
    impi->live--;
    atomic_store_explicit(&host->fd, -1, memory_order_relaxed);
    if (fd >= 0)
        close(fd);
    impi_drop_output(host);
    impi_drop_input(host);
    host->rc = rc;
    host->is_broken = rc && !host->is_leaving;
    if (rc)
        list_append(&impi->lost, &host->lost_link);
}

static void toll(struct impi *impi)
{
    if (impi->knell >= 0)
        close(impi->knell);
    impi->knell = -1;
    impi->config.broken(impi->config.arg, impi->first_lost);
}

static void start_knell(struct impi *impi, int proc)
{
    const struct itimerspec once = { .it_value.tv_nsec = IMPI_KNELL_MS * 1000000L };

    if (impi->has_tolled || !impi->config.broken)
        return;
    impi->has_tolled = true;
    impi->first_lost = proc;
    impi->knell = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (impi->knell < 0 || timerfd_settime(impi->knell, 0, &once, NULL) ||
        impi_watch(impi, impi->knell, &impi->knell_watch, false))
        toll(impi);
}

/* Each of its processes, once. */
static int tell_lost(struct impi *impi)
{
    int count = 0;

    while (!list_is_empty(&impi->lost)) {
        const struct impi_host *host = CONTAINER_OF(impi->lost.next, struct impi_host, lost_link);
        const struct joint_host *entry = joint_host(impi->joint, host->index);

        list_remove(impi->lost.next);
        for (uint32_t i = 0; i < entry->procs; i++, count++)
            impi->config.lost(impi->config.arg, joint_number(impi->joint, (int)(entry->first_rank + i)), host->rc);
        if (host->is_broken)
            start_knell(impi, joint_number(impi->joint, (int)entry->first_rank));
    }
    return count;
}

bool impi_is_connected(struct net *net, int *rc)
{
    const struct impi *impi = impi_of(net);

    *rc = impi->connect_rc;
    return !impi->missing || impi->connect_rc;
}

bool impi_is_linked(struct net *net, int proc, int *rc)
{
    const struct impi *impi = impi_of(net);
    const int rank = joint_rank(impi->joint, proc);
    const bool is_linked = impi->hosts[joint_proc(impi->joint, rank)->host]->state >= IMPI_UP;

    *rc = is_linked ? 0 : impi->connect_rc;
    return is_linked || *rc;
}

static void leave_step(struct impi *impi)
{
    for (uint32_t i = 0; i < impi->joint->hosts; i++) {
        struct impi_host *host = impi->hosts[i];

        if (!host || host->state != IMPI_UP)
            continue;
        if (!host->has_left)
            (void)impi_say_fini(host); /* without memory: the next time */
        impi_end_if_done(host);
    }
}

void impi_leave(struct net *net)
{
    struct impi *impi = impi_of(net);

    if (impi->is_leaving)
        return;
    impi->is_leaving = true;
    leave_step(impi);
}

bool impi_has_left(struct net *net, int *rc)
{
    const struct impi *impi = impi_of(net);

    *rc = 0;
    for (uint32_t i = 0; i < impi->joint->hosts && !*rc; i++) {
        if (impi->hosts[i] && impi->hosts[i]->is_broken)
            *rc = impi->hosts[i]->rc;
    }
    return !impi->live;
}

/* --- polling --- */

static int take_event(struct impi *impi, const struct epoll_event *event)
{
    struct impi_watch *watch = event->data.ptr;
    struct impi_caller *caller;
    struct impi_host *host;

    switch (watch->kind) {
    case IMPI_WATCH_PORT:
        impi_link_accept(impi);
        return 1;
    case IMPI_WATCH_TIMER:
        if (impi->timer >= 0)
            impi_link_tick(impi);
        return 0;
    case IMPI_WATCH_KNELL:
        if (impi->knell >= 0)
            toll(impi);
        return 0;
    case IMPI_WATCH_CALLER:
        caller = (struct impi_caller *)(void *)watch;
        if (caller->fd >= 0) /* else an earlier event has sent it away */
            impi_link_hear(impi, caller);
        return 1;
    case IMPI_WATCH_HOST:
        break;
    }
    host = (struct impi_host *)(void *)watch;
    if (host->state == IMPI_CONNECTING) {
        impi_link_connected(host);
        return 1;
    }
    if (event->events & EPOLLOUT)
        impi_flush(host);
    return impi_receive(host) + ((event->events & EPOLLOUT) != 0);
}

static int impi_poll(struct net *net)
{
    struct impi *impi = impi_of(net);
    struct epoll_event events[EVENTS];
    const int count = ready_look(impi->epoll, events, EVENTS);
    int taken = 0;

    for (int i = 0; i < count; i++)
        taken += take_event(impi, &events[i]);
    if (unlikely(!list_is_empty(&impi->stalled)))
        taken += impi_retry_stalled(impi);
    if (unlikely(impi->is_leaving))
        leave_step(impi);
    if (unlikely(!list_is_empty(&impi->lost)))
        taken += tell_lost(impi);
    return taken;
}

static int impi_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct impi_host *host = impi_peer_of(ep)->host;
    struct impi *impi = host->impi;

    (void)done;
    if (unlikely(host->state != IMPI_UP || host->watches_output || !list_is_empty(&impi->stalled) ||
                 !list_is_empty(&impi->lost) || impi->is_leaving))
        return impi_poll(&impi->net);
    return impi_receive(host);
}

static bool impi_is_silent(const struct net_ep *ep)
{
    const struct impi_host *host = impi_peer_of(ep)->host;
    const int fd = atomic_load_explicit(&host->fd, memory_order_relaxed);
    int bytes = 0;

    return fd < 0 || ioctl(fd, FIONREAD, &bytes) || !bytes;
}

static int impi_wait_fd(struct net *net)
{
    return impi_of(net)->epoll;
}

const struct net_ops impi_ops = {
    .name = "impi",
    .close = impi_close,
    .connect = impi_connect,
    .wishes = impi_wishes,
    .pace = impi_pace,
    .wake = impi_wake,
    .poll = impi_poll,
    .poll_ep = impi_poll_ep,
    .is_silent = impi_is_silent,
    .wait_fd = impi_wait_fd,
    .take = net_take_nothing,
    .can_copy = net_cannot_copy,
};
