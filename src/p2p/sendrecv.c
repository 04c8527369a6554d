/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. A send and a receive in one call (MPI 5.0 §3.2.7, §3.7.2). Blocking, they are two requests that the call
 * waits for. Nonblocking, they are the halves of a pair: the user sees the pair only, each half is a request of the
 * pool that reports to its pair when it completes and is gone then. With one buffer for both (_replace) what is sent is
 * packed first, and goes out from there.
 * Knows: obj, type, and requests that can be set up and started. Does not know: protocols. */
#include "base/err.h"
#include "base/mem.h"
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"

/* --- blocking --- */

/* Wait for one of the two and let go of it. Whose error it is, the call knows. */
static int wait_for(struct req *req, enum req_waiter waiter, MPI_Status *status)
{
    int rc;

    if (!req_is_done(req)) {
        req->waiter = (uint8_t)waiter; /* one that is complete may be shared */
        progress_wait(&req->done, req->hint);
    }
    status_set(status, req->source, req->tag, req->bytes, false);
    rc = req->error;
    req->ops->release(req);
    return rc;
}

static int sendrecv(struct comm *comm, const struct p2p_sendrecv *args, int mode, enum req_waiter waiter,
                    MPI_Status *status)
{
    struct req *recv, *send;
    int rc, send_rc;

    rc = p2p_irecv(comm, args->recv_buf, args->recv_count, args->recv_type, args->source, args->recv_tag, mode,
                   &recv);
    if (rc)
        return rc;
    send_rc = p2p_isend(comm, args->send_buf, args->send_count, args->send_type, args->dest, args->send_tag, mode,
                        &send);
    if (send_rc) {
        recv->ops->cancel(recv);
        wait_for(recv, waiter, MPI_STATUS_IGNORE);
        return send_rc;
    }
    rc = wait_for(recv, waiter, status);
    send_rc = wait_for(send, waiter, MPI_STATUS_IGNORE);
    return rc ? rc : send_rc;
}

int p2p_sendrecv(struct comm *comm, const struct p2p_sendrecv *args, int mode, MPI_Status *status)
{
    return sendrecv(comm, args, mode, REQ_IN_SENDRECV, status);
}

/* --- one buffer --- */

/* Let `args` send a packed copy, unless nothing that is sent can be overwritten. Short ones go to `small`. */
static int send_copy(struct comm *comm, struct p2p_sendrecv *args, void *small, size_t small_len, void **packed)
{
    size_t len = type_bytes(args->send_type, args->send_count);
    void *copy = small;
    bool is_foreign;
    int rc;

    *packed = NULL;
    if (args->dest == MPI_PROC_NULL || args->source == MPI_PROC_NULL || !len)
        return 0;
    is_foreign = p2p_is_foreign(comm, args->dest);
    if (is_foreign) {
        len = external_bytes(args->send_type, args->send_count);
        rc = foreign_check_fit(channel_of(comm, P2P_STANDARD), args->send_type, args->send_buf, args->send_count,
                               args->dest, args->send_tag);
        if (rc)
            return rc;
    }
    if (len > small_len)
        copy = *packed = mem_alloc(len);
    if (!copy)
        return err(MPI_ERR_NO_MEM, "no memory for a copy of the %zu bytes to be sent", len);
    if (is_foreign)
        external_pack_range(args->send_type, args->send_buf, args->send_count, 0, copy, len);
    else
        type_pack(args->send_type, args->send_buf, args->send_count, 0, copy, len);
    args->send_buf = copy;
    args->send_count = (MPI_Count)len;
    args->send_type = obj_type(MPI_PACKED);
    return 0;
}

int p2p_sendrecv_replace(struct comm *comm, struct p2p_sendrecv *args, MPI_Status *status)
{
    char small[P2P_PACK_ON_STACK];
    void *packed;
    int rc = send_copy(comm, args, small, sizeof small, &packed);

    if (!rc)
        rc = sendrecv(comm, args, P2P_STANDARD, REQ_IN_SENDRECV_REPLACE, status);
    mem_free(packed);
    return rc;
}

/* --- nonblocking: pairs; with the lock --- */

static void pair_destroy(struct p2p_pair *pair)
{
    req_let_go(&pair->req);
    comm_unref(pair->req.comm);
    mem_pool_put(&pair->lane->pairs, pair);
}

/* One thing less that the pair waits for. */
static void pair_step(struct p2p_pair *pair)
{
    if (--pair->left)
        return;
    if (!pair->is_detached) {
        req_complete(&pair->req);
        return;
    }
    pair->lane->detached--;
    pair_destroy(pair);
    progress_notify();
}

static void send_is_over(struct p2p_pair *pair, const struct p2p_req *send)
{
    pair->send = NULL;
    mem_free(pair->packed);
    if (!pair->req.error)
        pair->req.error = send->req.error;
    if (!pair->has_recv)
        pair->req.is_cancelled = send->req.is_cancelled;
}

static void recv_is_over(struct p2p_pair *pair, const struct p2p_req *recv)
{
    pair->recv = NULL;
    pair->req.source = recv->req.source;
    pair->req.tag = recv->req.tag;
    pair->req.bytes = recv->req.bytes;
    pair->req.is_cancelled = recv->req.is_cancelled;
    if (recv->req.error)
        pair->req.error = recv->req.error;
}

void half_complete(struct p2p_req *r)
{
    struct p2p_pair *pair = r->pair;

    if (r->req.is_send)
        send_is_over(pair, r);
    else
        recv_is_over(pair, r);
    r->req.ops->release(&r->req);
    pair_step(pair);
}

