/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: has the kernel's out-of-memory killer been at work? A rank that it ends looks like one that somebody has
 * killed; the counters of our control group, or of the machine, tell. */
#include "launch.h"

#include <stdio.h>
#include <string.h>

/* The number behind `name` in a file of lines "name number"; -1: not there. */
static int64_t read_counter(const char *path, const char *name)
{
    FILE *file = fopen(path, "re");
    char line[128], word[64];
    int64_t found = -1;
    long long value;

    if (!file)
        return -1;
    while (found < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %lld", word, &value) == 2 && !strcmp(word, name))
            found = value;
    fclose(file);
    return found;
}

/* In our control group of version 2, or of version 1 and its memory controller; containers may show only their own
 * group, as the root. `line` is one of /proc/self/cgroup. */
static int64_t read_group(const char *line)
{
    const char *memory = strstr(line, ":memory:");
    char path[600];
    int64_t found;

    if (!strncmp(line, "0::", 3)) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", line + 3);
        found = read_counter(path, "oom_kill");
        return found >= 0 ? found : read_counter("/sys/fs/cgroup/memory.events", "oom_kill");
    }
    if (!memory)
        return -1;
    snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.oom_control", memory + 8);
    found = read_counter(path, "oom_kill");
    return found >= 0 ? found : read_counter("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill");
}

struct oom_kills memory_oom_kills(void)
{
    struct oom_kills kills = { .group = -1, .machine = -1 };
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[512];

    while (file && kills.group < 0 && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        kills.group = read_group(line);
    }
    if (file)
        fclose(file);
    if (kills.group < 0)
        kills.machine = read_counter("/proc/vmstat", "oom_kill");
    return kills;
}

enum oom memory_verdict(const struct job *job)
{
    const struct oom_kills now = memory_oom_kills();

    if (now.group > job->oom_kills.group && job->oom_kills.group >= 0)
        return OOM_GROUP;
    if (now.machine > job->oom_kills.machine && job->oom_kills.machine >= 0)
        return OOM_MACHINE;
    return now.group < 0 && now.machine < 0 ? OOM_UNKNOWN : OOM_NONE;
}
