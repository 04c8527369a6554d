/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: how the processors that may be used sit in the machine, as /sys tells it. Read when binding needs it only.
 * Knows nothing of ranks. */
#ifndef LAUNCH_TOPOLOGY_H
#define LAUNCH_TOPOLOGY_H

#include <stdbool.h>

#include "sys/cpus.h"

/* From small to large. A thread is one processor of the system: a hardware thread of a core. */
enum topology_kind {
    TOPOLOGY_THREAD,
    TOPOLOGY_CORE,
    TOPOLOGY_L2,
    TOPOLOGY_L3,
    TOPOLOGY_NUMA,
    TOPOLOGY_PACKAGE,
    TOPOLOGY_MACHINE,
    TOPOLOGY_KINDS,
};

/* One processor, and the object of each kind that it belongs to. Objects of a kind are numbered from 0 in the order
 * in which they come; those without a processor that may be used do not count. */
struct place {
    int cpu;
    int object[TOPOLOGY_KINDS];
};

/* Places are in machine order: by package, NUMA node, L3 cache, core. What /sys does not tell of is one object for
 * each larger one around it; a core then is one thread. */
struct topology {
    struct place *places;
    int count;
    int objects[TOPOLOGY_KINDS]; /* how many of each kind */
};

/* The machine below `root` ("" but in tests) as far as `allowed` goes, which is not empty. L2 caches mostly belong to
 * one core each and are looked at on demand only: `has_l2`. */
void topology_read(struct topology *topology, const char *root, const struct cpus *allowed, bool has_l2);

void topology_free(struct topology *topology);

/* "core", and for many "cores". */
const char *topology_name(enum topology_kind kind, bool is_many);

#endif
