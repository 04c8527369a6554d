/* SPDX-License-Identifier: BSD-3-Clause */
/* A procgroup with three clusters: ids 0 to 2, 3 to 5 and 6. Each cluster shares its own memory. */
#include "p4_test.h"

static const int first[] = { 0, 3, 6 }, last[] = { 2, 5, 6 };

static void check_identity(int cluster, int me)
{
    int start, end, num, ids[P4_MAXPROCS];

    CHECK_INT(p4_num_total_ids(), 7);
    CHECK_INT(p4_num_cluster_ids(), last[cluster] - first[cluster] + 1);
    CHECK_INT(p4_get_my_cluster_id(), me - first[cluster]);
    CHECK_INT(p4_am_i_cluster_master(), me == first[cluster]);
    p4_get_cluster_ids(&start, &end);
    CHECK_INT(start, first[cluster]);
    CHECK_INT(end, last[cluster]);
    p4_get_cluster_masters(&num, ids);
    CHECK_INT(num, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ids[i], first[i]);
}

struct shared {
    p4_barrier_monitor_t barrier;
    p4_lock_t lock;
    int count;
};

/* Remote clusters are forked before main goes on: they learn of the memory by p4_cluster_shmem_sync. */
static void check_sharing(void)
{
    struct shared *shared = NULL;

    if (p4_am_i_cluster_master()) {
        shared = (struct shared *)(void *)p4_shmalloc(sizeof *shared);
        p4_barrier_init(&shared->barrier);
        p4_lock_init(&shared->lock);
        shared->count = 0;
    }
    p4_cluster_shmem_sync(&shared);
    for (int i = 0; i < 1000; i++) {
        p4_lock(&shared->lock);
        shared->count++;
        p4_unlock(&shared->lock);
    }
    p4_barrier(&shared->barrier, p4_num_cluster_ids());
    CHECK_INT(shared->count, 1000 * p4_num_cluster_ids());
}

int main(int argc, char **argv)
{
    int me;

    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    check_identity(me < 3 ? 0 : me < 6 ? 1 : 2, me);
    check_sharing();
    p4_global_barrier(1);
    p4_wait_for_end();
    return 0;
}
