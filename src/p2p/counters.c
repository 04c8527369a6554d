/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What has been counted, over all lanes, and the lengths of the queues of one communicator.
 * Does not know: who counts what, see counters.h. */
#include "p2p/counters.h"

#include "p2p/int_p2p.h"

void counters_add_match(struct p2p_counters *counters, const struct match_ctx *match)
{
    if (match->posted_high > counters->posted_high)
        counters->posted_high = match->posted_high;
    if (match->arrival_high > counters->arrivals_high)
        counters->arrivals_high = match->arrival_high;
    counters->walked += match->walked;
}

static void add_device(struct p2p_counters *counters, const struct offload_counters *more)
{
    counters->device_posted += more->appended;
    counters->device_taken += more->taken;
    counters->device_raced += more->raced;
    counters->device_spilled += more->spilled;
}

/* With its lock. */
static void add_lane(struct p2p_counters *counters, const struct lane *lane)
{
    const struct p2p_counters *more = &lane->counters;

    counters->unexpected += more->unexpected;
    counters->unexpected_now += more->unexpected_now;
    counters->unexpected_high += more->unexpected_high;
    counters->bytes_now += lane->held.now;
    counters->bytes_high += more->bytes_high;
    counters->throttles += more->throttles;
    counters->holds += more->holds;
    counters->hungers += more->hungers;
    counters->walked += more->walked;
    if (lane->offload)
        add_device(counters, &lane->offload->counters);
    counters->posted_high = size_max(counters->posted_high, more->posted_high);
    counters->arrivals_high = size_max(counters->arrivals_high, more->arrivals_high);
    for (unsigned i = 0; i < lane->channel_slots; i++) {
        if (lane->channels[i])
            counters_add_match(counters, &lane->channels[i]->match);
    }
}

void p2p_counters(struct p2p_counters *out)
{
    struct lane *lane;
    int number = 0;

    *out = (struct p2p_counters){ 0 };
    while ((lane = lane_next(&number))) {
        lane_lock(lane);
        add_lane(out, lane);
        lane_unlock(lane);
    }
}

void p2p_queues(const struct comm *comm, struct p2p_queues *out)
{
    struct lane *lane = channel_of(comm, 0)->lane;

    *out = (struct p2p_queues){ 0 };
    lane_lock(lane);
    for (int i = 0; i < 2; i++) {
        out->posted += comm->p2p->channel[i].match.posted_count;
        out->arrivals += comm->p2p->channel[i].match.arrival_count;
    }
    lane_unlock(lane);
}