static struct p2p_req *half_create(struct p2p_pair *pair, struct channel *channel, struct type *type)
{
    struct p2p_req *r = request_create(channel, type);

    if (!r)
        return NULL;
    r->is_half = r->is_special = true;
    r->pair = pair;
    return r;
}

/* The halves, as far as they have partners. After an error what has been made is in the pair. */
static int halves_create(struct p2p_pair *pair, struct channel *channel, const struct p2p_sendrecv *args)
{
    if (args->source != MPI_PROC_NULL) {
        pair->recv = half_create(pair, channel, args->recv_type);
        if (!pair->recv)
            return err(MPI_ERR_NO_MEM, "no memory for a receive request");
        recv_set_up(pair->recv, args->recv_buf, args->recv_count, args->source, args->recv_tag);
    }
    if (args->dest != MPI_PROC_NULL) {
        pair->send = half_create(pair, channel, args->send_type);
        if (!pair->send)
            return err(MPI_ERR_NO_MEM, "no memory for a send request");
        return send_set_up(pair->send, args->send_buf, args->send_count, args->dest, args->send_tag);
    }
    return 0;
}

/* All that can fail. */
static int pair_create(struct channel *channel, const struct p2p_sendrecv *args, struct p2p_pair **out)
{
    struct p2p_pair *pair = mem_pool_get(&channel->lane->pairs);
    int rc;

    *out = pair;
    if (!pair)
        return err(MPI_ERR_NO_MEM, "no memory for a send-receive request");
    *pair = (struct p2p_pair){
        .req = { .comm = channel->comm, .ops = &pair_ops, .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG },
        .lane = channel->lane,
        .has_recv = args->source != MPI_PROC_NULL,
    };
    obj_init(&pair->req.obj, OBJ_REQUEST);
    obj_ref(&channel->comm->obj);
    rc = halves_create(pair, channel, args);
    if (rc) {
        if (pair->recv)
            pair->recv->req.ops->release(&pair->recv->req);
        if (pair->send)
            pair->send->req.ops->release(&pair->send->req);
        pair_destroy(pair);
    }
    return rc;
}

static void pair_start(struct p2p_pair *pair)
{
    pair->left = 1 + (pair->recv != NULL) + (pair->send != NULL); /* complete when all have been started, not before */
    if (pair->recv)
        recv_start(pair->recv);
    if (pair->send)
        send_start(pair->send);
    if (pair->recv && !pair->send)
        pair->req.hint = pair->recv->req.hint;
    pair_step(pair);
}

static int isendrecv(struct comm *comm, const struct p2p_sendrecv *args, void *packed, bool is_replace,
                     struct req **out)
{
    struct channel *channel = channel_of(comm, P2P_STANDARD);
    struct p2p_pair *pair;
    int rc;

    lane_lock(channel->lane);
    rc = pair_create(channel, args, &pair);
    if (!rc) {
        pair->packed = packed;
        pair->is_replace = is_replace;
        pair_start(pair);
        *out = &pair->req;
    }
    lane_unlock(channel->lane);
    return rc;
}

int p2p_isendrecv(struct comm *comm, const struct p2p_sendrecv *args, struct req **out)
{
    return isendrecv(comm, args, NULL, false, out);
}

int p2p_isendrecv_replace(struct comm *comm, struct p2p_sendrecv *args, struct req **out)
{
    void *packed;
    int rc = send_copy(comm, args, NULL, 0, &packed);

    if (rc)
        return rc;
    rc = isendrecv(comm, args, packed, true, out);
    if (rc)
        mem_free(packed);
    return rc;
}

/* --- what the user does with one --- */

static struct p2p_pair *pair_of(const struct req *req)
{
    return (struct p2p_pair *)(uintptr_t)req;
}

static void pair_release(struct req *req)
{
    struct p2p_pair *pair = pair_of(req);
    struct lane *lane = pair->lane;

    lane_lock(lane);
    pair_destroy(pair);
    lane_unlock(lane);
}

static int pair_detach(struct req *req)
{
    struct p2p_pair *pair = pair_of(req);
    struct lane *lane = pair->lane;

    lane_lock(lane);
    if (req_is_done(req)) {
        pair_destroy(pair);
    } else {
        pair->is_detached = true;
        lane->detached++;
    }
    lane_unlock(lane);
    return 0;
}

/* The receive decides: when it has its message, the send goes on to its end too, and nothing is cancelled. Else what
 * can be taken back of the send is. */
static int pair_cancel(struct req *req)
{
    struct p2p_pair *pair = pair_of(req);
    struct lane *lane = pair->lane;

    lane_lock(lane);
    if (pair->recv)
        p2p_req_ops.cancel(&pair->recv->req);
    if (pair->send && (!pair->has_recv || req->is_cancelled))
        p2p_req_ops.cancel(&pair->send->req);
    lane_unlock(lane);
    return 0;
}

/* The half that is not complete; of two, the receive. */
static void pair_describe(const struct req *req, struct blocked *out)
{
    const struct p2p_pair *pair = pair_of(req);
    const struct p2p_req *half;

    lane_lock(pair->lane);
    half = pair->recv ? pair->recv : pair->send;
    if (half)
        request_describe(&half->req, out);
    else
        *out = (struct blocked){ .call = "MPI_Wait", .comm = req->comm };
    lane_unlock(pair->lane);
}

const struct req_ops pair_ops = {
    .release = pair_release,
    .cancel = pair_cancel,
    .detach = pair_detach,
    .describe = pair_describe,
};
