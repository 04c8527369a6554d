/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The parts of a machine as the library hwloc tells of them. It is opened when its word is wanted, and not
 * needed for anything. */
#ifndef SYS_HWLOC_H
#define SYS_HWLOC_H

#include "sys/hwpart.h"

/* The functions of the library and what it has read. */
struct hwloc {
    void *topology;
    struct hwloc_calls {
        int (*init)(void **topology);
        int (*set_flags)(void *topology, unsigned long flags);
        int (*load)(void *topology);
        void (*destroy)(void *topology);
        int (*type_depth)(void *topology, int type);
        struct hwloc_object *(*object)(void *topology, int depth, unsigned number);
        int (*next)(const void *bitmap, int previous);
        unsigned (*version)(void);
    } calls;
};

/* Has the user told hwloc of another machine than it sees, by its own variables (HWLOC_SYNTHETIC, …)? */
bool hwloc_is_asked(void);
/* Open the library and let it read the machine: milliseconds. False: it is not here, not of version 2, or fails. */
bool hwloc_open(struct hwloc *hwloc);
/* As hwpart_read. */
bool hwloc_part(const struct hwloc *hwloc, enum hwpart part, int cpu, struct cpus *list);
void hwloc_close(struct hwloc *hwloc);

#endif
