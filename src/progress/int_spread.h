/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress, private. With more ranks than processors, the system leaves three of four ranks on one processor, and
 * one on the other, for tens of milliseconds: it looks seldom, and not at all when waits are too short for a processor
 * to count as idle. A rank that waits sees where the others have waited last, and moves away from such a heap. */
#ifndef PROGRESS_INT_SPREAD_H
#define PROGRESS_INT_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/cpus.h"

enum { SPREAD_CPUS = 1024, SPREAD_EVERY_NS = 500000 };

/* How many ranks wait on a processor, and the last one of them. */
struct spread_count {
    uint16_t ranks[SPREAD_CPUS];
    int last;   /* of those on the processor in question; -1: none */
};

/* Where to go from processor `cpu`: to the first of those in `allowed` that has the fewest ranks, if that is at least
 * two less; else -1. */
int spread_goal(const struct spread_count *count, int cpu, const struct cpus *allowed);

/* Say on which processor this rank is, and go to another one if it has been the last one of a heap for a while. `now`:
 * clock_ns. */
void spread_look(uint64_t now);

/* A yield was long: perhaps others than ranks use the processor. */
void spread_foreign(uint64_t now);

#endif
