/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Messages between hosts. Who sends connects to the other's listener at the first message and uses
 * that connection in its direction alone; answers go through one of their own. Nothing blocks: what the system does
 * not take waits in a queue.
 *
 * A thread sleeps on all sockets and wakes whoever waits in the engine; it touches nothing else. Reading and
 * writing are done by polls. What the bytes mean is in int_stream.h. The end of the stream says that the sender has
 * ended; the reader closes in answer. */
#include "p4/int_remote.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/list.h"
#include "base/mem.h"
#include "p4/int_door.h"
#include "p4/int_start.h"
#include "p4/int_stream.h"

/* A message on its way out. */
struct out {
    struct list link;
    unsigned char head[STREAM_HEAD];
    const char *data;
    size_t len, sent; /* bytes of the message; of head and message together */
    void (*gone)(void *arg);
    void *arg;
    char copy[];
};

/* To one process. */
struct way {
    int fd;
    bool is_shut;
    struct list queue; /* of struct out */
};

/* From one. */
struct source {
    int fd;
    struct stream in;
};

static struct {
    int listener, epoll, stop;       /* stop: an eventfd that ends the thread */
    pthread_t thread;
    bool has_thread;
    _Atomic bool has_news;
    struct way *way[P4_MAXPROCS];    /* by id; NULL: nothing has been sent there */
    struct source *source[P4_MAXPROCS];
    int source_count;
    bool is_ending;                  /* nothing will be sent any more */
    bool is_failed[P4_MAXPROCS];     /* it cannot be reached any more */
    bool is_ended[P4_MAXPROCS];      /* it has sent the end of its stream */
} net = { .listener = -1, .epoll = -1 };

/* --- who is there --- */

/* Whoever has ended has been read to the end, if it ever sent something; see remote_end. */
bool remote_is_gone(int id)
{
    if (net.is_failed[id] || net.is_ended[id])
        return true;
    if (!atomic_load_explicit(&control->peer[id].is_gone, memory_order_acquire)) /* pairs with keeper_heard_gone */
        return false;
    for (int i = 0; i < net.source_count; i++) {
        if (net.source[i]->in.id == id)
            return false;
    }
    return true;
}

bool remote_is_unlike(int id)
{
    return control->peer[id].is_unlike;
}

static void watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd };

    if (epoll_ctl(net.epoll, EPOLL_CTL_ADD, fd, &event))
        p4_fail("E0618: a socket cannot be watched: %s", strerror(errno));
}

/* --- out --- */

static void drop_first(struct way *way)
{
    struct out *out = CONTAINER_OF(list_first(&way->queue), struct out, link);

    list_remove(&out->link);
    if (out->gone)
        out->gone(out->arg);
    mem_free(out);
}

/* What is queued is lost; who it was for does not miss it any more. */
static void fail_way(int id)
{
    struct way *way = net.way[id];

    net.is_failed[id] = true;
    while (!list_is_empty(&way->queue))
        drop_first(way);
    if (way->fd >= 0)
        close(way->fd);
    way->fd = -1;
}

/* One write of what is first in the queue; false: nothing more goes now. */
static bool write_some(int id)
{
    struct way *way = net.way[id];
    struct out *out = CONTAINER_OF(list_first(&way->queue), struct out, link);
    const size_t of_head = out->sent < STREAM_HEAD ? STREAM_HEAD - out->sent : 0;
    const size_t of_data = out->sent - (STREAM_HEAD - of_head);
    struct iovec parts[2] = { { out->head + STREAM_HEAD - of_head, of_head },
                              { (void *)(uintptr_t)(out->data + of_data), out->len - of_data } };
    const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    const ssize_t sent = sendmsg(way->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ENOTCONN)
            fail_way(id);
        return false;
    }
    out->sent += (size_t)sent;
    if (out->sent == STREAM_HEAD + out->len)
        drop_first(way);
    return true;
}

static int write_all(int id)
{
    int events = 0;

    while (net.way[id]->fd >= 0 && !list_is_empty(&net.way[id]->queue) && write_some(id))
        events++;
    return events;
}

static int connect_to(int id)
{
    const struct host_peer *peer = &control->peer[id];
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
    struct addrinfo *to = NULL;
    const int yes = 1;
    int fd = -1;

    if (!getaddrinfo(peer->address, peer->port, &hints, &to))
        fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) && errno != EINPROGRESS) {
        close(fd);
        fd = -1;
    }
    if (to)
        freeaddrinfo(to);
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static struct out *out_create(const char *data, size_t len, bool is_copied)
{
    struct out *out = mem_alloc(sizeof *out + (is_copied ? len : 0));

    if (!out)
        return NULL;
    out->data = data;
    out->len = len;
    out->sent = 0;
    out->gone = NULL;
    if (is_copied && len)
        out->data = memcpy(out->copy, data, len);
    return out;
}

/* The way to a process, made at the first message; NULL: no memory. Failures are noted. */
static struct way *way_to(int id)
{
    struct way *way = net.way[id];
    struct out *hello;

    if (likely(way))
        return way;
    way = mem_alloc(sizeof *way);
    hello = out_create(NULL, 0, false);
    if (!way || !hello) {
        mem_free(way);
        mem_free(hello);
        return NULL;
    }
    *way = (struct way){ .fd = connect_to(id) };
    list_init(&way->queue);
    stream_hello(hello->head, p4_own.id);
    list_append(&way->queue, &hello->link);
    net.way[id] = way;
    if (way->fd < 0)
        fail_way(id);
    else
        watch(way->fd);
    return way;
}

