/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: finding places in a row for processes that are started later. Knows nothing of processes. */
#ifndef LAUNCH_SLOTS_H
#define LAUNCH_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* May this place be had? */
typedef bool slots_is_free(const void *arg, int place);

/* The first of `count` free places in a row, from 1 on: among those from `fresh` to before `end` if they have room,
 * else the first from `begin` on. -1: there is none. */
int slots_find(slots_is_free *is_free, const void *arg, int fresh, int begin, int end, int count);
/* How many free ones stand in a row at most, from `begin` to before `end`. */
int slots_longest(slots_is_free *is_free, const void *arg, int begin, int end);

/* Is the bit of this place set? */
static inline bool slots_has(const _Atomic uint64_t *bits, int place)
{
    return atomic_load_explicit(&bits[place / 64], memory_order_relaxed) >> place % 64 & 1;
}

#endif
