/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -client: what it takes from the environment and the system: the way to the server, what opens its door, where
 * the ranks listen, limits for the others. */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_labels.h"

enum { BACKLOG = 4096, MAXLEN = 65536, ACKMARK = 10, HIWATER = 20, MAXLEN_MOST = 1 << 30 };

/* "10.0.0.5:40123" */
static struct sockaddr_in read_server(const char *text)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    const char *colon = strrchr(text, ':');
    char address[INET_ADDRSTRLEN] = "", *end = NULL;
    long port = 0;

    if (colon && (size_t)(colon - text) < sizeof address) {
        memcpy(address, text, (size_t)(colon - text));
        port = strtol(colon + 1, &end, 10);
    }
    if (!strcmp(address, "localhost"))
        strcpy(address, "127.0.0.1");
    if (!end || *end || end == colon + 1 || port < 1 || port > UINT16_MAX ||
        inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die(EXIT_USAGE, "E0101: -client: \"%s\" is not an address and port as impi-server prints them, such as "
            "10.0.0.5:40123", text);
    to.sin_port = htons((uint16_t)port);
    return to;
}

int client_dial(const char *server, char text[32])
{
    const struct sockaddr_in to = read_server(server);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

    snprintf(text, 32, "%s", server);
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no socket: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS)
        die(EXIT_SYSTEM, "E1202: the IMPI server at %s cannot be reached: %s", server, strerror(errno));
    return fd;
}

/* A whole number from a variable; `standard` if it is not set. */
static int64_t read_variable(const char *name, int64_t standard, int64_t min, int64_t max)
{
    const char *text = getenv(name);
    char *end;
    long long value;

    if (!text || !*text)
        return standard;
    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno || *end || end == text || value < min || value > max)
        die(EXIT_USAGE, "E0101: %s must be a whole number from %lld to %lld", name, (long long)min, (long long)max);
    return value;
}

uint32_t client_methods(int64_t *key)
{
    const uint32_t mask = (getenv("IMPI_AUTH_KEY") ? 1u << IMPI_AUTH_KEY : 0) |
                          (getenv("IMPI_AUTH_NONE") ? 1u << IMPI_AUTH_NONE : 0);

    if (!mask)
        die(EXIT_USAGE, "E1203: no way of authentication is enabled\nset IMPI_AUTH_KEY to the number that the server "
            "has, or IMPI_AUTH_NONE, here as there");
    if (getenv("IMPI_AUTH_KEY") && !*getenv("IMPI_AUTH_KEY"))
        die(EXIT_USAGE, "E0101: IMPI_AUTH_KEY is empty; it must be a whole number");
    *key = read_variable("IMPI_AUTH_KEY", 0, INT64_MIN, INT64_MAX);
    return mask;
}

/* Where the others can reach us: what the user says, or else the address that the server sees. */
static struct in_addr own_address(int to_server)
{
    const char *said = getenv("IMPI_HOST_NAME");
    struct sockaddr_in own = { 0 };
    socklen_t size = sizeof own;

    if (said && *said && inet_pton(AF_INET, said, &own.sin_addr) != 1)
        die(EXIT_USAGE, "E0101: IMPI_HOST_NAME is \"%s\"; it must be an address of this machine, such as 10.0.0.5",
            said);
    if (!said || !*said)
        getsockname(to_server, (struct sockaddr *)&own, &size);
    return own.sin_addr;
}

/* "40000-40100" */
static void read_ports(int *low, int *high)
{
    const char *text = getenv("PARLEY_IMPI_PORTS");
    char rest;

    *low = *high = 0;
    if (text && *text && (sscanf(text, "%d-%d%c", low, high, &rest) != 2 || *low < 1 || *high > UINT16_MAX ||
                          *low > *high))
        die(EXIT_USAGE, "E0101: PARLEY_IMPI_PORTS is \"%s\"; it must be a range of ports, such as 40000-40100", text);
}

/* There, with errno if not. Two programs can have a port at the same time as long as neither listens; then it is the
 * listening that fails for one of them, and its socket has the port for good. */
static int try_listening(const struct sockaddr_in *name)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no socket for a rank: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)name, sizeof *name) || listen(fd, BACKLOG)) {
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* At a port from `*port` up to `high`, or any; *port becomes it. */
static int listen_at(struct in_addr address, int *port, int high)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = address };
    socklen_t size = sizeof name;
    char text[INET_ADDRSTRLEN];
    int fd;

    do {
        name.sin_port = htons((uint16_t)*port);
        fd = try_listening(&name);
    } while (fd < 0 && errno == EADDRINUSE && ++*port <= high);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&name, &size))
        die(EXIT_SYSTEM, "E0106: a rank cannot listen at %s, port %d: %s",
            inet_ntop(AF_INET, &address, text, sizeof text), *port, strerror(errno));
    *port = ntohs(name.sin_port);
    return fd;
}

int *client_listen(int to_server, struct labels_own *own)
{
    const struct in_addr address = own_address(to_server);
    int *fds = need((size_t)own->procs * sizeof *fds), *ports = need((size_t)own->procs * sizeof *ports), low, high;

    read_ports(&low, &high);
    memcpy(own->address + JOINT_ADDRESS_SIZE - sizeof address, &address, sizeof address);
    for (int i = 0; i < own->procs; i++) {
        ports[i] = low;
        fds[i] = listen_at(address, &ports[i], high);
        low = high ? ports[i] + 1 : 0;
        if (high && low > high && i + 1 < own->procs)
            die(EXIT_SYSTEM, "E0106: PARLEY_IMPI_PORTS has not enough free ports for %d ranks", own->procs);
    }
    own->ports = ports;
    return fds;
}

void client_limits(struct labels_own *own)
{
    own->tag_ub = INT32_MAX;
    own->maxlen = (uint32_t)read_variable("PARLEY_IMPI_MAXLEN", MAXLEN, 1, MAXLEN_MOST);
    own->hiwater = (uint32_t)read_variable("PARLEY_IMPI_HIWATER", HIWATER, 1, INT32_MAX);
    own->ackmark = (uint32_t)read_variable("PARLEY_IMPI_ACKMARK", own->hiwater < ACKMARK ? own->hiwater : ACKMARK, 1,
                                           own->hiwater);
    own->xsize = (int32_t)read_variable("PARLEY_IMPI_XSIZE", -1, -1, INT32_MAX);
    own->maxlinear = (int32_t)read_variable("PARLEY_IMPI_MAXLINEAR", -1, -1, INT32_MAX);
}
