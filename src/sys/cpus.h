/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. How many processors this process may really use. */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

/* The smaller of the affinity mask and the cgroup's quota (rounded up), at least 1. Reads files: not for start-up
 * and not for the short path. */
int cpus_usable(void);

#endif
