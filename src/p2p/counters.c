/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What has been counted, over all lanes, and the lengths of the queues of one communicator.
 * Does not know: who counts what, see counters.h. */
#include "p2p/counters.h"

#include <pthread.h>

#include "base/event.h"
#include "p2p/int_p2p.h"

/* Of each lane as it was last seen, for callbacks. */
static struct {
    pthread_mutex_t lock; /* after that of a lane */
    struct p2p_counters of[NET_LANES];
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

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
static struct p2p_counters of_lane(const struct lane *lane)
{
    struct p2p_counters counters = lane->counters;

    counters.bytes_now = lane->held.now;
    if (lane->offload)
        add_device(&counters, &lane->offload->counters);
    for (unsigned i = 0; i < lane->channel_slots; i++) {
        if (lane->channels[i])
            counters_add_match(&counters, &lane->channels[i]->match);
    }
    return counters;
}

/* False: in a callback, and another thread has the lane, perhaps in a callback, too, from which it comes for ours. */
static bool enter(struct lane *lane)
{
    if (event_depth && lane->is_threaded)
        return lock_try(&lane->lock);
    lane_lock(lane);
    return true;
}

static void look_at(struct lane *lane)
{
    if (!enter(lane))
        return;
    pthread_mutex_lock(&seen.lock);
    seen.of[lane->number] = of_lane(lane);
    pthread_mutex_unlock(&seen.lock);
    lane_unlock(lane);
}

static void add_seen(struct p2p_counters *counters, const struct p2p_counters *more)
{
    counters->unexpected += more->unexpected;
    counters->unexpected_now += more->unexpected_now;
    counters->unexpected_high += more->unexpected_high;
    counters->bytes_now += more->bytes_now;
    counters->bytes_high += more->bytes_high;
    counters->throttles += more->throttles;
    counters->holds += more->holds;
    counters->hungers += more->hungers;
    counters->walked += more->walked;
    counters->device_posted += more->device_posted;
    counters->device_taken += more->device_taken;
    counters->device_raced += more->device_raced;
    counters->device_spilled += more->device_spilled;
    counters->posted_high = size_max(counters->posted_high, more->posted_high);
    counters->arrivals_high = size_max(counters->arrivals_high, more->arrivals_high);
}

void p2p_counters(struct p2p_counters *out)
{
    struct lane *lane;
    int number = 0;

    *out = (struct p2p_counters){ 0 };
    while ((lane = lane_next(&number))) {
        look_at(lane);
        pthread_mutex_lock(&seen.lock);
        add_seen(out, &seen.of[lane->number]);
        pthread_mutex_unlock(&seen.lock);
    }
}

void p2p_queues(const struct comm *comm, struct p2p_queues *out)
{
    struct lane *lane = channel_of(comm, 0)->lane;

    const bool is_inside = enter(lane);

    *out = (struct p2p_queues){ 0 };
    for (int i = 0; i < 2; i++) {
        out->posted += __atomic_load_n(&comm->p2p->channel[i].match.posted_count, __ATOMIC_RELAXED);
        out->arrivals += __atomic_load_n(&comm->p2p->channel[i].match.arrival_count, __ATOMIC_RELAXED);
    }
    if (is_inside)
        lane_unlock(lane);
}
