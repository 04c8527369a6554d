/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. How many processors this process may really use. */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

/* Processors in the affinity mask of the calling thread, at least 1. */
int cpus_in_mask(void);

/* `cpus`, or fewer if the cgroup has a quota (rounded up); at least 1. Reads files: not for start-up and not for the
 * short path. */
int cpus_within_quota(int cpus);

#endif
