/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The parts of a machine that processors share: their names, those of hwloc, and what /sys tells of
 * them. */
#ifndef SYS_HWPART_H
#define SYS_HWPART_H

#include <stdbool.h>

#include "base/base.h"
#include "sys/cpus.h"

/* Mostly from large to small; which of several that have the same processors is named first. */
enum hwpart {
    HWPART_PACKAGE,
    HWPART_DIE,
    HWPART_NUMA,
    HWPART_L5,
    HWPART_L4,
    HWPART_L3,
    HWPART_L2,
    HWPART_L1,
    HWPART_CORE,
    HWPART_PU, /* one processor of the system: a hardware thread of a core */
    HWPARTS,
};

/* "hwloc://NUMANode" */
const char *hwpart_name(enum hwpart part);
/* The part of this name, with or without "hwloc://", in capitals or not, and by the older names Socket and NUMA;
 * HWPARTS: there is none. */
enum hwpart hwpart_by_name(const char *name);

/* A list of processors (or nodes) in a file below ROOT/sys/devices/system; the format makes the name. False: not
 * there, or no list. */
bool hwpart_read_list(const char *root, struct cpus *list, const char *format, ...) PRINTF_LIKE(3, 4);

/* The processors of the part of this kind that has `cpu`, as /sys below `root` ("" but in tests) tells. False: it does
 * not. Each object has one list there, so one file is read for each object and not for each processor; older systems
 * have other names for the same. */
bool hwpart_read(const char *root, enum hwpart part, int cpu, struct cpus *list);

#endif
