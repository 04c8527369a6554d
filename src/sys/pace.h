/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Are the lines that another process has written near, in a cache that both share, or far? Which way of
 * moving bytes is fastest depends on it, and a virtual machine may change it while a program runs. So who reads what
 * the other one has written takes the time of a few of its reads, and tells the other one what came of it.
 *
 * A pair has one for each direction and side. Calls for one of them are serialized by its owner. None blocks. */
#ifndef SYS_PACE_H
#define SYS_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "sys/clock.h"

enum {
    PACE_MIN = 513,  /* shorter reads are not worth looking at the clock */
    PACE_EVERY = 64, /* one in so many is measured */
};

struct pace {
    _Atomic uint32_t *told;        /* shared memory: does this side read far lines? … */
    const _Atomic uint32_t *heard; /* … and does the other one? Told by it */
    uint8_t reads;                 /* counted, to measure some of them */
    uint8_t slow;                  /* of those that were measured the last so many were slow */
    bool is_far;                   /* what *told says */
    uint32_t parts_ns;             /* a payload that was read while it was written, and measured, took so long from its
                                      first part on; 0: there was none since somebody looked */
};

/* A read of `len` bytes begins: the time if it is to be measured, else 0. */
static inline uint64_t pace_start(struct pace *pace, size_t len)
{
    return unlikely(len >= PACE_MIN && ++pace->reads % PACE_EVERY == 0) ? clock_ns() : 0;
}

/* Is it the turn of the read that pace_start has just refused to be measured while it is written? */
static inline bool pace_takes_parts(const struct pace *pace)
{
    return unlikely(pace->reads % PACE_EVERY == PACE_EVERY / 2);
}

/* Was a read of `len` bytes slow that took so many ns? */
static inline bool pace_is_slow(size_t len, uint64_t ns)
{
    /* With lines of 0.05 us and 0.2 us: 833 B take 30 and 150 ns, 2 KB 40 and 180, 4 KB 60 and 280, in the middle of a
     * longer payload 80 to 140 and 240 to 400, 16 KB 160 and 590. */
    return ns > 60 + len / 64 + (len < 4096 ? len : 4096) / 100;
}

/* It has ended; nothing if `start` is 0. Only for what was read as a run and has been written by the other process. */
void pace_end(struct pace *pace, size_t len, uint64_t start);

/* Does what this process writes go to somebody who reads far lines? */
static inline bool pace_is_far_to(const struct pace *pace)
{
    return atomic_load_explicit(pace->heard, memory_order_relaxed);
}

#endif
