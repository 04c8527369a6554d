/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress, private. Where ranks wait that share processors, more of them than there are processors.
 *
 * The system leaves three of four ranks on one processor, and one on the other, for tens of milliseconds: it looks
 * seldom, and not at all when waits are too short for a processor to count as idle. A rank that waits sees where the
 * others have waited last, and moves away from such a heap.
 *
 * Where a program that is no rank uses a processor, a rank that yields there has it back after a time slice, of
 * milliseconds, and those who wait for it yield elsewhere, so that the system sees two busy processors and leaves it
 * where it is. So ranks leave such a processor to who uses it, and where all are used they sleep at once: who wakes up
 * comes before who computes. */
#ifndef PROGRESS_INT_SPREAD_H
#define PROGRESS_INT_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/cpus.h"

enum { SPREAD_CPUS = 1024, SPREAD_EVERY_NS = 500000 };

/* Words that ranks say to each other: a processor's number and one, and above that a time in ms. 0: nothing is said. */
enum { SPREAD_PLACE_BITS = 11, SPREAD_PLACE = (1 << SPREAD_PLACE_BITS) - 1 };

static inline uint32_t spread_stamp(uint64_t ns)
{
    return (uint32_t)(ns / 1000000) << SPREAD_PLACE_BITS;
}

static inline uint32_t spread_said(int cpu, uint64_t ns)
{
    return spread_stamp(ns) | (uint32_t)(cpu + 1);
}

static inline int spread_cpu_of(uint32_t said) /* -1: not known */
{
    return (int)(said & SPREAD_PLACE) - 1;
}

static inline uint32_t spread_stamp_of(uint32_t said)
{
    return said & ~SPREAD_PLACE;
}

/* What `worked` of struct job_proc says; 0: nothing is known. With SPREAD_OUT the time, above it, is that of the end of
 * the last wait; else a wait goes on, and it is that of the last work. */
enum { SPREAD_OUT = 1, SPREAD_WORKED = 1 };

/* How many ranks wait on a processor, and the last one of them. */
struct spread_count {
    uint16_t ranks[SPREAD_CPUS];
    int last;   /* of those on the processor in question; -1: none */
};

enum { SPREAD_USED = 1 << 15 }; /* added to the ranks of a processor that others use */

/* Where to go from processor `cpu`: to the first of those in `allowed` that has the fewest ranks, if that is at least
 * two less; else -1. */
int spread_goal(const struct spread_count *count, int cpu, const struct cpus *allowed);

/* Say on which processor this rank is, and go to another one if others use it, or if this rank has been the last one of
 * a heap for a while. `now`: clock_ns. */
void spread_look(uint64_t now);

/* After a yield on processor `cpu` that was long. */
enum spread_verdict {
    SPREAD_UNKNOWN, /* perhaps a rank has computed */
    SPREAD_ONCE,    /* others have used the processor */
    SPREAD_STAYS,   /* others use the processor, as they use all that this rank could go to: others_are_here */
    SPREAD_LEFT,    /* others use the processor, and this rank is no longer there */
};
enum spread_verdict spread_judge(int cpu, uint64_t before, uint64_t now);

/* others.c: a wait of this rank that is more than a look begins or ends; none will. */
void others_wait_begins(uint64_t now);
void others_wait_ends(uint64_t now);
void others_end(void);

/* Did all other ranks of this machine wait from `since` to `now`, as far as they have said? Then who has kept this one
 * from running was nobody of them. */
bool others_have_run(uint64_t since, uint64_t now);

/* Others have run on processor `cpu` from `since` to `now`. True: not for the first time; then all hear of it. */
bool others_found(int cpu, uint64_t since, uint64_t now);

/* Look at what all have said; then: do others use processor `cpu`, or that of this thread? Add SPREAD_USED for those
 * that they use. */
void others_look(uint64_t now);
bool others_use(int cpu);
bool others_are_here(void);
void others_count(struct spread_count *count);

#endif
