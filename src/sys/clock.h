/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Time for waiting and for measuring. */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds; the same on all processes of a machine. */
static inline uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Time from one look to the next, for limits: a process that was stopped meanwhile, or has not looked for long, has not
 * waited for all of it. */
static inline uint64_t clock_waited_ns(uint64_t *last, uint64_t now)
{
    const uint64_t since = now - *last, longest = 100000000;

    *last = now;
    return since < longest ? since : longest;
}

#endif
