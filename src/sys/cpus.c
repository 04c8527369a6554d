/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Affinity mask and cgroup quota (cpu.max of version 2, cpu.cfs_quota_us of version 1). */
#include "sys/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

int cpus_in_mask(void)
{
    cpu_set_t mask;
    long online;

    if (!sched_getaffinity(0, sizeof mask, &mask) && CPU_COUNT(&mask))
        return CPU_COUNT(&mask);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* denied, or more processors than the mask has bits */
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

/* Processors that a quota amounts to, rounded up; 0: no quota. */
static int from_quota(long quota, long period)
{
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

/* The numbers at the beginning of a file; how many of the two there are. */
static int numbers_in(const char *directory, const char *name, long *first, long *second)
{
    char path[PATH_SIZE + 64];
    FILE *file;
    int count;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "re");
    if (!file)
        return 0;
    count = fscanf(file, "%ld %ld", first, second);
    fclose(file);
    return count;
}

static int quota_v2(const char *directory)
{
    long quota = 0, period = 0;

    return numbers_in(directory, "cpu.max", &quota, &period) == 2 ? from_quota(quota, period) : 0; /* else "max" */
}

static int quota_v1(const char *directory)
{
    long quota = 0, period = 0, none;

    return numbers_in(directory, "cpu.cfs_quota_us", &quota, &none) == 1 &&
                   numbers_in(directory, "cpu.cfs_period_us", &period, &none) == 1
               ? from_quota(quota, period)
               : 0;
}

/* The tighter of two quotas, of which 0 is none. */
static int tighter(int a, int b)
{
    return a && (!b || a < b) ? a : b;
}

/* The tightest quota on the way from our group up to the root of a hierarchy. In a container the group may not be there
 * under the name that the kernel tells; then its root is what counts. */
static int upwards(const char *root, const char *group, int (*quota)(const char *directory))
{
    char directory[PATH_SIZE];
    int cpus = 0;

    snprintf(directory, sizeof directory, "%s%s", root, group);
    for (;;) {
        cpus = tighter(quota(directory), cpus);
        if (strlen(directory) <= strlen(root))
            return cpus;
        *strrchr(directory, '/') = 0;
    }
}

/* Is "cpu" among the names, which are separated by commas? */
static bool has_cpu(const char *names)
{
    for (; names; names = strchr(names, ','), names += names ? 1 : 0) {
        if (!strncmp(names, "cpu", 3) && (names[3] == ',' || !names[3]))
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup: number, controllers (none: version 2) and group, with colons between. */
static int in_group(char *line)
{
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;

    if (!group)
        return 0;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    if (!names[1])
        return upwards("/sys/fs/cgroup", group, quota_v2);
    return has_cpu(names + 1) ? upwards("/sys/fs/cgroup/cpu", group, quota_v1) : 0;
}

static int in_cgroup(void)
{
    char line[PATH_SIZE];
    FILE *file = fopen("/proc/self/cgroup", "re");
    int cpus = 0;

    if (!file)
        return tighter(quota_v2("/sys/fs/cgroup"), quota_v1("/sys/fs/cgroup/cpu"));
    while (fgets(line, sizeof line, file))
        cpus = tighter(in_group(line), cpus);
    fclose(file);
    return cpus;
}

int cpus_within_quota(int cpus)
{
    return tighter(in_cgroup(), cpus);
}
