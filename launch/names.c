/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the book of services that ranks have published: their names and ports, in a list, and their doors. */
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/hash.h"

/* --- addresses --- */

static uint64_t hash_of(const char *service, uint64_t which)
{
    const uint64_t key[2] = { UINT64_C(0x7061726c65790000), which };
    const size_t length = strlen(service);
    const size_t words = length / sizeof(uint64_t) + 1; /* with zeros at the end, as no name has */
    uint64_t *padded = need(words * sizeof *padded), hash;

    memcpy(padded, service, length);
    hash = hash_words(key, padded, (int)words);
    mem_free(padded);
    return hash;
}

socklen_t names_address(struct sockaddr_un *address, const char *service, int door)
{
    int length;

    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "parley-name-%u-%016llx%016llx-%d",
                      (unsigned)geteuid(), (unsigned long long)hash_of(service, 0),
                      (unsigned long long)hash_of(service, 1), door);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool names_is_own_user(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid())
        return false;
    *pid = peer.pid;
    return true;
}

/* --- doors --- */

static void door_ready(struct job *job, struct source *source, uint32_t events)
{
    const struct name *name = CONTAINER_OF(source, struct name, door);
    const int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    pid_t pid;

    (void)job;
    (void)events;
    if (fd < 0)
        return;
    if (names_is_own_user(fd, &pid))
        (void)send(fd, name->port, strlen(name->port) + 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* there is room for it */
    close(fd);
}

/* At the first address that nobody has. If all are taken, the name is known in this job only. */
static void open_door(struct job *job, struct name *name)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_bound = false;

    for (int door = 0; fd >= 0 && !is_bound && door < NAME_DOORS; door++) {
        struct sockaddr_un address;
        const socklen_t size = names_address(&address, name->service, door);
        is_bound = !bind(fd, (const struct sockaddr *)&address, size);
    }
    if (is_bound && !listen(fd, SOMAXCONN)) {
        name->door = (struct source){ .ready = door_ready, .fd = fd, .rank = -1 };
        source_add(job, &name->door);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* --- the book --- */

struct name *names_find(struct job *job, const char *service)
{
    struct name *name = job->names;

    while (name && (name->is_over || strcmp(name->service, service) != 0))
        name = name->next;
    return name;
}

void names_add(struct job *job, const char *service, const char *port, int owner)
{
    struct name *name = need(sizeof *name);

    *name = (struct name){ .next = job->names, .service = need_text(service), .port = need_text(port), .owner = owner,
                           .door.fd = -1 };
    job->names = name;
    open_door(job, name);
}

void names_remove(struct job *job, struct name *name)
{
    name->is_over = true;
    if (name->door.fd >= 0)
        source_remove(job, &name->door);
    timer_set(job, TIMER_NAMES, 0);
}

void names_drop(struct job *job, int owner)
{
    for (struct name *name = job->names; name; name = name->next)
        if (name->owner == owner && !name->is_over)
            names_remove(job, name);
    names_ask_no_more(job, owner);
}

void names_tick(struct job *job)
{
    for (struct name **place = &job->names; *place;) {
        struct name *name = *place;
        if (!name->is_over) {
            place = &name->next;
            continue;
        }
        *place = name->next;
        mem_free(name->service);
        mem_free(name->port);
        mem_free(name);
    }
    names_ask_tick(job);
}
