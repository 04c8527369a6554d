/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Sets of processors, and how many of them this process may really use. */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* As many as Linux can be built for. */
enum { CPUS_MAX = 8192 };

/* Processors by the numbers that the system gives them; what sched_setaffinity takes. */
struct cpus {
    uint64_t word[CPUS_MAX / 64];
};

static inline bool cpus_has(const struct cpus *cpus, int cpu)
{
    return cpu >= 0 && cpu < CPUS_MAX && cpus->word[cpu / 64] >> cpu % 64 & 1;
}

static inline void cpus_add(struct cpus *cpus, int cpu)
{
    cpus->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

int cpus_count(const struct cpus *cpus);

/* The first one from `cpu` on, or CPUS_MAX. */
int cpus_next(const struct cpus *cpus, int cpu);

/* Read a list as the system writes it, "0-3,8,10-11" (an empty one is a set, too). False if `text` is no list or
 * has numbers of CPUS_MAX and more; a newline may end it. */
bool cpus_parse(const char *text, struct cpus *cpus);

/* The affinity mask of the calling thread; false if the system does not tell. */
bool cpus_allowed(struct cpus *cpus);

/* Move the calling thread to processor `cpu`; afterwards it may run on all in `allowed`, its mask, as before. False:
 * the system does not let it. */
bool cpus_go(int cpu, const struct cpus *allowed);

/* The affinity masks of all threads of process `pid` together; empty if the system does not tell. */
void cpus_of_process(int pid, struct cpus *cpus);

/* Processors in the affinity mask of the calling thread, at least 1. */
int cpus_in_mask(void);

/* Processors in the affinity masks of these processes together (0, or one that has ended: the caller), at least 1. */
int cpus_in_masks(const int *pids, int count);

/* `cpus`, or fewer if the cgroup has a quota (rounded up); at least 1. Reads files: not for start-up and not for the
 * short path. */
int cpus_within_quota(int cpus);

/* Processors that the quotas of the cgroup amount to, rounded up; 0: no quota. `root` stands before /proc and /sys: ""
 * but in tests. */
int cpus_quota(const char *root);

#endif
