/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: where processes on different machines reach each other. A process writes its address into its job_place when
 * a network is open, and tells who has started it; he sees that it gets into the segments of all other
 * machines, where those that sleep are woken, for one may wait for it. */
#include <string.h>

#include "agent.h"
#include "far.h"
#include "frame.h"
#include "launch.h"
#include "sys/bell.h"

#define LOOK_SECONDS 0.5 /* in case it could not tell us */

/* Tell the others of addresses that are new. False: so far it has none at all. */
static bool look(struct job *job, int rank)
{
    struct rank *r = &job->ranks[rank];
    bool has_one = false;

    for (int net = 0; net < JOB_NETS; net++) {
        const bool is_new = !r->has_address[net] && job_address_size(&job_place(job->head, rank)->address[net]);
        r->has_address[net] |= is_new;
        has_one |= r->has_address[net];
        if (is_new && job->root)
            agent_address(job, rank, net);
        else if (is_new)
            far_address(job, rank, net);
    }
    return has_one;
}

void address_watch(struct job *job)
{
    bool is_waiting = false;

    if (!job->root && !job->links)
        return;
    for (int rank = 0; rank < job->used; rank++) {
        if (is_far(job, rank) || job->ranks[rank].is_over)
            continue;
        is_waiting |= !look(job, rank);
    }
    if (is_waiting)
        timer_set(job, TIMER_ADDRESSES, LOOK_SECONDS);
}

bool address_store(struct job *job, const struct frame *frame, const void *bytes)
{
    struct job_address *address;

    if (frame->value >= JOB_NETS)
        return false;
    address = &job_place(job->head, frame->rank)->address[frame->value];
    if (job_address_size(address))
        return true;
    memcpy(address->bytes, bytes, frame->length);
    atomic_store_explicit(&address->size, frame->length, memory_order_release);
    for (int i = 0; i < job->used; i++)
        if (!is_far(job, i) && !job->ranks[i].is_over)
            bell_wake(-1, job->head, &job_proc(job->head, i)->sleep);
    return true;
}
