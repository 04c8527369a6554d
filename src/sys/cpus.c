/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Affinity mask and cgroup quota (cpu.max of version 2, cpu.cfs_quota_us of version 1). */
#include "sys/cpus.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/text.h"

enum { PATH_SIZE = 1024 };

int cpus_count(const struct cpus *cpus)
{
    int count = 0;

    for (int i = 0; i < CPUS_MAX / 64; i++)
        if (cpus->word[i]) /* most are empty */
            count += __builtin_popcountll(cpus->word[i]);
    return count;
}

int cpus_next(const struct cpus *cpus, int cpu)
{
    for (int i = cpu / 64; i < CPUS_MAX / 64; i++) {
        const uint64_t left = cpus->word[i] & (i == cpu / 64 ? ~UINT64_C(0) << cpu % 64 : ~UINT64_C(0));
        if (left)
            return i * 64 + __builtin_ctzll(left);
    }
    return CPUS_MAX;
}

/* A number below CPUS_MAX at *at, which moves behind it; -1: none. */
static int parse_number(const char **at)
{
    int number = 0;

    if (**at < '0' || **at > '9')
        return -1;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (number < CPUS_MAX)
            number = number * 10 + **at - '0';
    return number < CPUS_MAX ? number : -1;
}

bool cpus_parse(const char *text, struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    if (!text[strspn(text, "\n")])
        return true;
    for (;;) {
        const int first = parse_number(&text);
        int last = first;
        if (first >= 0 && *text == '-') {
            text++;
            last = parse_number(&text);
        }
        if (first < 0 || last < first)
            return false;
        for (int cpu = first; cpu <= last; cpu++)
            cpus_add(cpus, cpu);
        if (*text != ',')
            return !text[strspn(text, "\n")];
        text++;
    }
}

bool cpus_allowed(struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    return !sched_getaffinity(0, sizeof *cpus, (cpu_set_t *)(void *)cpus) && cpus_count(cpus) > 0;
}

bool cpus_go(int cpu, const struct cpus *allowed)
{
    struct cpus one = { 0 };

    cpus_add(&one, cpu);
    return !sched_setaffinity(0, sizeof one, (const cpu_set_t *)(const void *)&one) &&
           !sched_setaffinity(0, sizeof *allowed, (const cpu_set_t *)(const void *)allowed);
}

static void add_mask(struct cpus *cpus, int thread)
{
    struct cpus mask = { 0 };

    if (!sched_getaffinity(thread, sizeof mask, (cpu_set_t *)(void *)&mask))
        for (int i = 0; i < CPUS_MAX / 64; i++)
            cpus->word[i] |= mask.word[i];
}

void cpus_of_process(int pid, struct cpus *cpus)
{
    const struct dirent *entry;
    char path[32];
    DIR *tasks;

    memset(cpus, 0, sizeof *cpus);
    add_mask(cpus, pid);
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (*entry->d_name != '.')
            add_mask(cpus, atoi(entry->d_name));
    if (tasks)
        closedir(tasks);
}

int cpus_in_mask(void)
{
    struct cpus mask;
    long online;

    if (cpus_allowed(&mask))
        return cpus_count(&mask);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* denied, or more processors than the mask has bits */
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

int cpus_in_masks(const int *pids, int count)
{
    cpu_set_t all, mask;

    CPU_ZERO(&all);
    for (int i = 0; i < count; i++)
        if (!sched_getaffinity(pids[i], sizeof mask, &mask) || !sched_getaffinity(0, sizeof mask, &mask))
            CPU_OR(&all, &all, &mask);
    return CPU_COUNT(&all) ? CPU_COUNT(&all) : 1;
}

/* Processors that a quota amounts to, rounded up; 0: no quota. */
static long long from_quota(long long quota, long long period)
{
    return quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
}

static long long quota_v1(const char *directory)
{
    const long long quota = cgroup_number(directory, "cpu.cfs_quota_us"); /* -1: none */

    return quota > 0 ? from_quota(quota, cgroup_number(directory, "cpu.cfs_period_us")) : 0;
}

static long long quota_v2(const char *directory)
{
    char path[PATH_SIZE], text[64];
    long long quota, period;

    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!text_read(path, text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) != 2)
        return 0; /* "max" */
    return from_quota(quota, period);
}

int cpus_quota(const char *root)
{
    const long long least = cgroup_least(root, "cpu", quota_v1, quota_v2);

    return least < INT_MAX ? (int)least : INT_MAX;
}

int cpus_within_quota(int cpus)
{
    const int quota = cpus_quota("");

    return quota && quota < cpus ? quota : cpus;
}
