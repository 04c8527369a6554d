/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: connections between two machines, tried out. */
#include "reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "launch.h"
#include "sys/descriptor.h"

enum { TRY_MS = 3000, SERVE_MS = 1000, BACKLOG = 16, WORDS_MAX = 4 + REACH_ADDRESSES };

/* Can others use it? Those of a link need a scope that only this machine knows. */
static bool is_useful(const struct ifaddrs *at, bool with_own)
{
    const struct sockaddr *address = at->ifa_addr;

    if (!address || !(at->ifa_flags & IFF_UP) || (!with_own && at->ifa_flags & IFF_LOOPBACK))
        return false;
    if (address->sa_family == AF_INET6)
        return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return address->sa_family == AF_INET;
}

static void write_address(const struct ifaddrs *at, struct reach_address *address)
{
    const void *bytes = at->ifa_addr->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr;

    inet_ntop(at->ifa_addr->sa_family, bytes, address->text, sizeof address->text);
    snprintf(address->interface, sizeof address->interface, "%s", at->ifa_name);
}

int reach_own_addresses(struct reach_address addresses[REACH_ADDRESSES])
{
    struct ifaddrs *all = NULL;
    int count = 0;

    if (getifaddrs(&all))
        return 0;
    for (int with_own = 0; with_own < 2 && count == 0; with_own++)
        for (const struct ifaddrs *at = all; at && count < REACH_ADDRESSES; at = at->ifa_next)
            if (is_useful(at, with_own))
                write_address(at, &addresses[count++]);
    freeifaddrs(all);
    return count;
}

int reach_listen(int *port)
{
    struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
    struct sockaddr_in any4 = { .sin_family = AF_INET };
    socklen_t size = sizeof any;
    const int no = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) ||
                    bind(fd, (struct sockaddr *)&any, sizeof any))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) { /* a machine without IPv6 */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&any4, sizeof any4))
            return -1;
    }
    if (listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)&any, &size))
        return -1;
    *port = ntohs(any.sin6_port); /* at the same place in both forms */
    return fd;
}

/* Wait for that; false: not in time. */
static bool wait_for(int fd, short events, int ms)
{
    struct pollfd poll_fd = { .fd = fd, .events = events };

    return poll(&poll_fd, 1, ms) == 1;
}

/* Read so many bytes; false: they have not come. */
static bool read_all(int fd, char *text, size_t size, int ms)
{
    for (size_t at = 0; at < size;) {
        const ssize_t got = wait_for(fd, POLLIN, ms) ? read(fd, text + at, size - at) : 0;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

void reach_serve(int listener, const char *token)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char text[REACH_TOKEN_SIZE] = "";

    if (fd < 0)
        return;
    if (strlen(token) < sizeof text && read_all(fd, text, strlen(token), SERVE_MS) && !strcmp(text, token))
        send(fd, text, strlen(token), MSG_NOSIGNAL);
    close(fd);
}

static int make_address(const char *text, int port, struct sockaddr_storage *address)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    struct sockaddr_in *four = (struct sockaddr_in *)address;

    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return sizeof *four;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1 ? (int)sizeof *six : 0;
}

/* The errno of connecting, 0: connected. */
static int connect_to(int fd, const struct sockaddr_storage *address, int size)
{
    if (connect(fd, (const struct sockaddr *)address, (socklen_t)size)) {
        if (errno != EINPROGRESS)
            return errno;
        if (!wait_for(fd, POLLOUT, TRY_MS))
            return ETIMEDOUT;
    }
    return descriptor_connected(fd);
}

long reach_try(const char *text, int port, const char *token, char why[REACH_WHY_SIZE])
{
    struct sockaddr_storage address;
    const int size = make_address(text, port, &address);
    const int fd = size ? socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    const int64_t start = now_ns();
    char back[REACH_TOKEN_SIZE] = "";
    long result = -1;
    int error;

    if (fd < 0) {
        snprintf(why, REACH_WHY_SIZE, "%s", size ? strerror(errno) : "not an address");
        return -1;
    }
    error = connect_to(fd, &address, size);
    if (error)
        snprintf(why, REACH_WHY_SIZE, "%s", strerror(error));
    else if (send(fd, token, strlen(token), MSG_NOSIGNAL) < 0 || strlen(token) >= sizeof back ||
             !read_all(fd, back, strlen(token), TRY_MS) || strcmp(back, token) != 0)
        snprintf(why, REACH_WHY_SIZE, "somebody else answers there");
    else
        result = (long)((now_ns() - start) / 1000);
    close(fd);
    return result;
}

/* --- the other side --- */

static void tell_here(const char *library, const char *folder)
{
    struct utsname system;
    char own[PATH_MAX] = "";

    uname(&system);
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        *own = 0;
    printf("PARLEY-REACH system %s, %s %s\n", system.machine, system.sysname, system.release);
    printf("PARLEY-REACH program %s\n", own);
    printf("PARLEY-REACH library %s\n", access(library, R_OK) ? "no" : "yes");
    printf("PARLEY-REACH folder %s\n", access(folder, X_OK) ? "no" : "yes");
}

static void try_others(char *const *addresses, int port, const char *token)
{
    char why[REACH_WHY_SIZE];

    for (; *addresses; addresses++) {
        const long us = reach_try(*addresses, port, token, why);
        if (us >= 0)
            printf("PARLEY-REACH to %s %ld\n", *addresses, us);
        else
            printf("PARLEY-REACH not %s %s\n", *addresses, why);
        fflush(stdout);
    }
}

/* Until mpiexec closes our stdin. */
static void serve(int listener, const char *token)
{
    struct pollfd fds[2] = { { .fd = listener, .events = POLLIN }, { .fd = STDIN_FILENO, .events = POLLIN } };
    char byte;

    while (poll(fds, 2, -1) > 0) {
        if (fds[0].revents)
            reach_serve(listener, token);
        if (fds[1].revents && read(STDIN_FILENO, &byte, 1) <= 0)
            break;
    }
}

void reach_answer(char *words)
{
    struct reach_address own[REACH_ADDRESSES];
    char *at[WORDS_MAX + 1] = { NULL };
    int port, listener, count = 0;

    while (words && count < WORDS_MAX)
        at[count++] = strsep(&words, "|");
    if (count < 4)
        die(EXIT_USAGE, "E0101: -reach: this option is for mpiexec --doctor -host");
    signal(SIGPIPE, SIG_IGN);
    tell_here(at[2], at[3]);
    try_others(at + 4, atoi(at[0]), at[1]);
    listener = reach_listen(&port);
    count = listener < 0 ? 0 : reach_own_addresses(own);
    for (int i = 0; i < count; i++)
        printf("PARLEY-REACH listens %s %s %d\n", own[i].text, own[i].interface, port);
    puts("PARLEY-REACH end");
    fflush(stdout);
    if (listener >= 0)
        serve(listener, at[1]);
    exit(0);
}
