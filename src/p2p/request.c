/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Life of a request: made, completed, released, cancelled. */
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"

static ALWAYS_INLINE void release(struct p2p_req *r, bool is_single)
{
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    type_unref(r->type);
    comm_unref(r->channel->comm);
    if (is_single) {
        mem_free(r);
        mem_tide_out(&lane->singles, sizeof *r);
    } else {
        mem_pool_put(&lane->requests, r);
    }
    lane_unlock(lane);
}

static void request_release(struct req *req)
{
    release((struct p2p_req *)(void *)req, false);
}

/* Beyond the pool. Its table of functions says so, which costs those from the pool nothing. */
static void single_release(struct req *req)
{
    release((struct p2p_req *)(void *)req, true);
}

void complete_special(struct p2p_req *r)
{
    if (r->mode & P2P_HIDDEN)
        recv_show(r);
    if (r->flags & P2P_LISTS)
        lists_close(r);
    if (!r->req.ops) { /* a piece, no request of the user's */
        part_piece_done(r);
        return;
    }
    if (r->is_cancelling)
        list_remove(&r->out.link); /* the question may still wait for room */
    if (r->is_half) {
        half_complete(r);
        return;
    }
    if (r->is_reported) {
        report_complete(r);
        return;
    }
    if (!r->is_detached) {
        req_complete(&r->req);
        return;
    }
    r->channel->lane->detached--;
    r->req.ops->release(&r->req);
    progress_notify();
}

/* --- what the user does with one --- */

static int request_detach(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    if (req_is_done(req)) {
        req->ops->release(req);
    } else {
        r->is_detached = r->is_special = true;
        lane->detached++;
    }
    lane_unlock(lane);
    return 0;
}

void request_cancelled(struct p2p_req *r)
{
    r->req.is_cancelled = true;
    p2p_complete(r);
}

/* The receiver decides; this request is offered, so its record is out and `out` is free for the question. */
void request_ask_back(struct p2p_req *r)
{
    if (r->is_cancelling)
        return;
    r->is_cancelling = r->is_special = true;
    if (r->peer->is_foreign) {
        foreign_ask_back(r);
        return;
    }
    list_init(&r->out.link);
    r->control.reply = (struct wire_reply){ (uintptr_t)r };
    control_send(r, WIRE_CANCEL, sizeof r->control.reply, THEN_NOTHING);
}

static int request_cancel(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    if (!req_is_done(req)) {
        if (!req->is_send) {
            if (!offload_ask_back(r) && match_cancel(&r->channel->match, &r->match))
                request_cancelled(r);
        } else if (r->state == P2P_QUEUED) {
            list_remove(&r->out.link);
            request_cancelled(r);
        } else if (r->state == P2P_OFFERED) {
            request_ask_back(r);
        }
    }
    lane_unlock(lane);
    return 0;
}

const struct req_ops p2p_req_ops = {
    .release = request_release,
    .cancel = request_cancel,
    .detach = request_detach,
    .start = request_start,
    .describe = request_describe,
};

static const struct req_ops single_ops = {
    .release = single_release,
    .cancel = request_cancel,
    .detach = request_detach,
    .start = request_start,
    .describe = request_describe,
};

struct p2p_req *request_create_single(struct channel *channel, struct type *type)
{
    struct p2p_req *r = mem_alloc_aligned(CACHE_LINE, sizeof *r);

    if (!r)
        return NULL;
    request_init(r, channel, type);
    r->req.waiter = REQ_IN_WAIT;
    r->req.ops = &single_ops;
    type_ref(type);
    obj_ref(&channel->comm->obj);
    mem_tide_in(&channel->lane->singles, sizeof *r);
    return r;
}
