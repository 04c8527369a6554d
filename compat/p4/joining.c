/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The master of a cluster on another host: it reports to the keeper that had it started, and
 * learns who it is and where the others are. That is the other side of hosts.c. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "p4/int_hosts.h"
#include "p4/int_keeper.h"
#include "sys/segment.h"

enum { PATIENCE_S = 90 }; /* the others may take their time */

bool hosts_is_remote(void)
{
    return getenv(HOSTS_VARIABLE) != NULL;
}

/* The first line of standard input, byte by byte, since what follows is nobody's. */
static void read_key(char key[40])
{
    int length = 0, null;

    while (length < 39 && read(STDIN_FILENO, key + length, 1) == 1 && key[length] != '\n')
        length++;
    if (key[length] != '\n' || !length)
        p4_fail("E0619: no key came on standard input, which the remote shell has to pass on (ssh without -n)");
    key[length] = 0;
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null > 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
}

static int connect_to(const char *host, const char *port)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int fd = -1, rc = getaddrinfo(host, port, &hints, &found);

    for (const struct addrinfo *to = found; !rc && to && fd < 0; to = to->ai_next) {
        fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen)) {
            const int error = errno;
            close(fd);
            fd = -1;
            errno = error;
        }
    }
    if (fd < 0)
        p4_fail("E0619: process of another host cannot reach the first one at %s, port %s: %s", host, port,
                rc ? gai_strerror(rc) : strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static _Noreturn void lost(void)
{
    p4_fail("E0619: the connection to the first host has ended before all was known");
}

/* Lines up to one that begins with `last`. */
static void take_lines(int fd, const char *last, struct cluster_plan *plan, const char *hub)
{
    static char line[LINE_MAX_LEN];

    for (;;) {
        if (!line_read(fd, line, PATIENCE_S))
            lost();
        if (!strcmp(line, last))
            return;
        if (!config_take(line, plan, hub))
            lost();
    }
}

static void send_ports(int fd, int count)
{
    char line[LINE_MAX_LEN] = "ports";
    size_t length = strlen(line);

    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(line + length, sizeof line - length, " %s", hosts_port(p4_own.first + i));
    line_write(fd, "%s", line);
}

/* The segment of this host, which the shell has handed on. */
static void take_segment(struct cluster_plan *plan)
{
    if (plan->place < 1 || plan->count > plan->places - plan->place || plan->places > P4_MAXPROCS ||
        fcntl(plan->segment_fd, F_SETFD, FD_CLOEXEC) ||
        !(plan->head = segment_map(plan->segment_fd, job_transport_offset(plan->places))))
        p4_fail("E0619: the shared memory of this host did not come through /bin/sh to a cluster of %d processes",
                plan->count);
}

void hosts_report(struct cluster_plan *plan)
{
    char host[256] = "", port[8] = "", key[40];
    struct sockaddr_storage theirs;
    socklen_t length = sizeof theirs;
    char hub[56] = "127.0.0.1";
    int entry, words;

    words = sscanf(getenv(HOSTS_VARIABLE), "%255s %7s %d %d %d %d", host, port, &entry, &plan->segment_fd, &plan->place,
                   &plan->places);
    if (words != 3 && words != 6)
        p4_fail("E0619: " HOSTS_VARIABLE "=%s is not of a form that is known", getenv(HOSTS_VARIABLE));
    unsetenv(HOSTS_VARIABLE); /* it is not meant for what this process may start */
    read_key(key);
    for (size_t i = 0; i < sizeof control->key; i++)
        sscanf(key + 2 * i, "%2hhx", &control->key[i]);
    plan->hub_fd = connect_to(host, port);
    if (!getpeername(plan->hub_fd, (struct sockaddr *)&theirs, &length))
        getnameinfo((struct sockaddr *)&theirs, length, hub, sizeof hub, NULL, 0, NI_NUMERICHOST);
    line_write(plan->hub_fd, "hello %s %d %s", key, entry, HOSTS_FORM);
    take_lines(plan->hub_fd, "asked", plan, hub);
    if (words == 6)
        take_segment(plan);
    else
        plan->places = plan->count;
    hosts_listen(plan->count);
    send_ports(plan->hub_fd, plan->count);
    take_lines(plan->hub_fd, "run", plan, hub);
    plan->has_others = true;
}
