/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Which descriptors are ready, by epoll. */
#include "sys/ready.h"

#include <sys/epoll.h>

int ready_look(int epoll, struct epoll_event *events, int max)
{
    const int count = epoll_wait(epoll, events, max, 0);

    return count > 0 ? count : 0; /* interrupted: the next time */
}

void ready_wait(int epoll, int ms)
{
    struct epoll_event event;

    (void)epoll_wait(epoll, &event, 1, ms);
}
