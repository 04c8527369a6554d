/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: where processes on different machines reach each other. A process writes its address into its job_place when
 * its network is open, and tells who has started it; he sees that it gets into the segments of all other
 * machines, where those that sleep are woken, for one may wait for it. */
#include <string.h>

#include "agent.h"
#include "far.h"
#include "launch.h"
#include "sys/bell.h"

#define LOOK_SECONDS 0.5 /* in case it could not tell us */

/* Tell the others of an address that is new. */
static bool look(struct job *job, int rank)
{
    struct rank *r = &job->ranks[rank];

    if (!atomic_load_explicit(&job_place(job->head, rank)->size, memory_order_acquire))
        return false;
    r->has_address = true;
    if (job->root)
        agent_address(job, rank);
    else
        far_address(job, rank);
    return true;
}

void address_watch(struct job *job)
{
    bool is_waiting = false;

    if (!job->root && !job->links)
        return;
    for (int rank = 0; rank < job->used; rank++) {
        if (is_far(job, rank) || job->ranks[rank].is_over || job->ranks[rank].has_address)
            continue;
        is_waiting |= !look(job, rank);
    }
    if (is_waiting)
        timer_set(job, TIMER_ADDRESSES, LOOK_SECONDS);
}

void address_store(struct job *job, int rank, const void *address, size_t size)
{
    struct job_place *place = job_place(job->head, rank);

    if (atomic_load_explicit(&place->size, memory_order_relaxed))
        return;
    memcpy(place->address, address, size);
    atomic_store_explicit(&place->size, (uint32_t)size, memory_order_release);
    for (int i = 0; i < job->used; i++)
        if (!is_far(job, i) && !job->ranks[i].is_over)
            bell_wake(-1, job->head, &job_proc(job->head, i)->sleep);
}
