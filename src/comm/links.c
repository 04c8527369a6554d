/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Which processes of other worlds this one has a communicator with, for who wants to know whom its end
 * concerns (MPI 5.0 §11.10.4). Counted when communicators come and go; nothing is done where all are of one world. */
#include <pthread.h>
#include <string.h>

#include "comm/int_comm.h"
#include "sys/job.h"

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t *bits;            /* where it is told; NULL: nowhere */
    uint32_t count[JOB_SLOTS_MAX];     /* communicators; guarded by lock */
} links = { .lock = PTHREAD_MUTEX_INITIALIZER };

void comm_links_start(_Atomic uint64_t *bits)
{
    links.bits = bits;
    memset(links.count, 0, sizeof links.count);
}

static bool is_of_own_world(int proc)
{
    return proc >= comm_world.first && proc < comm_world.first + comm_world.size;
}

/* All of a stride are, if its ends are. */
static bool is_all_of_own_world(const struct group *group)
{
    return !group->size || (!group->list && is_of_own_world(group_proc(group, 0)) &&
                            is_of_own_world(group_proc(group, group->size - 1)));
}

static void count_one(int proc, int change)
{
    const uint64_t bit = UINT64_C(1) << proc % 64;

    links.count[proc] += (uint32_t)change;
    if (links.count[proc])
        atomic_fetch_or_explicit(&links.bits[proc / 64], bit, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&links.bits[proc / 64], ~bit, memory_order_release);
}

void comm_links_count(const struct group *group, int change)
{
    if (!links.bits || is_all_of_own_world(group))
        return;
    pthread_mutex_lock(&links.lock);
    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);
        if (!is_of_own_world(proc) && proc < JOB_SLOTS_MAX && !comm_is_foreign(proc))
            count_one(proc, change);
    }
    pthread_mutex_unlock(&links.lock);
}
