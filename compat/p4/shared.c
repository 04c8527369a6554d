/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Shared memory for the program: blocks of the arena, and handing one address to a whole cluster. */
#include "p4/arena.h"

char *p4_shmalloc(int n)
{
    char *p;

    p4_need_started("p4_shmalloc");
    p = n < 0 ? NULL : arena_alloc((size_t)n);
    if (!p)
        p4_dprintf("E0650: p4_shmalloc: no room for %d bytes: the longest free block of the shared memory has %zu, of "
                   "%zu in all\n",
                   n, arena_room(), p4_own.arena_size);
    return p;
}

void p4_shfree(void *p)
{
    const char *fault;

    if (!p)
        return;
    p4_need_started("p4_shfree");
    fault = arena_free(p);
    if (fault)
        p4_fail("E0651: p4_shfree: the pointer %p: %s", p, fault);
}

/* The second barrier keeps the next call from overwriting the value before all have it. */
void p4_cluster_shmem_sync(void *cluster_shmem)
{
    struct arena_shared *shared;

    p4_need_started("p4_cluster_shmem_sync");
    shared = arena_shared();
    if (p4_am_i_cluster_master())
        memcpy(&shared->sync_value, cluster_shmem, sizeof shared->sync_value);
    p4_barrier(&shared->sync, p4_num_cluster_ids());
    memcpy(cluster_shmem, &shared->sync_value, sizeof shared->sync_value);
    p4_barrier(&shared->sync, p4_num_cluster_ids());
}
