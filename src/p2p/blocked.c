/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. For reports, when somebody has waited for long: what a request waits for; which messages have come that
 * nobody has asked for, and which receives are posted. Changes nothing. */
#include "p2p/int_abroad.h"
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

/* A leader of a group waits for the other one (tags: coll/coll.h): only these two are in this. */
static void describe_leader(const struct comm *comm, struct blocked *out)
{
    const bool is_between_sides = comm->is_inter && comm->local;

    out->is_coll = false;
    out->tag = MPI_ANY_TAG;
    out->call = is_between_sides ? comm->local->coll_outer : "MPI_Intercomm_create";
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
        out->call = "MPI_Wait";
    }
    if (r->channel != &comm->p2p->channel[1])
        return;
    out->is_coll = true;
    out->sequence = comm->coll_sequence;
    out->of = NULL;
    if (out->tag >= 0) /* a tag of the user's in this context; other threads may be in collective calls */
        out->call = "MPI_Comm_create_group";
    else if (out->tag < -(1 << 30) - 32)
        describe_leader(comm, out);
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

/* --- what MPI_Finalize waits for --- */

static void on_freed(const struct match_entry *recv, void *arg)
{
    const struct p2p_req *r = CONTAINER_OF(recv, const struct p2p_req, match), **found = arg;

    if (!*found && r->is_detached)
        *found = r;
}

/* A receive that the user has freed and for which no message has come. */
static const struct p2p_req *freed_receive(const struct lane *lane)
{
    const struct p2p_req *found = NULL;

    for (unsigned i = 0; i < lane->channel_slots && !found; i++) {
        struct channel *channel = lane->channels[i];
        if (channel && channel == &channel->comm->p2p->channel[0])
            match_each_posted(&channel->match, on_freed, &found);
    }
    return found;
}

/* What belongs to the receive may go at any time if another thread takes messages in. */
static void describe_freed(const struct p2p_req *r, bool may_go, struct blocked *out)
{
    *out = (struct blocked){ .call = "MPI_Finalize", .of = "MPI_Irecv", .way = BLOCKED_RECEIVING,
                             .is_of_anyone = may_go, .count = -1 };
    if (may_go)
        return;
    out->comm = r->req.comm;
    out->count = r->count;
    out->type = type_name(r->type);
    describe_key(r->match.node.key, r->match.mask, out);
}

void p2p_describe_flush(struct blocked *out)
{
    const struct p2p_req *r = NULL;
    struct lane *lane;
    int number = 0;

    *out = (struct blocked){ .call = "MPI_Finalize", .way = BLOCKED_SENDING, .is_of_anyone = true, .count = -1 };
    while (!r && (lane = lane_next(&number))) {
        lane_lock(lane);
        r = freed_receive(lane);
        if (r)
            describe_freed(r, lane->is_threaded, out);
        lane_unlock(lane);
    }
}

/* --- what lies in the queues --- */

struct visit {
    p2p_visit_envelope *visit;
    void *arg;
    const struct channel *channel;
};

static void visit_message(const struct visit *v, const struct message *message)
{
    const struct p2p_envelope e = {
        .comm = v->channel ? v->channel->comm : NULL, .ctx = message->ctx, .source = message->source,
        .proc = message->proc, .tag = message->tag, .count = (MPI_Count)message->len, .note = foreign_note(message),
        .is_foreign = message->kind == WIRE_FOREIGN,
    };

    v->visit(&e, v->arg);
}

static void on_arrival(const struct match_arrival *arrival, void *arg)
{
    visit_message(arg, CONTAINER_OF(arrival, const struct message, arrival));
}

static void on_posted(const struct match_entry *recv, void *arg)
{
    const struct p2p_req *r = CONTAINER_OF(recv, const struct p2p_req, match);
    const struct visit *v = arg;
    struct p2p_envelope e = { .comm = v->channel->comm, .ctx = v->channel->ctx, .count = r->count, .proc = -1 };
    struct blocked b;

    describe_key(recv->node.key, recv->mask, &b);
    e.source = b.peer;
    e.tag = b.tag;
    e.type = type_name(r->type);
    if (b.peer >= 0)
        e.proc = group_proc(e.comm->remote_group, b.peer);
    v->visit(&e, v->arg);
}

/* The users' contexts of a lane; messages of collective calls and partitioned ones are not spoken of. */
static void each_channel(struct lane *lane, struct visit *v, bool is_posted)
{
    for (unsigned i = 0; i < lane->channel_slots; i++) {
        struct channel *channel = lane->channels[i];
        if (!channel || channel != &channel->comm->p2p->channel[0])
            continue;
        v->channel = channel;
        if (is_posted)
            match_each_posted(&channel->match, on_posted, v);
        else
            match_each_arrival(&channel->match, on_arrival, v);
    }
}

void p2p_each_posted(p2p_visit_envelope *visit, void *arg)
{
    struct visit v = { .visit = visit, .arg = arg };
    struct lane *lane;
    int number = 0;

    while ((lane = lane_next(&number))) {
        lane_lock(lane);
        each_channel(lane, &v, true);
        lane_unlock(lane);
    }
}

void p2p_each_unexpected(p2p_visit_envelope *visit, void *arg)
{
    struct visit v = { .visit = visit, .arg = arg };
    struct lane *lane;
    int number = 0;

    while ((lane = lane_next(&number))) {
        lane_lock(lane);
        each_channel(lane, &v, false);
        v.channel = NULL;
        LIST_FOR_EACH(link, &lane->orphans) {
            const struct message *message = CONTAINER_OF(link, struct message, out.link);
            if (message->ctx % 2 == 0)
                visit_message(&v, message);
        }
        lane_unlock(lane);
    }
}

void p2p_each_comm(p2p_visit_comm *visit, void *arg)
{
    struct lane *lane;
    int number = 0;

    while ((lane = lane_next(&number))) {
        lane_lock(lane);
        for (unsigned i = 0; i < lane->channel_slots; i++) {
            const struct channel *channel = lane->channels[i];
            if (channel && channel == &channel->comm->p2p->channel[0])
                visit(channel->comm, arg);
        }
        lane_unlock(lane);
    }
}

int p2p_open_requests(void)
{
    struct lane *lane;
    int number = 0;
    size_t count = 0;

    while ((lane = lane_next(&number))) {
        lane_lock(lane);
        count += lane->requests.live + lane->singles.now / sizeof(struct p2p_req);
        lane_unlock(lane);
    }
    return (int)count;
}

void p2p_each_of_coll(const struct comm *comm, p2p_visit_envelope *visit, void *arg)
{
    struct channel *channel = channel_of(comm, P2P_COLL);
    struct visit v = { visit, arg, channel };

    lane_lock(channel->lane);
    match_each_arrival(&channel->match, on_arrival, &v);
    lane_unlock(channel->lane);
}

bool p2p_has_of_coll(const struct comm *comm)
{
    const struct channel *channel = channel_of(comm, P2P_COLL);
    bool has;

    lane_lock(channel->lane);
    has = channel->match.arrival_count > 0;
    lane_unlock(channel->lane);
    return has;
}

bool p2p_find_calls(uint32_t ctx, uint64_t sequence, uint64_t *begun, const char **name)
{
    const struct channel *channel = NULL;
    struct lane *lane;
    int number = 0;

    while (!channel && (lane = lane_next(&number))) {
        lane_lock(lane);
        channel = channel_find(lane, ctx);
        if (channel) {
            *begun = channel->comm->coll_sequence;
            *name = comm_call_name(channel->comm, sequence);
        }
        lane_unlock(lane);
    }
    return channel;
}
