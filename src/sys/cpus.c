/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Affinity mask and cgroup quota (cpu.max of version 2, cpu.cfs_quota_us of version 1). */
#include "sys/cpus.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

int cpus_in_mask(void)
{
    cpu_set_t mask;

    if (sched_getaffinity(0, sizeof mask, &mask) || !CPU_COUNT(&mask))
        return 1;
    return CPU_COUNT(&mask);
}

/* Processors that a quota amounts to, rounded up; 0: no quota. */
static int from_quota(long quota, long period)
{
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static int quota_v2(const char *directory)
{
    char path[512];
    long quota = 0, period = 0;
    FILE *file;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", directory);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &quota, &period) != 2)
        quota = 0; /* "max" */
    fclose(file);
    return from_quota(quota, period);
}

static long number_in(const char *path)
{
    long number = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return 0;
    if (fscanf(file, "%ld", &number) != 1)
        number = 0;
    fclose(file);
    return number;
}

/* The tightest quota on the way from our cgroup up to the root. */
static int in_cgroup(void)
{
    char line[256], directory[256] = "";
    int cpus = from_quota(number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
                          number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (!file)
        return cpus;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "0::", 3))
            snprintf(directory, sizeof directory, "%s", line + 3);
    }
    fclose(file);
    directory[strcspn(directory, "\n")] = 0;
    for (;;) {
        const int here = quota_v2(strcmp(directory, "/") ? directory : "");
        char *slash = strrchr(directory, '/');
        if (here && (!cpus || here < cpus))
            cpus = here;
        if (!slash)
            return cpus;
        *slash = 0;
    }
}

int cpus_within_quota(int cpus)
{
    const int quota = in_cgroup();

    return quota && quota < cpus ? quota : cpus;
}
