/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Connections among keepers, once all run: a star with the first cluster's in the middle, which passes
 * on what it hears. Each line is acted on when it is whole. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "p4/int_keeper.h"

static struct connection {
    int fd, cluster;
    bool has_said_bye;
    int length;
    char line[LINE_MAX_LEN];
} *connections[P4_MAX_PROCGROUP_ENTRIES];
static int count;

void hub_add(int fd, int cluster)
{
    struct connection *c = mem_zalloc(sizeof *c);

    if (!c)
        p4_fail("E0602: no memory for a connection");
    c->fd = fd;
    c->cluster = cluster;
    connections[count++] = c;
}

int hub_fds(int *fds)
{
    for (int i = 0; i < count; i++)
        fds[i] = connections[i]->fd;
    return count;
}

int hub_count(void)
{
    return count;
}

void hub_close(void)
{
    enum { PATIENCE_MS = 2000 };
    char rest[256];

    for (int i = 0; i < count; i++) {
        struct pollfd wait = { .fd = connections[i]->fd, .events = POLLIN };
        shutdown(wait.fd, SHUT_WR);
        while (poll(&wait, 1, PATIENCE_MS) > 0 && recv(wait.fd, rest, sizeof rest, MSG_DONTWAIT) > 0)
            ;
        close(wait.fd);
    }
    count = 0;
}

void hub_forget(void)
{
    for (int i = 0; i < count; i++)
        close(connections[i]->fd);
    count = 0;
}

void hub_tell(int except, const char *format, ...)
{
    for (int i = 0; i < count; i++) {
        va_list args;
        if (connections[i]->fd == except)
            continue;
        va_start(args, format);
        (void)line_write_args(connections[i]->fd, format, args); /* who is gone is noticed by reading */
        va_end(args);
    }
}

static void on_line(struct connection *c, char *line)
{
    char *word = strchr(line, ' ');

    if (!strcmp(line, "bye")) {
        c->has_said_bye = true;
        return;
    }
    if (!word)
        return;
    *word++ = 0;
    if (!strcmp(line, "gone"))
        keeper_heard_gone(atoi(word), c->fd);
    else if (!strcmp(line, "end"))
        keeper_heard_end(atoi(word));
    else if (!strcmp(line, "fail"))
        keeper_fail("%s", word);
}

static void on_closed(struct connection *c)
{
    for (int i = 0; i < count; i++) {
        if (connections[i] == c)
            connections[i] = connections[--count];
    }
    close(c->fd);
    if (!c->cluster)
        keeper_heard_end(1);
    else if (!c->has_said_bye && !p4_is_ending())
        keeper_fail("E0618: the connection to the cluster of process %d has ended", p4_cluster_first(c->cluster));
    mem_free(c);
}

static void take_lines(struct connection *c)
{
    char *start = c->line, *end;

    while ((end = memchr(start, '\n', (size_t)(c->line + c->length - start)))) {
        *end = 0;
        on_line(c, start);
        start = end + 1;
    }
    c->length -= (int)(start - c->line);
    memmove(c->line, start, (size_t)c->length);
}

void hub_read(int fd)
{
    for (int i = 0; i < count; i++) {
        struct connection *c = connections[i];
        ssize_t got;
        if (c->fd != fd)
            continue;
        got = recv(fd, c->line + c->length, sizeof c->line - (size_t)c->length, MSG_DONTWAIT);
        if (got > 0) {
            c->length += (int)got;
            take_lines(c);
        }
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || c->length == sizeof c->line)
            on_closed(c);
        return;
    }
}
