/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room sys: sets of processors, and the quota of a cgroup, in a directory that stands for the root. */
#include "sys/cpus.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/cgroup.h"

static char root[] = "/tmp/parley-cpus-XXXXXX";

static void run(const char *command)
{
    char line[256];

    snprintf(line, sizeof line, command, root);
    CHECK(system(line) == 0);
}

/* Put `text` into the file `path` below the root, with its directories. */
static void put(const char *path, const char *text)
{
    char full[256];
    FILE *file;

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(full, 0777);
        *at = '/';
    }
    file = fopen(full, "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static void test_parse(void)
{
    static const char *const bad[] = { "x", "1-", "-1", "3-1", "1,,2", "1 2", "8192", "0-99999999999", "1,", "0x3" };
    struct cpus cpus;

    CHECK(cpus_parse("0-3,8,10-11\n", &cpus));
    CHECK_INT(cpus_count(&cpus), 7);
    CHECK(cpus_has(&cpus, 0) && cpus_has(&cpus, 3) && !cpus_has(&cpus, 4) && cpus_has(&cpus, 8) && cpus_has(&cpus, 11));
    CHECK(cpus_parse("63-64,8191", &cpus));
    CHECK(cpus_count(&cpus) == 3 && cpus_has(&cpus, 64) && cpus_has(&cpus, 8191));
    CHECK_INT(cpus_next(&cpus, 0), 63);
    CHECK_INT(cpus_next(&cpus, 64), 64);
    CHECK_INT(cpus_next(&cpus, 65), 8191);
    CHECK_INT(cpus_next(&cpus, 8192), CPUS_MAX);
    CHECK(!cpus_has(&cpus, -1) && !cpus_has(&cpus, CPUS_MAX));
    CHECK(cpus_parse("\n", &cpus) && cpus_count(&cpus) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!cpus_parse(bad[i], &cpus));
}

static void test_mask(void)
{
    struct cpus cpus;

    CHECK(cpus_allowed(&cpus));
    CHECK_INT(cpus_count(&cpus), cpus_in_mask());
    CHECK(cpus_in_mask() >= 1);
    for (int cpu = cpus_next(&cpus, 0); cpu < CPUS_MAX; cpu = cpus_next(&cpus, cpu + 1)) {
        struct cpus after;

        CHECK(cpus_go(cpu, &cpus));
        CHECK(cpus_allowed(&after) && memcmp(&after, &cpus, sizeof cpus) == 0);
    }
    CHECK_INT(cpus_within_quota(1), 1);
    CHECK(cpus_within_quota(1000000) >= 1);
}

static void test_quota_v2(void)
{
    CHECK_INT(cpus_quota(root), 0); /* there is nothing */
    put("/proc/self/cgroup", "0::/a/b\n");
    CHECK_INT(cpus_quota(root), 0);
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    CHECK_INT(cpus_quota(root), 0);
    put("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    CHECK_INT(cpus_quota(root), 3);
    put("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    CHECK_INT(cpus_quota(root), 1);
    put("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
    CHECK_INT(cpus_quota(root), 3); /* the outer one is tighter */
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    CHECK_INT(cpus_quota(root), 2); /* as a container sees its own */
    put("/proc/self/cgroup", "0::/\n");
    CHECK_INT(cpus_quota(root), 2);
    put("/proc/self/cgroup", "0::/../elsewhere\n");
    CHECK_INT(cpus_quota(root), 2);
    put("/sys/fs/cgroup/cpu.max", "nonsense\n");
    CHECK_INT(cpus_quota(root), 0);
    run("rm -r %s/sys");
}

static void test_quota_v1(void)
{
    put("/proc/self/cgroup", "4:memory:/x\n3:cpuset:/x\n2:cpu,cpuacct:/job/step\n1:name=systemd:/\n0::/\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CHECK_INT(cpus_quota(root), 0);
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "350000\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    CHECK_INT(cpus_quota(root), 4);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"); /* a container without its path */
    CHECK_INT(cpus_quota(root), 2);
    put("/proc/self/cgroup", "2:cpuacct:/job\n1:cpu:/\n");
    CHECK_INT(cpus_quota(root), 2);
    put("/proc/self/cgroup", "2:cpuacct:/job\n");
    CHECK_INT(cpus_quota(root), 0);
    put("/proc/self/cgroup", "no colons\n1:one\n");
    CHECK_INT(cpus_quota(root), 0);
}

static long long memory_v1(const char *directory)
{
    return cgroup_number(directory, "memory.limit_in_bytes");
}

static long long memory_v2(const char *directory)
{
    return cgroup_number(directory, "memory.max");
}

/* Any other limit is found in the same way. */
static void test_memory(void)
{
    CHECK(cgroup_least(root, "memory", memory_v1, memory_v2) == 0);
    put("/proc/self/cgroup", "4:cpuset,memory:/x/y\n0::/a/b\n");
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "314572800\n");
    CHECK(cgroup_least(root, "memory", memory_v1, memory_v2) == 314572800);
    put("/sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK(cgroup_least(root, "memory", memory_v1, memory_v2) == 314572800);
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    CHECK(cgroup_least(root, "memory", memory_v1, memory_v2) == 314572800);
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    CHECK(cgroup_least(root, "memory", memory_v1, memory_v2) == 104857600);
}

int main(void)
{
    CHECK(mkdtemp(root));
    test_parse();
    test_mask();
    test_quota_v2();
    test_quota_v1();
    test_memory();
    run("rm -r %s");
    return 0;
}
