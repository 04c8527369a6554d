/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The shared area of a cluster (p4_own.arena): blocks of it, and a few words besides. */
#ifndef P4_ARENA_H
#define P4_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "p4/int_p4.h"

enum { ARENA_ALIGN = 64 };

/* What the processes of a cluster share besides blocks; all zero at first. */
struct arena_shared {
    p4_barrier_monitor_t sync; /* of p4_cluster_shmem_sync */
    void *sync_value;
};

/* `bytes` at a multiple of ARENA_ALIGN, from any process of the cluster. NULL when no run of free bytes is long
 * enough, or before p4_initenv. May wait for another process that is in the middle of a call. */
void *arena_alloc(size_t bytes);
/* Give a block back, also one that another process has taken; its bytes stay as they are until somebody else takes
 * them. NULL, or what is wrong with the pointer or the block: then nothing has been changed. */
const char *arena_free(void *p);

/* Does a block in use begin at `p`? Then *bytes is how many were asked for. */
bool arena_is_block(const void *p, size_t *bytes);

/* Bytes of the longest block that can be had now. */
size_t arena_room(void);

/* After p4_initenv. */
struct arena_shared *arena_shared(void);

#endif
