/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Sockets that processes of other hosts connect to, and where processes of other hosts are. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "p4/int_hosts.h"

enum { BACKLOG = 1024 };

static struct listener {
    int fd;
    char port[8];
} *listeners; /* by place on this host */

/* Of both families where the system has both. */
static int open_socket(int family)
{
    const int no = 0;
    struct sockaddr_storage address = { .ss_family = (sa_family_t)family }; /* any address, any port */
    const socklen_t size = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (!bind(fd, (struct sockaddr *)&address, size) && !listen(fd, BACKLOG))
        return fd;
    close(fd);
    return -1;
}

int hosts_open_listener(char port[8])
{
    int fd = open_socket(AF_INET6);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (fd < 0)
        fd = open_socket(AF_INET);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &size) ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, 8, NI_NUMERICSERV))
        p4_fail("E0617: no socket for other hosts to connect to: %s", strerror(errno));
    return fd;
}

void hosts_listen(int count)
{
    listeners = mem_zalloc((size_t)count * sizeof *listeners);
    if (!listeners)
        p4_fail("E0602: no memory for %d sockets", count);
    for (int i = 0; i < count; i++)
        listeners[i].fd = hosts_open_listener(listeners[i].port);
}

const char *hosts_port(int id)
{
    return listeners[id - p4_own.first].port;
}

int hosts_take_listener(int place, int count)
{
    for (int i = 0; i < count; i++) {
        if (i != place)
            close(listeners[i].fd);
    }
    return listeners[place].fd;
}

/* An IPv4 address that came through a socket of both families, as what it is. */
static void set_plain(char *address)
{
    static const char mapped[] = "::ffff:";

    if (!strncmp(address, mapped, sizeof mapped - 1) && strchr(address, '.'))
        memmove(address, address + sizeof mapped - 1, strlen(address) - sizeof mapped + 2);
}

static bool name_of(const struct sockaddr *from, socklen_t length, char *address, size_t size)
{
    if (getnameinfo(from, length, address, (socklen_t)size, NULL, 0, NI_NUMERICHOST))
        return false;
    set_plain(address);
    return true;
}

/* A datagram socket that is connected knows the address that it would send from; nothing is sent. */
static bool ask_route(const struct addrinfo *to, char *address, size_t size)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    const int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_known;

    is_known = fd >= 0 && !connect(fd, to->ai_addr, to->ai_addrlen) &&
               !getsockname(fd, (struct sockaddr *)&own, &length) &&
               name_of((struct sockaddr *)&own, length, address, size);
    if (fd >= 0)
        close(fd);
    return is_known;
}

void hosts_own_address(const char *host, char *address, size_t size)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
    struct addrinfo *found = NULL;
    bool is_known = false;

    if (!getaddrinfo(host, "9", &hints, &found)) {
        for (const struct addrinfo *to = found; to && !is_known; to = to->ai_next)
            is_known = ask_route(to, address, size);
        freeaddrinfo(found);
    }
    if (!is_known && (gethostname(address, size) || !*address))
        snprintf(address, size, "127.0.0.1");
}

void hosts_peer_address(int fd, char *address, size_t size)
{
    struct sockaddr_storage theirs, ours;
    socklen_t length = sizeof theirs, own_length = sizeof ours;
    char own[56] = "";

    snprintf(address, size, "-");
    if (getpeername(fd, (struct sockaddr *)&theirs, &length) ||
        !name_of((struct sockaddr *)&theirs, length, address, size))
        return;
    if (getsockname(fd, (struct sockaddr *)&ours, &own_length) ||
        !name_of((struct sockaddr *)&ours, own_length, own, sizeof own))
        return;
    if (!strcmp(address, own)) /* from this very host */
        snprintf(address, size, "-");
}

void hosts_set_peer(int id, const char *address, const char *port, const char *form)
{
    struct host_peer *peer = &control->peer[id];

    snprintf(peer->address, sizeof peer->address, "%s", address);
    snprintf(peer->port, sizeof peer->port, "%s", port);
    peer->is_unlike = strcmp(form, HOSTS_FORM) != 0;
}
