/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Parts of the machine in /sys: cpuN/topology/core_cpus_list for cores, node/nodeN/cpulist for NUMA nodes,
 * and so on. Knows no ranks and no binding. */
#include "sys/hwpart.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sys/text.h"

enum { LIST_SIZE = 16384, PATH_SIZE = 512, CACHES = 8 };

static const char provider[] = "hwloc://";

const char *hwpart_name(enum hwpart part)
{
    static const char *const names[HWPARTS] = {
        "hwloc://Package", "hwloc://Die", "hwloc://NUMANode", "hwloc://L5Cache", "hwloc://L4Cache",
        "hwloc://L3Cache", "hwloc://L2Cache", "hwloc://L1Cache", "hwloc://Core", "hwloc://PU",
    };

    return names[part];
}

enum hwpart hwpart_by_name(const char *name)
{
    enum hwpart part = 0;

    if (!strncasecmp(name, provider, sizeof provider - 1))
        name += sizeof provider - 1;
    if (!strcasecmp(name, "Socket"))
        return HWPART_PACKAGE;
    if (!strcasecmp(name, "NUMA"))
        return HWPART_NUMA;
    while (part < HWPARTS && strcasecmp(name, hwpart_name(part) + sizeof provider - 1))
        part++;
    return part;
}

bool hwpart_read_list(const char *root, struct cpus *list, const char *format, ...)
{
    char path[PATH_SIZE], text[LIST_SIZE];
    const int length = snprintf(path, sizeof path, "%s/sys/devices/system/", root);
    va_list args;

    va_start(args, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, args);
    va_end(args);
    return text_read(path, text, sizeof text) && cpus_parse(text, list);
}

/* The cache of `level` that holds data of `cpu`. Its directory has that number or, with both kinds of the first level,
 * one less or more. */
static bool read_cache(const char *root, struct cpus *list, int cpu, int level)
{
    char path[PATH_SIZE], text[16];

    for (int i = level - 1; i < CACHES; i++) {
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cache/index%d/level", root, cpu, i);
        if (!text_read(path, text, sizeof text))
            return false;
        if (atoi(text) == level)
            return hwpart_read_list(root, list, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
    }
    return false;
}

/* Nodes tell their processors; those of a processor are not told in a list. */
static bool read_node(const char *root, struct cpus *list, int cpu)
{
    struct cpus nodes; /* the list of nodes has the same form */

    if (!hwpart_read_list(root, &nodes, "node/online"))
        return false;
    for (int node = cpus_next(&nodes, 0); node < CPUS_MAX; node = cpus_next(&nodes, node + 1))
        if (hwpart_read_list(root, list, "node/node%d/cpulist", node) && cpus_has(list, cpu))
            return true;
    return false;
}

bool hwpart_read(const char *root, enum hwpart part, int cpu, struct cpus *list)
{
    switch (part) {
    case HWPART_PACKAGE:
        return hwpart_read_list(root, list, "cpu/cpu%d/topology/package_cpus_list", cpu) ||
               hwpart_read_list(root, list, "cpu/cpu%d/topology/core_siblings_list", cpu);
    case HWPART_DIE: return hwpart_read_list(root, list, "cpu/cpu%d/topology/die_cpus_list", cpu);
    case HWPART_NUMA: return read_node(root, list, cpu);
    case HWPART_L5: return read_cache(root, list, cpu, 5);
    case HWPART_L4: return read_cache(root, list, cpu, 4);
    case HWPART_L3: return read_cache(root, list, cpu, 3);
    case HWPART_L2: return read_cache(root, list, cpu, 2);
    case HWPART_L1: return read_cache(root, list, cpu, 1);
    case HWPART_CORE:
        return hwpart_read_list(root, list, "cpu/cpu%d/topology/core_cpus_list", cpu) ||
               hwpart_read_list(root, list, "cpu/cpu%d/topology/thread_siblings_list", cpu);
    case HWPART_PU:
        *list = (struct cpus){ 0 };
        cpus_add(list, cpu);
        return true;
    default: return false;
    }
}
