/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Bells. Nobody is let in by them and nothing is read from them: a ring from somebody else is one wake too
 * many. Knows: the job segment's head. */
#include "sys/bell.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/descriptor.h"
#include "sys/wake.h"

/* The first word of the token is no secret: the launcher's address has it, too. */
static socklen_t name_of(const struct job_head *head, int proc, struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "parley-bell-%016llx-%d",
                      (unsigned long long)head->token[0], proc);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int open_socket(void)
{
    return descriptor_apart(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int bell_open(const struct job_head *head, int proc)
{
    struct sockaddr_un name;
    const socklen_t size = name_of(head, proc, &name);
    const int bell = open_socket();

    if (bell >= 0 && bind(bell, (const struct sockaddr *)&name, size)) {
        close(bell);
        return -1;
    }
    return bell;
}

void bell_quiet(int bell)
{
    char ring;

    while (recv(bell, &ring, sizeof ring, MSG_DONTWAIT) > 0)
        continue;
}

/* A bell that holds as many rings as it can is ringing. */
static void ring(int from, const struct job_head *head, int proc)
{
    struct sockaddr_un name;
    const socklen_t size = name_of(head, proc, &name);
    const int fd = from >= 0 ? from : open_socket();

    if (fd < 0)
        return;
    sendto(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&name, size);
    if (fd != from)
        close(fd);
}

void bell_wake(int from, const struct job_head *head, _Atomic uint32_t *sleep_word)
{
    /* acquire and release: pairs with the announcement of who sleeps */
    const uint32_t value = atomic_exchange_explicit(sleep_word, SLEEP_NOT, memory_order_acq_rel);

    if (value == SLEEP_ON_WORD)
        wake_all(sleep_word);
    else if (value >= SLEEP_AT_BELL)
        ring(from, head, (int)(value - SLEEP_AT_BELL));
}
