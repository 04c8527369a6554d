/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. The open transport of a lane: contacts, polling, sleeping, the end. Whose address is published is
 * reached without asking; nothing is sent to find out whether a process is there.
 * Knows: base, sys, progress, net. */
#include "net/ofi/ofi.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/err.h"
#include "net/ofi/int_ofi.h"
#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/descriptor.h"
#include "sys/ready.h"

enum {
    TICK_SHORT_NS = 500000,     /* a sleeper looks again after that, if the provider does not wake it; … */
    TICK_LONG_NS = 20000000,    /* … otherwise after that, to be sure */
    CLOSE_MS = 4000,            /* how long a close waits for others that do not answer … */
    CLOSE_STEP_MS = 5,          /* … looking again after that */
};

static struct ofi *ofi_of_net(struct net *net)
{
    return (struct ofi *)(void *)net;
}

static struct ofi_peer *peer_of(const struct net_ep *ep)
{
    return (struct ofi_peer *)(uintptr_t)ep;
}

/* --- opening --- */

static int make_tables(struct ofi *ofi)
{
    ofi->wishes_size = (size_t)ofi->procs * NET_WISHES * sizeof(uint32_t);
    ofi->peers = mem_zalloc((size_t)ofi->procs * sizeof *ofi->peers);
    ofi->wishes = mem_zalloc(3 * ofi->wishes_size);
    if (!ofi->peers || !ofi->wishes)
        return err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", ofi->procs);
    ofi->heard = ofi->wishes + ofi->procs * NET_WISHES;
    ofi->told = (uint32_t *)(void *)(ofi->heard + ofi->procs * NET_WISHES);
    return 0;
}

