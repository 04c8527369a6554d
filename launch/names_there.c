/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --names=WORDS, which an mpiexec of another machine starts here (names_far.c): it asks the user's mpiexecs on
 * this machine for a service, or makes one known here for as long as its stdin is open. It answers in one line. */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "names.h"

enum { PATIENCE_MS = 5000 };

struct found {
    int known, silent;
    pid_t first, other;
    char port[MPI_MAX_PORT_NAME];
};

/* What the mpiexec at that door says; nothing if there is none of ours. */
static void ask(const char *service, int door, struct found *found)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char port[MPI_MAX_PORT_NAME];
    struct sockaddr_un address;
    const socklen_t size = names_address(&address, service, door);
    ssize_t got;
    pid_t pid;

    if (fd < 0)
        return;
    if (!connect(fd, (const struct sockaddr *)&address, size) && names_is_own_user(fd, &pid)) {
        (void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, PATIENCE_MS);
        got = recv(fd, port, sizeof port, 0);
        found->silent += got < 0;
        if (got < 0 || (names_is_port(port, got) && (!found->known || strcmp(found->port, port) != 0))) {
            if (got > 0)
                snprintf(found->port, sizeof found->port, "%s", port);
            *(found->known++ ? &found->other : &found->first) = pid;
        }
    }
    close(fd);
}

static void look_up(const char *service)
{
    struct found found = { 0 };

    for (int door = 0; door < NAME_DOORS; door++)
        ask(service, door, &found);
    printf(NAMES_SAID "%d %d %d %d %s\n", found.known, found.silent, (int)found.first, (int)found.other,
           names_hex(found.port));
}

static _Noreturn void keep(const char *service, const char *port)
{
    struct pollfd waiting[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .events = POLLIN } };
    char any[64];

    waiting[1].fd = names_listen(service);
    puts(waiting[1].fd >= 0 ? NAMES_SAID "published" : NAMES_SAID "full");
    fflush(stdout);
    while (waiting[1].fd >= 0 && (poll(waiting, 2, -1) >= 0 || errno == EINTR)) {
        if (waiting[0].revents && read(STDIN_FILENO, any, sizeof any) <= 0)
            break;
        if (waiting[1].revents)
            names_tell(waiting[1].fd, port);
    }
    exit(0);
}

void names_answer(char *words)
{
    const char *what = strsep(&words, ":");
    const char *service = names_from_hex(strsep(&words, ":")), *port = names_from_hex(strsep(&words, ":"));

    signal(SIGPIPE, SIG_IGN);
    if (service && port && !strcmp(what, "publish"))
        keep(service, port);
    if (!service || strcmp(what, "lookup") != 0)
        die(EXIT_USAGE, "E0101: -names: this option is for mpiexec --name-server");
    look_up(service);
    exit(0);
}
