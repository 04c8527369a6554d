/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: the place where the clients of an IMPI job meet. It prints one line, address and port, to stdout, lets
 * in as many clients as it was told, gives to all what each contributes, and lives until every client has said that it
 * ended. One thread, one poll loop; a silent connection holds nobody up. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "server.h"

static void write_line(const char *text, va_list arguments)
{
    char line[512] = "impi-server: ";
    const size_t begin = strlen(line);

    vsnprintf(line + begin, sizeof line - begin - 1, text, arguments);
    fprintf(stderr, "%s\n", line);
}

void say(const char *text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    write_line(text, arguments);
    va_end(arguments);
}

void die(const char *text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    write_line(text, arguments);
    va_end(arguments);
    exit(1);
}

void server_give_up(struct server *server, const char *text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    write_line(text, arguments);
    va_end(arguments);
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->connections[i].state != TALK_FREE)
            connection_close(&server->connections[i]);
    }
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

/* --- the door --- */

/* An address that others may reach: the one it listens at, else the first of this machine that is not its own. */
static struct in_addr own_address(const struct options *options)
{
    struct in_addr found = options->address;
    struct ifaddrs *all = NULL;

    if (found.s_addr != htonl(INADDR_ANY))
        return found;
    found.s_addr = htonl(INADDR_LOOPBACK);
    if (getifaddrs(&all))
        return found;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
            (one->ifa_flags & IFF_LOOPBACK))
            continue;
        found = ((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr;
        break;
    }
    freeifaddrs(all);
    return found;
}

/* Listens, and says where. */
static void open_door(struct server *server)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t)server->options.port),
                                .sin_addr = server->options.address };
    socklen_t len = sizeof name;
    const int yes = 1;
    char text[INET_ADDRSTRLEN];
    struct in_addr own;

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listener < 0)
        die("no socket: %s", strerror(errno));
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->listener, (struct sockaddr *)&name, sizeof name) || listen(server->listener, CONNECTIONS_MAX))
        die("cannot listen at %s port %d: %s", inet_ntop(AF_INET, &name.sin_addr, text, sizeof text),
            server->options.port, strerror(errno));
    getsockname(server->listener, (struct sockaddr *)&name, &len);
    own = own_address(&server->options);
    printf("%s:%d\n", inet_ntop(AF_INET, &own, text, sizeof text), ntohs(name.sin_port));
    if (fflush(stdout))
        die("cannot write the address to stdout: %s", strerror(errno));
}

void server_close_door(struct server *server)
{
    close(server->listener);
    server->listener = -1;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];

        if (connection->state != TALK_FREE && connection->state != TALK_JOINED)
            connection_close(connection);
    }
}

static struct connection *free_connection(struct server *server)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->connections[i].state == TALK_FREE)
            return &server->connections[i];
    }
    return NULL;
}

static void let_in(struct server *server)
{
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    const int fd = accept4(server->listener, (struct sockaddr *)&name, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct connection *connection = free_connection(server);
    char text[INET_ADDRSTRLEN] = "?";
    const int yes = 1;

    if (fd < 0)
        return;
    if (!connection) {
        say("too many connections that do not say who they are; one more is closed");
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    inet_ntop(AF_INET, &name.sin_addr, text, sizeof text);
    *connection = (struct connection){ .fd = fd, .state = TALK_NEW, .since = now() };
    snprintf(connection->peer, sizeof connection->peer, "%s:%d", text, ntohs(name.sin_port));
}

/* --- the loop --- */

/* Newcomers do not stay for ever, and the wait for clients ends, too. Milliseconds until there is something to do here;
 * -1: nothing. */
static int watch_time(struct server *server)
{
    int64_t wake = INT64_MAX;
    const int64_t time = now(), limit = server->start + server->options.timeout * INT64_C(1000);

    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];
        const int64_t end = connection->since + NEWCOMER_SECONDS * INT64_C(1000);

        if (connection->state == TALK_FREE || connection->state == TALK_JOINED)
            continue;
        if (end > time) {
            wake = end < wake ? end : wake;
            continue;
        }
        say("%s is turned away: it has not said who it is within %d seconds", connection->peer, NEWCOMER_SECONDS);
        connection_close(connection);
    }
    if (server->options.timeout && server->listener >= 0) {
        if (time >= limit)
            server_give_up(server, "%d of %d clients came within %d seconds (-timeout); the job cannot start",
                           __builtin_popcount(server->joined), server->options.clients, server->options.timeout);
        wake = limit < wake ? limit : wake;
    }
    return wake == INT64_MAX ? -1 : (int)(wake - time) + 1;
}

static void serve(struct server *server, struct connection *connection, short events)
{
    const bool is_open = !(events & (POLLIN | POLLHUP | POLLERR)) || connection_read(connection);

    talk_input(server, connection);
    if (connection->state != TALK_FREE && !is_open)
        talk_end(server, connection);
}

/* What came for one may be to be sent to all. */
static void flush_all(struct server *server)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];

        if (connection->state != TALK_FREE && !connection_flush(connection))
            talk_end(server, connection);
    }
}

static void wait_and_serve(struct server *server)
{
    struct pollfd polls[CONNECTIONS_MAX + 1];
    const int timeout = watch_time(server);

    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        const struct connection *connection = &server->connections[i];

        polls[i] = (struct pollfd){ connection->state == TALK_FREE ? -1 : connection->fd, POLLIN, 0 };
        if (connection->out_len)
            polls[i].events |= POLLOUT;
    }
    polls[CONNECTIONS_MAX] = (struct pollfd){ server->listener, POLLIN, 0 };
    if (poll(polls, CONNECTIONS_MAX + 1, timeout) <= 0)
        return;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (polls[i].revents && server->connections[i].state != TALK_FREE)
            serve(server, &server->connections[i], polls[i].revents);
    }
    if (server->listener >= 0 && polls[CONNECTIONS_MAX].revents)
        let_in(server);
    flush_all(server);
}

static void go_to_background(void)
{
    const pid_t pid = fork();
    int null;

    if (pid < 0)
        die("cannot go to the background: %s", strerror(errno));
    if (pid)
        _exit(0);
    setsid();
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
}

int main(int argc, char **argv)
{
    static struct server server;

    options_read(&server.options, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        server.connections[i].fd = -1;
    collate_init(&server.collate, server.options.clients);
    server.start = now();
    open_door(&server);
    if (server.options.is_background)
        go_to_background();
    while (server.gone != UINT32_MAX >> (32 - server.options.clients))
        wait_and_serve(&server);
    collate_fini(&server.collate);
    return server.status;
}
