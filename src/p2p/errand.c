/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Bytes from and to an address in another process, for who is in the same call as that one and finds that
 * the system has come to refuse its copies: the other process's library sends them, or takes them in, when it polls.
 *
 *   fetch   FETCH names the address and the receiver's id, and what lies there comes as DATA
 *   store   STORE names the address and the sender's id; the answer asks for the bytes as a stream (CTS_STREAM). They
 *           are in when a fetch that was asked for after them has been served
 *
 * Knows: net, obj. Does not know: matching, who calls. */
#include "base/err.h"
#include "p2p/int_p2p.h"

static void prepare(struct p2p_req *r, struct peer *peer, uint64_t address, size_t len)
{
    r->peer = peer;
    r->buf = (void *)(uintptr_t)address;
    r->count = (MPI_Count)len;
    r->len = r->wanted = len;
    r->flags = WIRE_CONTIG;
    r->req.tag = 0;
    r->started = 0;
}

/* --- who asks --- */

static int ask(struct comm *comm, int proc, enum wire_kind kind, uint64_t here, uint64_t there, size_t len)
{
    struct channel *channel = channel_of(comm, P2P_COLL);
    struct peer *peer;
    struct p2p_req r;
    int rc;

    lane_lock(channel->lane);
    rc = peer_get(channel->lane, proc, &peer);
    if (!rc) {
        request_init(&r, channel, obj_type(MPI_BYTE));
        prepare(&r, peer, here, len);
        r.req.is_send = kind == WIRE_STORE;
        r.req.hint = (struct progress_hint){ lane_poll_peer, peer };
        if (kind == WIRE_FETCH)
            list_append(&channel->lane->landings, &r.link);
        r.control.errand = (struct wire_errand){ (uintptr_t)&r, there, len };
        control_send(&r, kind, sizeof r.control.errand, THEN_NOTHING);
    }
    lane_unlock(channel->lane);
    if (rc)
        return rc;
    progress_wait(&r.req.done, r.req.hint);
    return r.req.error;
}

int p2p_fetch(struct comm *comm, int proc, void *to, uint64_t from, size_t len)
{
    return ask(comm, proc, WIRE_FETCH, (uintptr_t)to, from, len);
}

int p2p_store(struct comm *comm, int proc, const void *from, uint64_t to, size_t len)
{
    const int rc = ask(comm, proc, WIRE_STORE, (uintptr_t)from, to, len);
    char seen;

    return rc ? rc : p2p_fetch(comm, proc, &seen, to, 1);
}

/* --- who is asked --- */

int errand_arrive(struct lane *lane, int proc, struct net_head head, const struct wire_errand *errand)
{
    struct channel *channel = channel_find(lane, wire_ctx(head));
    struct p2p_req *r;
    struct peer *peer;

    if (peer_get(lane, proc, &peer))
        return NET_AGAIN;
    r = request_create_single(channel, obj_type(MPI_BYTE));
    if (!r)
        return NET_AGAIN;
    prepare(r, peer, errand->address, errand->len);
    r->remote_id = errand->id;
    r->state = P2P_MOVING;
    r->is_special = r->is_detached = true;
    lane->detached++;
    if (wire_kind(head) == WIRE_FETCH)
        rndv_stream_out(r, errand->id, false);
    else
        rndv_stream(r);
    return 0;
}
