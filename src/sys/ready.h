/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Which descriptors are ready, by epoll. */
#ifndef SYS_READY_H
#define SYS_READY_H

struct epoll_event;

/* Those that are ready now, at most `max`; how many. Does not wait. Any thread. */
int ready_look(int epoll, struct epoll_event *events, int max);
/* Wait until one is ready, at most so many milliseconds. For what ends; everything else waits in room progress. */
void ready_wait(int epoll, int ms);

#endif
