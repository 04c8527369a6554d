/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Telling somebody who waits for many requests which of them are complete, so that nobody looks through all.
 * Knows: requests. Does not know: what they are for. */
#include "p2p/int_p2p.h"

bool p2p_report(struct req *req, struct p2p_inbox *inbox, struct p2p_slip *slip)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane;
    bool is_pending;

    if (req_is_done(req)) /* it may be one that all share */
        return false;
    lane = r->channel->lane;
    lane_lock(lane);
    is_pending = !req_is_done(req);
    if (is_pending) {
        r->is_special = r->is_reported = true;
        r->inbox = inbox;
        r->slip = slip;
    }
    lane_unlock(lane);
    return is_pending;
}

void report_complete(struct p2p_req *r)
{
    struct p2p_inbox *inbox = r->inbox;
    struct p2p_slip *slip = r->slip;

    slip->next = NULL;
    if (!inbox->first)
        inbox->end = &inbox->first;
    *inbox->end = slip;
    inbox->end = &slip->next;
    atomic_store_explicit(&r->req.done, 1, memory_order_relaxed); /* for who takes the lock */
    atomic_store_explicit(inbox->news, 1, memory_order_release); /* pairs with who clears it and then takes */
    progress_notify();
}

struct p2p_slip *p2p_inbox_take(const struct comm *comm, struct p2p_inbox *inbox)
{
    struct lane *lane = channel_of(comm, P2P_COLL)->lane;
    struct p2p_slip *first;

    lane_lock(lane);
    first = inbox->first;
    inbox->first = NULL;
    lane_unlock(lane);
    return first;
}
