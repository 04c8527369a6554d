/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room sys: where a process sits, on a machine made of files, on one that is not there, and here as hwloc
 * and as /sys tell of it. */
#include "sys/site.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "sys/hwloc.h"
#include "sys/made_tree.h"

static char root[] = "/tmp/parley-site-XXXXXX";

static void list(char *text, int first, int count)
{
    sprintf(text, count == 1 ? "%d" : "%d-%d", first, first + count - 1);
}

/* Two packages, a node each, of two L3 of two cores of two processors. */
static void make_tree(void)
{
    char text[32];

    made_tree_put(root, "0-1", "node/online");
    made_tree_put(root, "0-7", "node/node0/cpulist");
    made_tree_put(root, "8-15", "node/node1/cpulist");
    for (int cpu = 0; cpu < 16; cpu++) {
        list(text, cpu / 8 * 8, 8);
        made_tree_put(root, text, "cpu/cpu%d/topology/package_cpus_list", cpu);
        list(text, cpu / 2 * 2, 2);
        made_tree_put(root, text, "cpu/cpu%d/topology/core_cpus_list", cpu);
        for (int index = 0; index < 4; index++) {
            static const char *const levels[] = { "1", "1", "2", "3" };

            made_tree_put(root, levels[index], "cpu/cpu%d/cache/index%d/level", cpu, index);
            list(text, index < 3 ? cpu / 2 * 2 : cpu / 4 * 4, index < 3 ? 2 : 4);
            made_tree_put(root, text, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        }
    }
}

static void check_site(const char *cpus, int package, int l3, int core, int pu)
{
    struct cpus set;
    struct site site;

    CHECK(cpus_parse(cpus, &set));
    site_of_cpus(root, &set, &site);
    CHECK_INT(site.first[HWPART_PACKAGE], package);
    CHECK_INT(site.count[HWPART_PACKAGE], package < 0 ? 0 : 8);
    CHECK_INT(site.first[HWPART_NUMA], package);
    CHECK_INT(site.first[HWPART_L3], l3);
    CHECK_INT(site.first[HWPART_L2], core);
    CHECK_INT(site.first[HWPART_L1], core);
    CHECK_INT(site.first[HWPART_CORE], core);
    CHECK_INT(site.count[HWPART_CORE], core < 0 ? 0 : 2);
    CHECK_INT(site.first[HWPART_PU], pu);
    CHECK_INT(site.first[HWPART_DIE], SITE_UNKNOWN);
    CHECK_INT(site.first[HWPART_L4], SITE_UNKNOWN);
}

static void test_tree(void)
{
    CHECK(mkdtemp(root));
    make_tree();
    check_site("13", 8, 12, 12, 13);
    check_site("12-13", 8, 12, 12, SITE_SEVERAL);
    check_site("4,7", 0, 4, SITE_SEVERAL, SITE_SEVERAL);
    check_site("1-6", 0, SITE_SEVERAL, SITE_SEVERAL, SITE_SEVERAL);
    check_site("0-15", SITE_SEVERAL, SITE_SEVERAL, SITE_SEVERAL, SITE_SEVERAL);
    made_tree_remove(root, "");
}

static void test_nothing(void)
{
    struct cpus none = { 0 }, one = { 0 };
    struct site site;

    cpus_add(&one, 3);
    site_of_cpus("/nowhere", &one, &site);
    CHECK_INT(site.first[HWPART_PACKAGE], SITE_UNKNOWN);
    CHECK_INT(site.first[HWPART_CORE], SITE_UNKNOWN);
    CHECK_INT(site.first[HWPART_PU], 3);
    site_of_cpus("", &none, &site);
    CHECK_INT(site.first[HWPART_PU], SITE_UNKNOWN);
}

static void test_text(void)
{
    static const char *const bad[] = { "", "Package", "Package:0", "Package:-1", "Package:2x", "House:2", "Core:1",
                                       "Package:100 Core:100", "Package:2;Core:2", "Core:99999999999" };
    struct site site;

    CHECK(site_of_text("Package:2 L3Cache:4 core:4", 21, &site));
    CHECK_INT(site.first[HWPART_PACKAGE], 16);
    CHECK_INT(site.count[HWPART_PACKAGE], 16);
    CHECK_INT(site.first[HWPART_L3], 20);
    CHECK_INT(site.count[HWPART_L3], 4);
    CHECK_INT(site.first[HWPART_CORE], 21);
    CHECK_INT(site.first[HWPART_NUMA], SITE_UNKNOWN);
    CHECK(site_of_text("socket:2,hwloc://NUMANode:2", 4 + 3, &site));
    CHECK_INT(site.first[HWPART_PACKAGE], 2);
    CHECK_INT(site.first[HWPART_PU], 3);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!site_of_text(bad[i], 0, &site));
    setenv("PARLEY_MACHINE", "nonsense", 1);
    CHECK_INT(err_class(site_find(getpid(), 0, &site)), MPI_ERR_OTHER);
    setenv("PARLEY_MACHINE", "Package:4", 1);
    CHECK(!site_find(getpid(), 3, &site));
    CHECK_INT(site.first[HWPART_PACKAGE], 3);
    unsetenv("PARLEY_MACHINE");
}

