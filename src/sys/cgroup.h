/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. What the control groups of this process limit, of both versions. */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

/* What the files of one group say, a directory; 0: no limit. */
typedef long long cgroup_limit_fn(const char *directory);

/* The least limit of our group and of all above it, as far as they are seen here; 0: none. `controller` is "cpu" or
 * "memory"; `v1` and `v2` read the files of the two versions. `root` stands before /proc and /sys. */
long long cgroup_least(const char *root, const char *controller, cgroup_limit_fn *v1, cgroup_limit_fn *v2);

/* The number in a file of the group; 0: there is none. */
long long cgroup_number(const char *directory, const char *name);

#endif
