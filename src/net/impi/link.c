/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. Connections come up: of each pair of hosts the one with the higher index connects to the other and
 * says its index. All are made at the start, since others may wait for them, and both ways at the same time, so that
 * nobody waits for anybody in a ring. What else comes to the door is sent away, and does not hold up the rest.
 * Knows: base, sys (the joint table). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/setting.h"
#include "net/impi/int_impi.h"
#include "sys/descriptor.h"

static struct setting timeout_setting = {
    .name = "IMPI_TIMEOUT",
    .help = "seconds until connecting to the other clients of a joint job is given up",
    .topic = "network",
    .kind = SETTING_INT,
    .value = 60,
    .min = 1,
    .max = 1000000,
};
SETTING_LISTED(timeout_setting);

static struct setting address_setting = {
    .name = "IMPI_CHECK_ADDRESS",
    .help = "whether hosts of other clients must connect from the address at which they listen",
    .topic = "network",
    .kind = SETTING_BOOL,
    .value = 1,
};
SETTING_LISTED(address_setting);

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

/* Both ways of writing an IPv4 address into 16 bytes. */
static bool is_v4(const unsigned char bytes[JOINT_ADDRESS_SIZE])
{
    static const unsigned char zeros[12], mapped[12] = { [10] = 0xff, [11] = 0xff };

    return !memcmp(bytes, zeros, 12) || !memcmp(bytes, mapped, 12);
}

static socklen_t address_of(const struct joint_host *host, union address *out, bool has_port)
{
    const in_port_t port = has_port ? htons((uint16_t)host->port) : 0;

    memset(out, 0, sizeof *out);
    if (is_v4(host->address)) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = port;
        memcpy(&out->v4.sin_addr, host->address + 12, 4);
        return sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = port;
    memcpy(&out->v6.sin6_addr, host->address, 16);
    return sizeof out->v6;
}

static const struct joint_host *entry(const struct impi *impi, int index)
{
    return joint_host(impi->joint, index);
}

const char *impi_host_text(const struct impi_host *host, char text[IMPI_HOST_TEXT])
{
    const struct joint_host *at = entry(host->impi, host->index);
    char name[INET6_ADDRSTRLEN] = "?", ranks[40];
    const bool is_old = is_v4(at->address);

    inet_ntop(is_old ? AF_INET : AF_INET6, at->address + (is_old ? 12 : 0), name, sizeof name);
    if (at->procs == 1)
        snprintf(ranks, sizeof ranks, "rank %u", at->first_rank);
    else
        snprintf(ranks, sizeof ranks, "the host of ranks %u to %u", at->first_rank, at->first_rank + at->procs - 1);
    snprintf(text, IMPI_HOST_TEXT, "%s, of client %u (%s port %u),", ranks, at->client, name, at->port);
    return text;
}

int impi_system_error(const char *what)
{
    return err(MPI_ERR_OTHER, "E1240: %s: %s", what, strerror(errno));
}

/* --- both sides --- */

/* The connection stands. */
static void adopt(struct impi_host *host, int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    atomic_store_explicit(&host->fd, fd, memory_order_relaxed);
    host->state = IMPI_UP;
    host->impi->missing--;
    if (impi_watch(host->impi, fd, &host->watch, false))
        impi_end(host, impi_system_error("a connection cannot be watched"));
}

/* Nobody else is expected. */
static void end_linking(struct impi *impi)
{
    for (int i = 0; i < IMPI_CALLERS; i++) {
        if (impi->callers[i].fd >= 0)
            close(impi->callers[i].fd);
        impi->callers[i].fd = -1;
    }
    if (impi->listener >= 0) {
        (void)epoll_ctl(impi->epoll, EPOLL_CTL_DEL, impi->listener, NULL);
        (void)shutdown(impi->listener, SHUT_RDWR); /* it listens no more */
    }
    if (impi->timer >= 0)
        close(impi->timer);
    impi->listener = impi->timer = -1;
}

/* --- connecting --- */