static int watch(struct ofi *ofi, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return epoll_ctl(ofi->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int set_up(struct ofi *ofi, const struct net_config *config)
{
    int rc = make_tables(ofi);

    if (!rc)
        rc = ofi_hub_open(config, &ofi->hub);
    if (rc)
        return rc;
    ofi->epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    ofi->tick = descriptor_apart(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (ofi->epoll < 0 || ofi->tick < 0 || watch(ofi, ofi->tick) || (ofi->hub->fd >= 0 && watch(ofi, ofi->hub->fd)))
        return errno == EMFILE || errno == ENFILE
                   ? err(MPI_ERR_OTHER, "E0363: a network cannot be watched: %s", strerror(errno))
                   : err(MPI_ERR_OTHER, "a network cannot be watched: %s", strerror(errno));
    return 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* What set_up has made so far, or all of it. */
static void tear_down(struct ofi *ofi)
{
    close_if_open(ofi->epoll);
    close_if_open(ofi->tick);
    for (int proc = 0; ofi->peers && proc < ofi->procs; proc++)
        mem_free(ofi->peers[proc]);
    if (ofi->hub)
        ofi_hub_close(ofi->hub);
    mem_free(ofi->aligned);
    mem_free(ofi->peers);
    mem_free((void *)ofi->wishes);
    mem_free(ofi);
}

static int ofi_open(const struct net_config *config, struct net **out)
{
    struct ofi *ofi = mem_zalloc(sizeof *ofi);
    int rc;

    if (!ofi)
        return err(MPI_ERR_NO_MEM, "no memory for the transport over libfabric");
    ofi->net = (struct net){ .ops = &ofi_ops, .sink = config->sink };
    ofi->proc = config->proc;
    ofi->procs = config->procs;
    ofi->lane = config->lane;
    ofi->tenant = job_proc(config->segment, config->proc)->tenant;
    ofi->epoll = ofi->tick = -1;
    ofi->pace = (struct pace){ .told = &ofi->far[0], .heard = &ofi->far[1] };
    list_init(&ofi->orphans);
    list_init(&ofi->lost);
    list_init(&ofi->pushing);
    rc = set_up(ofi, config);
    if (rc)
        tear_down(ofi);
    else
        *out = &ofi->net;
    return rc;
}

/* --- contacts --- */

static int ofi_connect(struct net *net, int proc, struct net_ep **out)
{
    struct ofi_peer *peer = ofi_peer(ofi_of_net(net), proc);

    if (!peer)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    *out = &peer->ep;
    return 0;
}

static void forget_wishes(struct ofi *ofi, int proc)
{
    for (int i = proc * NET_WISHES; i < (proc + 1) * NET_WISHES; i++) {
        atomic_store_explicit(&ofi->wishes[i], 0, memory_order_relaxed);
        atomic_store_explicit(&ofi->heard[i], 0, memory_order_relaxed);
        ofi->told[i] = 0;
    }
}

/* The first one here may be the new one: the one before was on this machine. */
static void ofi_renew(struct net_ep *ep)
{
    struct ofi_peer *peer = peer_of(ep);
    struct ofi *ofi = ofi_of(peer);
    const uint32_t tenant = job_proc(ofi->hub->segment, ep->proc)->tenant;

    if (peer->state == OFI_OPEN && peer->in_number && peer->tenant == tenant)
        return;
    ofi_lock(ofi->hub);
    ofi_abandon(peer);
    list_remove(&peer->fail_link);
    list_remove(&peer->lost_link);
    if (peer->has_address)
        (void)ofi->hub->av->ops->remove(ofi->hub->av, &peer->address, 1, 0);
    mem_free(peer->in.own);
    peer->in = (struct ofi_in){ 0 };
    peer->state = OFI_OPEN;
    peer->has_address = peer->is_told = peer->awaits_answer = peer->has_heard = peer->owes_answer = false;
    peer->has_left = false;
    peer->fail_rc = 0;
    peer->out_number = peer->in_number = 0;
    peer->tenant = tenant;
    ofi_unlock(ofi->hub);
    forget_wishes(ofi, ep->proc);
    atomic_store_explicit(&ofi->has_input, true, memory_order_relaxed); /* perhaps it has sent something already */
}

static void ofi_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct ofi *ofi = ofi_of(peer_of(ep));

    *in = &ofi->wishes[ep->proc * NET_WISHES];
    *out = &ofi->heard[ep->proc * NET_WISHES];
}

static struct pace *ofi_pace(struct net_ep *ep)
{
    return &ofi_of(peer_of(ep))->pace;
}

static void ofi_wake(struct net_ep *ep)
{
    (void)ep; /* what arrives does */
}

/* --- polling --- */

/* A frame of our own, behind the records. 0; NET_AGAIN; OFI_FORGET: it can never be sent. */
static int say(struct ofi_peer *peer, enum ofi_kind kind, struct net_head head)
{
    struct ofi_hub *hub = ofi_of(peer)->hub;
    int rc = OFI_FORGET;

    ofi_lock(hub);
    if (peer->state == OFI_OPEN && !peer->fail_rc)
        rc = list_is_empty(&peer->directs) ? 0 : NET_AGAIN;
    if (!rc && !peer->has_address)
        rc = ofi_find_address(peer);
    if (!rc)
        rc = ofi_post(peer, kind, head, NULL, 0);
    ofi_unlock(hub);
    return rc;
}

/* Tell the process what is asked of it. */
static void tell_wishes(struct ofi *ofi, int proc)
{
    struct ofi_peer *peer = ofi->peers[proc];
    const int at = proc * NET_WISHES;
    struct net_head head;

    for (int i = 0; i < NET_WISHES; i++)
        head.word[i] = atomic_load_explicit(&ofi->wishes[at + i], memory_order_relaxed);
    if (!memcmp(head.word, (uint64_t[]){ ofi->told[at], ofi->told[at + 1] }, sizeof head.word) || !peer ||
        peer->has_left || say(peer, OFI_WISH, head))
        return;
    for (int i = 0; i < NET_WISHES; i++)
        ofi->told[at + i] = (uint32_t)head.word[i];
}

static NOINLINE void tell_all_wishes(struct ofi *ofi)
{
    for (int proc = 0; proc < ofi->procs; proc++)
        tell_wishes(ofi, proc);
}

static NOINLINE void answer_all(struct ofi *ofi)
{
    ofi->owes_answers = false;
    for (int proc = 0; proc < ofi->procs; proc++) {
        struct ofi_peer *peer = ofi->peers[proc];
        if (!peer || !peer->owes_answer)
            continue;
        peer->owes_answer = say(peer, OFI_BYE_HEARD, (struct net_head){ { 0, 0 } }) == NET_AGAIN;
        ofi->owes_answers = ofi->owes_answers || peer->owes_answer;
    }
}

/* Processes with which it has gone wrong. H. */
static void take_failed(struct ofi *ofi)
{
    struct ofi_hub *hub = ofi->hub;

    LIST_FOR_EACH_SAFE(link, &hub->failed[ofi->lane]) {
        struct ofi_peer *peer = CONTAINER_OF(link, struct ofi_peer, fail_link);
        ofi_end(peer, peer->fail_rc);
    }
    for (int proc = 0; unlikely(hub->is_broken) && proc < ofi->procs; proc++) {
        struct ofi_peer *peer = ofi->peers[proc];
        if (peer && peer->state == OFI_OPEN)
            ofi_end(peer, err(MPI_ERR_OTHER, "E0362: the way to process %d by libfabric's provider %s is broken: %s",
                              proc, hub->provider, hub->why));
    }
}

static NOINLINE int tell_lost(struct ofi *ofi)
{
    const struct net_sink *sink = &ofi->net.sink;
    int events = 0;

    LIST_FOR_EACH_SAFE(link, &ofi->lost) {
        struct ofi_peer *peer = CONTAINER_OF(link, struct ofi_peer, lost_link);
        list_remove(link);
        events++;
        if (sink->lost)
            sink->lost(sink->arg, peer->ep.proc, peer->rc);
    }
    return events;
}

/* What has come for this lane is in its hands from now on. H. */
static void take_inbox(struct ofi *ofi, struct list *taken)
{
    struct list *inbox = &ofi->hub->inbox[ofi->lane];

    ofi_pull(ofi->hub, ofi->lane);
    list_init(taken);
    LIST_FOR_EACH_SAFE(link, inbox) {
        list_remove(link);
        list_append(taken, link);
        CONTAINER_OF(link, struct ofi_parcel, link)->is_taken = true;
    }
}

static int look(struct ofi *ofi)
{
    struct ofi_hub *hub = ofi->hub;
    struct list taken, done;
    int events;

    list_init(&done);
    ofi_lock(hub);
    ofi->is_blocked = false;
    take_inbox(ofi, &taken);
    LIST_FOR_EACH_SAFE(link, &ofi->pushing)
        ofi_push(CONTAINER_OF(link, struct ofi_peer, push_link));
    ofi_unlock(hub);
    events = ofi_receive(ofi, &taken, &done);
    ofi_lock(hub);
    ofi_parcels_free(hub, &done);
    ofi_refill(hub);
    take_failed(ofi);
    ofi_unlock(hub);
    if (unlikely(ofi->owes_answers))
        answer_all(ofi);
    return unlikely(!list_is_empty(&ofi->lost)) ? events + tell_lost(ofi) : events;
}

/* The provider promises to wake whoever sleeps from now on; or a clock does. False: there is something to do. */
static bool may_sleep(struct ofi *ofi)
{
    struct ofi_hub *hub = ofi->hub;
    struct fab_fid *fids[] = { &hub->cq->fid };
    struct itimerspec when = { .it_value.tv_nsec = TICK_LONG_NS };
    bool may = true;

    ofi_lock(hub);
    if (hub->fd >= 0 && !hub->is_broken)
        may = hub->fabric->ops->trywait(hub->fabric, fids, 1) != -EAGAIN;
    if (hub->fd < 0 || ofi->is_blocked || !list_is_empty(&ofi->pushing) || ofi->has_input || ofi->owes_answers)
        when.it_value.tv_nsec = TICK_SHORT_NS;
    ofi_unlock(hub);
    (void)timerfd_settime(ofi->tick, 0, &when, NULL);
    return may;
}

static int ofi_poll(struct net *net)
{
    struct ofi *ofi = ofi_of_net(net);
    int events;

    if (unlikely(memcmp((const void *)ofi->wishes, ofi->told, ofi->wishes_size)))
        tell_all_wishes(ofi);
    events = look(ofi);
    return progress_is_last_look && !events && !may_sleep(ofi) ? 1 : events;
}

static int ofi_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    (void)done; /* what has come with it is handed on as well */
    return look(ofi_of(peer_of(ep)));
}

static bool ofi_is_silent(const struct net_ep *ep)
{
    struct ofi *ofi = ofi_of(peer_of(ep));
    bool is_silent;

    if (atomic_load_explicit(&ofi->has_input, memory_order_relaxed))
        return false;
    if (pthread_mutex_trylock(&ofi->hub->lock))
        return true;
    ofi_pull(ofi->hub, ofi->lane);
    is_silent = list_is_empty(&ofi->hub->inbox[ofi->lane]);
    ofi_unlock(ofi->hub);
    return is_silent;
}

static int ofi_wait_fd(struct net *net)
{
    return ofi_of_net(net)->epoll;
}

/* --- the end --- */

static int drop_arrival(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)arg, (void)proc, (void)head, (void)payload, (void)len;
    return 0;
}

/* How much has to be awaited of this process still. Whoever has said good-bye needs nothing of us but the answer. */
static uint32_t left_with(const struct ofi_peer *peer)
{
    if (peer->state != OFI_OPEN || peer->fail_rc)
        return 0;
    return peer->small_count + peer->big_count + peer->direct_count + peer->owes_answer +
           (!peer->has_left && (!peer->is_told || (peer->awaits_answer && !peer->has_heard)));
}

/* To all that have heard of us, or we of them. Who was sent something has to answer: then it has got it. */
static uint32_t say_bye(struct ofi *ofi)
{
    uint32_t left = 0;

    for (int proc = 0; proc < ofi->procs; proc++) {
        struct ofi_peer *peer = ofi->peers[proc];
        if (!peer || !(peer->out_number || peer->in_number))
            continue;
        if (!peer->is_told && !peer->has_left) {
            peer->awaits_answer = peer->out_number > 0;
            peer->is_told = say(peer, OFI_BYE, (struct net_head){ { peer->awaits_answer, 0 } }) != NET_AGAIN;
        }
        left += left_with(peer);
    }
    return left;
}

/* As long as others take something or answer, and a moment more. */
static void let_go_out(struct ofi *ofi)
{
    uint64_t looked_at = clock_ns(), waited = 0;
    uint32_t before = 0, left;

    while ((left = say_bye(ofi)) && waited < CLOSE_MS * UINT64_C(1000000)) {
        waited = left == before ? waited + clock_waited_ns(&looked_at, clock_ns()) : 0;
        before = left;
        if (!ofi_poll(&ofi->net) && may_sleep(ofi))
            ready_wait(ofi->epoll, CLOSE_STEP_MS);
    }
}

static void ofi_close(struct net *net)
{
    struct ofi *ofi = ofi_of_net(net);
    struct ofi_hub *hub = ofi->hub;

    net->sink = (struct net_sink){ .arrive = drop_arrival };
    let_go_out(ofi);
    ofi_lock(hub);
    for (int proc = 0; proc < ofi->procs; proc++) {
        struct ofi_peer *peer = ofi->peers[proc];
        if (!peer)
            continue;
        ofi_end(peer, 0);
        ofi_abandon(peer);
    }
    ofi_parcels_free(hub, &ofi->orphans);
    ofi_unlock(hub);
    tear_down(ofi);
}

const struct net_ops ofi_ops = {
    .name = "ofi",
    .short_max = OFI_EAGER_MAX,
    .eager_max = OFI_EAGER_MAX,
    .open = ofi_open,
    .close = ofi_close,
    .connect = ofi_connect,
    .renew = ofi_renew,
    .send = ofi_send,
    .send_soon = ofi_send,
    .alloc = ofi_alloc,
    .commit = ofi_commit,
    .release = ofi_release,
    .send_from = ofi_send_from,
    .wishes = ofi_wishes,
    .pace = ofi_pace,
    .wake = ofi_wake,
    .poll = ofi_poll,
    .poll_ep = ofi_poll_ep,
    .is_silent = ofi_is_silent,
    .wait_fd = ofi_wait_fd,
    .take = net_take_nothing,
    .can_copy = net_cannot_copy,
};