static void test_names(void)
{
    for (enum hwpart part = 0; part < HWPARTS; part++) {
        CHECK_INT(hwpart_by_name(hwpart_name(part)), part);
        CHECK_INT(hwpart_by_name(hwpart_name(part) + strlen("hwloc://")), part);
    }
    CHECK_INT(hwpart_by_name("numanode"), HWPART_NUMA);
    CHECK_INT(hwpart_by_name("NUMA"), HWPART_NUMA);
    CHECK_INT(hwpart_by_name("Socket"), HWPART_PACKAGE);
    CHECK_INT(hwpart_by_name("hwloc://"), HWPARTS);
    CHECK_INT(hwpart_by_name(""), HWPARTS);
}

/* A process is somewhere, and both say the same of each part that both know. */
static void test_here(void)
{
    struct hwloc hwloc;
    struct cpus cpus, by_hwloc, by_sys;
    struct site site;

    CHECK(!site_find(getpid(), 0, &site));
    cpus_of_process(getpid(), &cpus);
    CHECK(cpus_count(&cpus) > 0);
    if (!hwloc_open(&hwloc)) {
        printf("skipped: no libhwloc.so.15 here\n");
        return;
    }
    for (enum hwpart part = HWPART_L3; part < HWPARTS; part++) {
        const int cpu = cpus_next(&cpus, 0);

        if (!hwloc_part(&hwloc, part, cpu, &by_hwloc) || !hwpart_read("", part, cpu, &by_sys))
            continue;
        for (int other = 0; (other = cpus_next(&by_hwloc, other)) < CPUS_MAX; other++)
            CHECK(cpus_has(&by_sys, other));
    }
    hwloc_close(&hwloc);
    setenv("HWLOC_SYNTHETIC", "Package:2 NUMANode:2 L3Cache:1 Core:64 PU:2", 1);
    CHECK(hwloc_open(&hwloc));
    CHECK(hwloc_part(&hwloc, HWPART_NUMA, 130, &by_hwloc));
    CHECK_INT(cpus_next(&by_hwloc, 0), 128);
    CHECK_INT(cpus_count(&by_hwloc), 128);
    CHECK(hwloc_part(&hwloc, HWPART_CORE, 131, &by_hwloc));
    CHECK_INT(cpus_next(&by_hwloc, 0), 130);
    CHECK(!hwloc_part(&hwloc, HWPART_L2, 0, &by_hwloc));
    hwloc_close(&hwloc);
    CHECK(!site_find(getpid(), 0, &site));
    CHECK_INT(site.count[HWPART_NUMA] == 0 || site.count[HWPART_NUMA] == 128, 1);
    unsetenv("HWLOC_SYNTHETIC");
}

int main(void)
{
    test_names();
    test_tree();
    test_nothing();
    test_text();
    test_here();
    return 0;
}