int remote_send(int to, const struct envelope *e, const void *data, size_t len, void (*gone)(void *arg), void *arg)
{
    struct way *way;
    struct out *out;

    message_lock();
    way = remote_is_gone(to) ? NULL : way_to(to);
    out = way && way->fd >= 0 ? out_create(data, len, !gone) : NULL;
    if (out) {
        stream_head(out->head, e, len);
        out->gone = gone;
        out->arg = arg;
        list_append(&way->queue, &out->link);
        write_all(to);
    }
    message_unlock();
    return out ? 0 : -1;
}

/* --- in --- */

static void accept_all(void)
{
    int fd;

    while ((fd = accept4(net.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct source *s = net.source_count < P4_MAXPROCS ? mem_zalloc(sizeof *s) : NULL;
        if (!s) {
            close(fd);
            continue;
        }
        s->fd = fd;
        stream_init(&s->in);
        net.source[net.source_count++] = s;
        watch(fd);
    }
}

/* What one read gives; false: there is nothing more now, or ever, and then *is_over. */
static bool read_some(struct source *s, bool *is_over)
{
    size_t room;
    void *place = stream_next(&s->in, &room);
    const ssize_t got = recv(s->fd, place, room, 0);

    if (got <= 0)
        *is_over = got == 0 || (errno != EAGAIN && errno != EINTR);
    else
        *is_over = !stream_take(&s->in, (size_t)got);
    return got > 0 && !*is_over;
}

static void end_source(int i)
{
    struct source *s = net.source[i];

    if (s->in.id >= 0)
        net.is_ended[s->in.id] = true;
    close(s->fd);
    mem_free(s);
    net.source[i] = net.source[--net.source_count];
}

static int read_all(void)
{
    int events = 0;

    for (int i = net.source_count - 1; i >= 0; i--) {
        bool is_over = false;
        while (read_some(net.source[i], &is_over))
            events++;
        if (is_over)
            end_source(i);
    }
    return events;
}

/* --- the end --- */

void remote_end(void)
{
    if (net.listener < 0)
        return;
    net.is_ending = true;
    atomic_store(&net.has_news, true);
}

/* All that goes to this process has been written: tell it so, and see whether it has read it. */
static void close_way(int id)
{
    struct way *way = net.way[id];
    char byte;
    ssize_t got;

    if (!way->is_shut)
        shutdown(way->fd, SHUT_WR);
    way->is_shut = true;
    got = recv(way->fd, &byte, 1, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN)) {
        close(way->fd);
        way->fd = -1;
    }
}

bool remote_is_pending(void)
{
    for (int id = 0; net.listener >= 0 && id < p4_own.total; id++) {
        const struct way *way = net.way[id];
        if (way && way->fd >= 0 && (net.is_ending || !list_is_empty(&way->queue)))
            return true;
    }
    return false;
}

void remote_give_up(void)
{
    if (net.listener < 0)
        return;
    message_lock();
    for (int id = 0; id < p4_own.total; id++) {
        if (net.way[id] && net.way[id]->fd >= 0 && remote_is_gone(id))
            fail_way(id);
    }
    message_unlock();
}

void remote_forked(void)
{
    if (net.listener < 0)
        return;
    close(net.listener);
    close(net.epoll);
    close(net.stop);
    for (int i = 0; i < net.source_count; i++)
        close(net.source[i]->fd);
    for (int id = 0; id < p4_own.total; id++) {
        if (net.way[id] && net.way[id]->fd >= 0)
            close(net.way[id]->fd);
    }
    net.listener = -1;
    net.has_thread = false;
}

/* --- news --- */

static int poll_net(void *arg)
{
    int events = 0;

    (void)arg;
    if (likely(!atomic_load_explicit(&net.has_news, memory_order_relaxed)))
        return 0;
    /* sequentially consistent: what is found later is told of again */
    atomic_exchange(&net.has_news, false);
    message_lock();
    accept_all();
    events += read_all();
    for (int id = 0; id < p4_own.total; id++) {
        if (!net.way[id] || net.way[id]->fd < 0)
            continue;
        events += write_all(id);
        if (net.is_ending && net.way[id]->fd >= 0 && list_is_empty(&net.way[id]->queue))
            close_way(id);
    }
    message_unlock();
    return events;
}

static void *listen_for_news(void *arg)
{
    struct epoll_event events[16];

    (void)arg;
    for (;;) {
        const int count = epoll_wait(net.epoll, events, ARRAY_LEN(events), -1);
        if (count < 0 && errno != EINTR)
            return NULL;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == net.stop)
                return NULL;
        }
        atomic_store(&net.has_news, true);
        door->wake_up();
    }
}

void remote_open(int listener)
{
    net.listener = listener;
    net.epoll = epoll_create1(EPOLL_CLOEXEC);
    net.stop = eventfd(0, EFD_CLOEXEC);
    if (net.epoll < 0 || net.stop < 0 || fcntl(listener, F_SETFL, O_NONBLOCK))
        p4_fail("E0618: sockets cannot be watched: %s", strerror(errno));
    watch(listener);
}

void remote_start(void)
{
    struct epoll_event stop = { .events = EPOLLIN, .data.fd = net.stop };
    sigset_t all, before;
    int rc;

    if (net.listener < 0)
        return;
    door->add_poll(poll_net, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = epoll_ctl(net.epoll, EPOLL_CTL_ADD, net.stop, &stop) ? errno : 0;
    if (!rc)
        rc = pthread_create(&net.thread, NULL, listen_for_news, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        p4_fail("E0618: no thread to watch sockets: %s", strerror(rc));
    net.has_thread = true;
}

void remote_stop(void)
{
    const uint64_t one = 1;

    if (net.has_thread && write(net.stop, &one, sizeof one) == sizeof one)
        pthread_join(net.thread, NULL);
    net.has_thread = false;
}