static void try_failed(struct impi_host *host, int fd, const char *what)
{
    snprintf(host->failure, sizeof host->failure, "%s: %s", what, strerror(errno));
    if (fd >= 0)
        close(fd);
    atomic_store_explicit(&host->fd, -1, memory_order_relaxed);
    host->state = IMPI_TO_TRY;
}

/* From the address at which this process listens, by which others may know it; where that is none of this machine (it
 * may be that of a gateway), from any. */
static void bind_own(const struct impi *impi, int fd)
{
    union address own;
    const socklen_t size = address_of(entry(impi, impi->own), &own, false);

    (void)bind(fd, &own.any, size);
}

static void try(struct impi_host *host)
{
    struct impi *impi = host->impi;
    union address to;
    const socklen_t size = address_of(entry(impi, host->index), &to, true);
    const int fd = descriptor_apart(socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

    if (fd < 0) {
        try_failed(host, fd, "socket");
        return;
    }
    bind_own(impi, fd);
    if (connect(fd, &to.any, size) && errno != EINPROGRESS) {
        try_failed(host, fd, "connect");
        return;
    }
    atomic_store_explicit(&host->fd, fd, memory_order_relaxed);
    host->state = IMPI_CONNECTING;
    if (impi_watch(impi, fd, &host->watch, true))
        try_failed(host, fd, "epoll");
}

void impi_link_connected(struct impi_host *host)
{
    const int fd = host->fd;
    unsigned char index[IMPI_INDEX_SIZE];
    const int error = descriptor_connected(fd);

    if (error) {
        errno = error;
        try_failed(host, fd, "connect");
        return;
    }
    impi_index_write((uint32_t)host->impi->own, index);
    if (send(fd, index, sizeof index, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof index) {
        try_failed(host, fd, "send");
        return;
    }
    adopt(host, fd);
    if (!host->impi->missing)
        end_linking(host->impi);
}

/* --- being connected to --- */

static void send_away(struct impi_caller *caller, struct impi *impi, const char *why)
{
    snprintf(impi->stranger, sizeof impi->stranger, "; somebody who %s was sent away", why);
    close(caller->fd);
    caller->fd = -1;
}

void impi_link_accept(struct impi *impi)
{
    for (int i = 0; i < IMPI_CALLERS && impi->listener >= 0; i++) {
        struct impi_caller *caller = &impi->callers[i];

        if (caller->fd >= 0)
            continue;
        caller->fd = descriptor_apart(accept4(impi->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (caller->fd < 0)
            return;
        caller->got = 0;
        caller->ticks = 0;
        if (impi_watch(impi, caller->fd, &caller->watch, false))
            send_away(caller, impi, "came when there was no memory");
    }
}

static bool is_from(int fd, const struct joint_host *host)
{
    union address from, to;
    socklen_t size = sizeof from;

    (void)address_of(host, &to, false);
    if (getpeername(fd, &from.any, &size))
        return false;
    if (from.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&from.v6.sin6_addr) && to.any.sa_family == AF_INET)
        return !memcmp((const char *)&from.v6.sin6_addr + 12, &to.v4.sin_addr, 4);
    if (from.any.sa_family != to.any.sa_family)
        return false;
    if (to.any.sa_family == AF_INET)
        return from.v4.sin_addr.s_addr == to.v4.sin_addr.s_addr;
    return !memcmp(&from.v6.sin6_addr, &to.v6.sin6_addr, sizeof to.v6.sin6_addr);
}

/* Why a caller with this index is none that is expected; NULL: it is. */
static const char *check_caller(const struct impi *impi, const struct impi_caller *caller, uint32_t index)
{
    if (index >= impi->joint->hosts || !impi->hosts[index])
        return "said a host that is not there";
    if (impi->hosts[index]->state != IMPI_EXPECTED)
        return "said a host that is not expected";
    if (address_setting.value && !is_from(caller->fd, entry(impi, (int)index)))
        return "came from another address than the host that it said (PARLEY_IMPI_CHECK_ADDRESS)";
    return NULL;
}

void impi_link_hear(struct impi *impi, struct impi_caller *caller)
{
    const ssize_t got = recv(caller->fd, caller->index + caller->got, IMPI_INDEX_SIZE - caller->got, MSG_DONTWAIT);
    const char *wrong;
    uint32_t index;
    int fd;

    if (got <= 0) {
        if (!got || (errno != EAGAIN && errno != EINTR))
            send_away(caller, impi, "said nothing");
        return;
    }
    caller->got += (uint32_t)got;
    if (caller->got < IMPI_INDEX_SIZE)
        return;
    index = impi_index_read(caller->index);
    wrong = check_caller(impi, caller, index);
    if (wrong) {
        send_away(caller, impi, wrong);
        return;
    }
    fd = caller->fd;
    caller->fd = -1;
    adopt(impi->hosts[index], fd);
    if (!impi->missing)
        end_linking(impi);
}

/* --- time passes --- */

static void give_up(struct impi *impi)
{
    char text[IMPI_HOST_TEXT];

    for (uint32_t i = 0; i < impi->joint->hosts && !impi->connect_rc; i++) {
        const struct impi_host *host = impi->hosts[i];

        if (host && host->state == IMPI_EXPECTED)
            impi->connect_rc = err(MPI_ERR_OTHER, "E1240: %s has not connected to this process in %ld s%s",
                                   impi_host_text(host, text), timeout_setting.value, impi->stranger);
        else if (host && host->state < IMPI_UP)
            impi->connect_rc = err(MPI_ERR_OTHER, "E1240: %s could not be reached in %ld s; the last try: %s",
                                   impi_host_text(host, text), timeout_setting.value,
                                   *host->failure ? host->failure : "no answer");
    }
    end_linking(impi);
}

/* A tick is counted when it is looked at, so whoever was stopped has not waited meanwhile. */
void impi_link_tick(struct impi *impi)
{
    uint64_t ticks;

    if (read(impi->timer, &ticks, sizeof ticks) != sizeof ticks)
        return;
    for (uint32_t i = 0; i < impi->joint->hosts; i++) {
        if (impi->hosts[i] && impi->hosts[i]->state == IMPI_TO_TRY)
            try(impi->hosts[i]);
    }
    for (int i = 0; i < IMPI_CALLERS; i++) {
        struct impi_caller *caller = &impi->callers[i];
        if (caller->fd >= 0 && ++caller->ticks > IMPI_CALLER_TICKS)
            send_away(caller, impi, "said nothing for long");
    }
    impi_link_accept(impi); /* there may be room for one more now */
    if (++impi->ticks > timeout_setting.value * (1000 / IMPI_TICK_MS))
        give_up(impi);
}

static int start_timer(struct impi *impi)
{
    const struct itimerspec every = { .it_interval.tv_nsec = IMPI_TICK_MS * 1000000, .it_value.tv_nsec = 1 };

    impi->timer = descriptor_apart(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (impi->timer < 0 || timerfd_settime(impi->timer, 0, &every, NULL) ||
        impi_watch(impi, impi->timer, &impi->timer_watch, false))
        return impi_system_error("no timer");
    return 0;
}

int impi_link_open(struct impi *impi)
{
    int rc = setting_read(&timeout_setting);

    if (!rc)
        rc = setting_read(&address_setting);
    for (int i = 0; i < IMPI_CALLERS; i++)
        impi->callers[i] = (struct impi_caller){ .watch = { IMPI_WATCH_CALLER }, .fd = -1 };
    if (!rc && impi->missing)
        rc = start_timer(impi);
    if (!rc && impi->missing && impi->listener >= 0 &&
        impi_watch(impi, impi->listener, &impi->port_watch, false))
        rc = impi_system_error("the listener cannot be watched");
    if (!rc && !impi->missing)
        end_linking(impi);
    return rc;
}

void impi_link_close(struct impi *impi)
{
    end_linking(impi);
}
