/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Life of a request: made, completed, released, cancelled. */
#include "base/err.h"
#include "p2p/int_p2p.h"

void request_init(struct p2p_req *r, struct channel *channel)
{
    obj_init(&r->req.obj, OBJ_REQUEST);
    atomic_init(&r->req.done, 0);
    r->req.is_persistent = r->req.is_active = r->req.is_cancelled = r->req.is_send = false;
    r->req.error = 0;
    r->req.bytes = 0;
    r->req.comm = channel->comm;
    r->req.hint = (struct progress_hint){ NULL, NULL };
    r->req.ops = &p2p_req_ops;
    r->channel = channel;
    r->peer = NULL;
    r->moved = 0;
    r->state = P2P_NEW;
    r->flags = 0;
    r->is_detached = r->is_cancelling = r->is_pooled = false;
}

struct p2p_req *request_create(struct channel *channel, struct type *type)
{
    struct p2p_req *r = mem_pool_get(&channel->lane->requests);

    if (unlikely(!r))
        return NULL;
    request_init(r, channel);
    r->is_pooled = true;
    r->type = type;
    type_ref(type);
    obj_ref(&channel->comm->obj);
    return r;
}

/* With the lock. */
static void request_free(struct p2p_req *r)
{
    struct lane *lane = r->channel->lane;

    type_unref(r->type);
    comm_unref(r->channel->comm);
    mem_pool_put(&lane->requests, r);
}

void p2p_complete(struct p2p_req *r)
{
    if (unlikely(r->is_cancelling))
        list_remove(&r->out.link); /* the question may still wait for room */
    if (unlikely(r->is_detached)) {
        r->channel->lane->detached -= r->req.is_send;
        request_free(r);
        progress_notify();
        return;
    }
    req_complete(&r->req);
}

/* --- what the user does with one --- */

static void request_release(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    request_free(r);
    lane_unlock(lane);
}

static int request_detach(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    if (req_is_done(req)) {
        request_free(r);
    } else {
        r->is_detached = true;
        lane->detached += req->is_send;
    }
    lane_unlock(lane);
    return 0;
}

static void cancelled(struct p2p_req *r)
{
    r->req.is_cancelled = true;
    p2p_complete(r);
}

/* The receiver decides; this request is offered, so its record is out and `out` is free for the question. */
static void ask_receiver(struct p2p_req *r)
{
    if (r->is_cancelling)
        return;
    r->is_cancelling = true;
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
            if (match_cancel(&r->channel->match, &r->match))
                cancelled(r);
        } else if (r->state == P2P_QUEUED) {
            list_remove(&r->out.link);
            cancelled(r);
        } else if (r->state == P2P_OFFERED) {
            ask_receiver(r);
        }
    }
    lane_unlock(lane);
    return 0;
}

static int request_start(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "the request is not persistent");
}

const struct req_ops p2p_req_ops = {
    .release = request_release,
    .cancel = request_cancel,
    .detach = request_detach,
    .start = request_start,
};
