/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the book of services that ranks have published: their names and ports, in a list, and their doors. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
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

int names_listen(const char *service)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_bound = false;

    for (int door = 0; fd >= 0 && !is_bound && door < NAME_DOORS; door++) {
        struct sockaddr_un address;
        const socklen_t size = names_address(&address, service, door);
        is_bound = !bind(fd, (const struct sockaddr *)&address, size);
    }
    if (is_bound && !listen(fd, SOMAXCONN))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void names_tell(int listener, const char *port)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    pid_t pid;

    if (fd < 0)
        return;
    if (names_is_own_user(fd, &pid))
        (void)send(fd, port, strlen(port) + 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* there is room for it */
    close(fd);
}

bool names_is_port(const char *port, ssize_t size)
{
    return size > 0 && strnlen(port, (size_t)size) + 1 == (size_t)size;
}

char *names_hex(const char *text)
{
    char *hex = need(2 * strlen(text) + 1);

    for (size_t i = 0; text[i]; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)text[i]);
    return hex;
}

char *names_from_hex(const char *hex)
{
    const size_t length = hex ? strspn(hex, "0123456789abcdef") : 0;
    char *text;

    if (!hex || hex[length] || length % 2)
        return NULL;
    text = need(length / 2 + 1);
    for (size_t i = 0; i < length / 2; i++) {
        const char pair[] = { hex[2 * i], hex[2 * i + 1], 0 };
        text[i] = (char)strtoul(pair, NULL, 16);
    }
    return text;
}

static void door_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)job;
    (void)events;
    names_tell(source->fd, CONTAINER_OF(source, struct name, door)->port);
}

/* If all doors are taken, the name is known in this job only. */
static void open_door(struct job *job, struct name *name)
{
    const int fd = names_listen(name->service);

    if (fd < 0)
        return;
    name->door = (struct source){ .ready = door_ready, .fd = fd, .rank = -1 };
    source_add(job, &name->door);
}

/* --- the book --- */

struct name *names_find(struct job *job, const char *service)
{
    struct name *name = job->names;

    while (name && (name->is_over || strcmp(name->service, service) != 0))
        name = name->next;
    return name;
}

struct name *names_add(struct job *job, const char *service, const char *port, int owner)
{
    struct name *name = need(sizeof *name);

    *name = (struct name){ .next = job->names, .service = need_text(service), .port = need_text(port), .owner = owner,
                           .door.fd = -1 };
    job->names = name;
    open_door(job, name);
    return name;
}

bool names_remove(struct job *job, struct name *name, int rank)
{
    name->is_over = true;
    if (name->door.fd >= 0)
        source_remove(job, &name->door);
    timer_set(job, TIMER_NAMES, 0);
    return names_unpublish_far(job, name, rank);
}

void names_drop(struct job *job, int owner)
{
    for (struct name *name = job->names; name; name = name->next)
        if (name->owner == owner && !name->is_over)
            (void)names_remove(job, name, -1);
    names_ask_no_more(job, owner);
    names_far_no_more(job, owner, NULL);
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
    names_far_tick(job);
}
