/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What a request waits for, told when somebody has waited for long. Changes nothing. */
#include "p2p/int_p2p.h"

void describe_key(uint64_t key, uint64_t mask, struct blocked *out)
{
    out->way = BLOCKED_RECEIVING;
    out->peer = mask >> 32 ? match_key_source(key) : MPI_ANY_SOURCE;
    out->tag = (uint32_t)mask ? match_key_tag(key) : MPI_ANY_TAG;
}

static const char *name_of_persistent(const struct p2p_req *r)
{
    if (!r->req.is_send)
        return "MPI_Start of MPI_Recv_init";
    if (r->mode & P2P_SYNC)
        return "MPI_Start of MPI_Ssend_init";
    if (r->mode & P2P_BUFFERED)
        return "MPI_Start of MPI_Bsend_init";
    return r->mode & P2P_READY ? "MPI_Start of MPI_Rsend_init" : "MPI_Start of MPI_Send_init";
}

static const char *name_of(const struct p2p_req *r)
{
    const bool is_sync = r->flags & WIRE_SYNC, is_in_call = r->req.waiter == REQ_IN_OWN_CALL;

    if (r->req.is_persistent)
        return name_of_persistent(r);
    if (r->is_half)
        return r->pair->is_replace ? "MPI_Isendrecv_replace" : "MPI_Isendrecv";
    if (r->req.waiter == REQ_IN_MRECV)
        return "MPI_Mrecv";
    if (!r->req.is_send)
        return is_in_call ? "MPI_Recv" : "MPI_Irecv";
    if (is_sync)
        return is_in_call ? "MPI_Ssend" : "MPI_Issend";
    return is_in_call ? "MPI_Send" : "MPI_Isend";
}

static void describe_call(const struct p2p_req *r, struct blocked *out)
{
    const struct comm *comm = r->channel->comm;

    out->call = name_of(r);
    if (r->req.waiter == REQ_IN_SENDRECV)
        out->call = "MPI_Sendrecv";
    if (r->req.waiter == REQ_IN_SENDRECV_REPLACE)
        out->call = "MPI_Sendrecv_replace";
    if (r->req.waiter == REQ_IN_WAIT) {
        out->of = out->call;
        out->call = "MPI_Wait or MPI_Waitall";
    }
    if (r->channel != &comm->p2p->channel[1])
        return;
    out->is_coll = true;
    out->of = NULL;
    if (out->tag >= 0) /* a tag of the user's in this context; other threads may be in collective calls */
        out->call = "MPI_Comm_create_group";
    else
        out->call = comm->coll_outer ? comm->coll_outer : comm->coll_call;
}

void request_describe(const struct req *req, struct blocked *out)
{
    const struct p2p_req *r = (const struct p2p_req *)(const void *)req;
    struct lane *lane = r->channel->lane;

    lane_lock(lane);
    *out = (struct blocked){ .comm = req->comm, .count = r->count, .type = type_name(r->type) };
    if (!req->is_send && match_is_posted(&r->match)) {
        describe_key(r->match.node.key, r->match.mask, out);
    } else {
        out->way = req->is_send ? BLOCKED_SENDING : BLOCKED_RECEIVING;
        out->peer = req->is_send ? group_rank_of(req->comm->remote_group, r->peer->proc) : req->source;
        out->tag = req->tag;
    }
    describe_call(r, out);
    lane_unlock(lane);
}
