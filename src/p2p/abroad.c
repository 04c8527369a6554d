/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Messages from and to processes of other clients of a joint job (IMPI 0.0), which may be of another
 * implementation. They are matched as all messages are; what differs is how they travel: as packets (net/impi), in
 * external32. A message that fits one packet goes at once; of a longer one the first packet goes, and the rest when
 * the receiver has said that it is matched. Synchronous messages are told of in the same way.
 *
 * Their communicators have contexts of a range of their own (P2P_CTX_FOREIGN and the id on the wire), all in the
 * first lane. To such a process nothing goes the short ways: its transport says that it wants everything offered.
 *
 * Each message that must be answered brings its answer along: it is made when the first packet is taken in, so that
 * nothing that follows can fail for want of memory, and a receive need not wait until the answer may go out.
 *
 * Where IMPI has the sender's datatype, which means nothing to others, messages of collective calls between processes
 * of this library have a note of the call (struct comm_notes). It lies in the answer, too. Knows: net/impi, match, obj,
 * type. */
#include "base/err.h"
#include "net/impi/impi.h"
#include "p2p/int_abroad.h"
#include "sys/joint.h"

struct foreign {
    const struct joint *joint;
    struct mem_pool answers;
    uint64_t last_id;          /* of requests, on the wire */
    p2p_broken_fn *broken;     /* NULL: nobody wants to know */
};

/* A SYNCACK or an answer to a CANCEL. */
struct answer {
    struct outgoing out;       /* first */
    struct lane *lane;
    bool is_wanted;            /* else it only keeps the note */
    enum impi_type type;
    uint64_t srqid, drqid;
    uint64_t note;             /* of the message; 0: none */
};

/* --- opening and closing --- */

static void tell_broken(void *arg, int proc)
{
    struct lane *lane = arg;
    struct peer *peer;

    if (lane->foreign->broken && !peer_get(lane, proc, &peer) && peer->lost)
        lane->foreign->broken(peer->lost_class, peer->lost);
}

int foreign_open(struct lane *lane, const struct p2p_config *p2p)
{
    const struct joint *joint = p2p->joint;
    const struct impi_config config = {
        .joint = joint, .rank = joint_rank(joint, p2p->proc), .listener = p2p->listener_fd, .packet = foreign_packet,
        .lost = p2p_lost, .broken = tell_broken, .arg = lane,
    };
    struct foreign *foreign = mem_zalloc(sizeof *foreign);
    int rc;

    if (!foreign)
        return err(MPI_ERR_NO_MEM, "no memory for the connections to other clients");
    rc = impi_open(&config, &lane->nets[TO_FOREIGN]);
    if (rc) {
        mem_free(foreign);
        return rc;
    }
    foreign->joint = joint;
    foreign->broken = p2p->broken;
    mem_pool_init(&foreign->answers, sizeof(struct answer), 16);
    lane->ops[TO_FOREIGN] = &impi_ops;
    lane->foreign = foreign;
    return 0;
}

void foreign_close(struct lane *lane)
{
    if (!lane->foreign)
        return;
    mem_pool_fini(&lane->foreign->answers);
    mem_free(lane->foreign);
    lane->foreign = NULL;
}

/* --- answers --- */

static struct answer *answer_create(struct lane *lane, uint64_t srqid)
{
    struct answer *answer = mem_pool_get(&lane->foreign->answers);

    if (answer)
        *answer = (struct answer){ .lane = lane, .srqid = srqid };
    return answer;
}

static void answer_destroy(struct answer *answer)
{
    mem_pool_put(&answer->lane->foreign->answers, answer);
}

static int push_answer(struct outgoing *out, struct peer *peer)
{
    struct answer *answer = (struct answer *)(void *)out;
    const struct impi_packet packet = { .type = answer->type, .srqid = answer->srqid, .drqid = answer->drqid };
    struct impi_out *sent;

    if (!peer->lost) {
        sent = impi_begin(peer->ep, &packet);
        if (!sent)
            return NET_AGAIN;
        impi_send(peer->ep, sent);
    }
    answer_destroy(answer);
    return 0;
}

static void answer_send(struct answer *answer, struct peer *peer, enum impi_type type, uint64_t drqid)
{
    answer->out.push = push_answer;
    answer->type = type;
    answer->drqid = drqid;
    outgoing_control(&answer->out, peer);
}

void foreign_drop(const struct message *message)
{
    if (message->address)
        answer_destroy((struct answer *)(uintptr_t)message->address);
}

/* --- sending --- */

size_t foreign_maxlen(const struct peer *peer)
{
    return peer->lane->foreign->joint->maxlen;
}

uint64_t foreign_next_id(struct lane *lane)
{
    return ++lane->foreign->last_id;
}

const struct joint *foreign_joint(const struct comm *comm)
{
    return comm->p2p->channel[0].lane->foreign->joint;
}

bool foreign_is_parley(const struct peer *peer)
{
    const struct joint *joint = peer->lane->foreign->joint;

    return joint_is_parley(joint, joint_rank(joint, peer->proc));
}

/* The next bytes of a message. False: there is no room now. */
static bool push_packet(struct p2p_req *r, struct peer *peer, enum impi_type type)
{
    const size_t len = size_min(r->wanted - r->moved, foreign_maxlen(peer));
    const struct impi_packet packet = {
        .type = type, .len = (uint32_t)len, .srqid = r->remote_id, .drqid = r->remote_address,
        .msglen = r->wanted, .lsrank = r->channel->comm->rank, .tag = r->req.tag,
        .cid = r->channel->ctx - P2P_CTX_FOREIGN, .seqnum = r->remote_id, .count = r->count, .dtype = r->started,
    };
    struct impi_out *out = impi_begin(peer->ep, &packet);

    if (!out)
        return false;
    external_pack_range(r->type, r->buf, r->count, r->moved, impi_data(out), len);
    r->moved += len;
    impi_send(peer->ep, out);
    return true;
}

int foreign_push(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const bool is_answered = r->flags & WIRE_SYNC || r->wanted > foreign_maxlen(peer);

    if (!push_packet(r, peer, is_answered ? IMPI_DATASYNC : IMPI_DATA))
        return NET_AGAIN;
    if (is_answered) {
        r->state = P2P_OFFERED;
        list_append(&peer->lane->offers, &r->link);
    } else {
        p2p_complete(r);
    }
    return 0;
}

void foreign_send(struct p2p_req *r)
{
    const int dest = group_rank_of(r->channel->comm->remote_group, r->peer->proc);

    const bool is_coll = r->channel->ctx & 1;
    uint64_t note = is_coll ? r->channel->comm->notes.sent : 0;

    r->req.error = foreign_check_fit(r->channel, r->type, r->buf, r->count, dest, r->req.tag);
    if (unlikely(r->req.error)) {
        if (!note || !foreign_is_parley(r->peer)) {
            p2p_complete(r);
            return;
        }
        r->count = 0; /* the other side is not to wait for what does not come */
        note = (note & ((UINT64_C(1) << P2P_NOTE_BITS) - 1)) | (uint64_t)P2P_NOTE_FAILED << P2P_NOTE_BITS;
    }
    r->wanted = external_bytes(r->type, r->count);
    r->remote_id = foreign_next_id(r->peer->lane);
    r->remote_address = 0;
    r->started = note;
    r->state = P2P_QUEUED;
    r->out.push = foreign_push;
    outgoing_send(&r->out, r->peer);
}

bool foreign_stream(struct p2p_req *r, int *sent)
{
    while (r->moved < r->wanted) {
        if (!push_packet(r, r->peer, IMPI_DATA))
            return false;
        ++*sent;
    }
    return true;
}

/* A send that waits for the other side, by its id on the wire. */
static struct p2p_req *find_offered(const struct peer *peer, uint64_t id)
{
    LIST_FOR_EACH(link, &peer->lane->offers) {
        struct p2p_req *r = CONTAINER_OF(link, struct p2p_req, link);
        if (r->peer == peer && r->remote_id == id)
            return r;
    }
    return NULL;
}

/* It is not to be taken back any more. Has the question gone out, its answer will be without a request. */
static void give_up_cancelling(struct p2p_req *r)
{
    if (!r->is_cancelling)
        return;
    r->is_cancelling = false;
    if (list_is_empty(&r->out.link))
        r->peer->moot++;
    else
        list_remove(&r->out.link);
}

static int on_syncack(struct peer *peer, const struct impi_packet *packet, const char **wrong)
{
    struct p2p_req *r = find_offered(peer, packet->srqid);

    *wrong = "an acknowledgement of a message that does not wait for one";
    if (!r)
        return IMPI_WRONG;
    send_answered(r);
    give_up_cancelling(r);
    if (r->moved == r->wanted) {
        p2p_complete(r);
    } else {
        r->remote_address = packet->drqid;
        atomic_store_explicit(&r->pending, 0, memory_order_relaxed);
        work_add(peer->lane, &peer->lane->streams, &r->link);
    }
    return 0;
}

/* --- receiving --- */

int foreign_source(const struct channel *channel, int proc, int rank)
{
    const struct group *group = channel->comm->remote_group;

    if (rank >= 0 && rank < group->size && group_proc(group, rank) == proc)
        return rank;
    return group_rank_of(group, proc); /* LAM always says the rank in the world */
}

/* The next `len` bytes of a message that r has met. What does not fit is dropped. */
static void take_bytes(struct p2p_req *r, const void *data, size_t len)
{
    const size_t room = r->wanted - size_min(r->moved, r->wanted);

    external_unpack_next(&r->control.external, r->type, r->buf, r->count, data, size_min(len, room));
    r->moved += len;
}

/* Of a call that blocks there is only one at a time, and the message is for it. */
static void check_note(struct p2p_req *r, uint64_t note)
{
    struct comm_notes *const notes = &r->channel->comm->notes;
    char label[COMM_LABEL_SIZE];

    if (note >> P2P_NOTE_BITS == P2P_NOTE_FAILED) {
        r->req.error = err(MPI_ERR_CONVERSION,
                           "E1242: rank %d has not sent its part of a collective call, which comes from a number "
                           "that does not fit between clients of IMPI (external32), on %s",
                           r->req.source, obj_comm_label(r->channel->comm, label));
        return;
    }
    if (r->req.tag >= P2P_OWN_TAGS || !notes->asked || note == notes->asked || notes->wrong)
        return;
    notes->wrong = note;
    notes->wrong_from = r->req.source;
}

uint64_t foreign_note(const struct message *message)
{
    const struct answer *answer = (const struct answer *)(uintptr_t)message->address;

    return message->kind == WIRE_FOREIGN && answer ? answer->note : 0;
}

void foreign_deliver(struct p2p_req *r, const struct arrival *a, const void *payload)
{
    struct answer *answer = (struct answer *)(uintptr_t)a->address;
    const size_t come = a->blocks;
    struct peer *peer = r->peer;
    uint64_t id = 0;
    size_t room;

    if (unlikely(r->mode & P2P_HIDDEN))
        recv_show(r);
    room = external_bytes(r->type, r->count);
    r->wanted = size_min(a->len, room);
    r->req.bytes = (MPI_Count)external_native_bytes(r->type, r->wanted);
    if (a->len > room)
        r->req.error = recv_truncation(r, a->len, external_bytes(r->type, 1), room);
    r->control.external = (struct external_cursor){ 0 };
    r->moved = 0;
    take_bytes(r, payload, come);
    if (come < a->len) {
        r->state = P2P_MOVING;
        r->remote_blocks = a->len;
        r->remote_address = id = foreign_next_id(peer->lane);
        list_append(&peer->lane->landings, &r->link);
    } else {
        p2p_complete(r);
    }
    if (answer && answer->note)
        check_note(r, answer->note);
    if (answer && answer->is_wanted)
        answer_send(answer, peer, IMPI_SYNCACK, id);
    else if (answer)
        answer_destroy(answer);
}

static struct p2p_req *find_landing(const struct peer *peer, uint64_t id)
{
    LIST_FOR_EACH(link, &peer->lane->landings) {
        struct p2p_req *r = CONTAINER_OF(link, struct p2p_req, link);
        if (r->peer == peer && r->remote_address == id)
            return r;
    }
    return NULL;
}

static int on_rest(struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong)
{
    struct p2p_req *r = find_landing(peer, packet->drqid);

    *wrong = "the rest of a message that nobody receives";
    if (!r)
        return IMPI_WRONG;
    *wrong = "more of a message than it has";
    if (packet->len > r->remote_blocks - r->moved)
        return IMPI_WRONG;
    take_bytes(r, data, packet->len);
    if (r->moved == r->remote_blocks) {
        list_remove(&r->link);
        p2p_complete(r);
    }
    return 0;
}

/* What it says of the collective call that it belongs to. */
static uint64_t note_of(const struct peer *peer, const struct impi_packet *packet)
{
    const uint64_t mark = packet->dtype >> P2P_NOTE_BITS;

    if (!(packet->cid & 1) || (mark != P2P_NOTE_MARK && mark != P2P_NOTE_FAILED))
        return 0;
    return foreign_is_parley(peer) ? packet->dtype : 0;
}

/* The answer, if there is to be one or something to be kept. False: no memory. */
static bool bring_answer(const struct peer *peer, const struct impi_packet *packet, uint64_t *address)
{
    const uint64_t note = note_of(peer, packet);
    struct answer *answer;

    *address = 0;
    if (packet->type != IMPI_DATASYNC && !note)
        return true;
    answer = answer_create(peer->lane, packet->srqid);
    if (!answer)
        return false;
    answer->is_wanted = packet->type == IMPI_DATASYNC;
    answer->note = note;
    *address = (uintptr_t)answer;
    return true;
}

/* The first packet of a message, perhaps all of it. */
static int on_message(struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong)
{
    struct lane *lane = peer->lane;
    const uint32_t ctx = P2P_CTX_FOREIGN + (uint32_t)packet->cid;
    struct arrival a = {
        .proc = peer->proc, .source = packet->lsrank, .tag = packet->tag, .kind = WIRE_FOREIGN,
        .signature = TYPE_SIGNATURE_ANY, .len = packet->msglen, .sync_id = packet->srqid, .blocks = packet->len,
    };
    const struct channel *channel;
    int rc;

    *wrong = "a message in a context that there cannot be";
    if (packet->cid >= P2P_CTX_SPREAD - P2P_CTX_FOREIGN)
        return IMPI_WRONG;
    channel = channel_find(lane, ctx);
    if (channel)
        a.source = foreign_source(channel, a.proc, a.source);
    *wrong = "a message in a communicator of which it is no member";
    if (a.source == MPI_UNDEFINED)
        return IMPI_WRONG;
    if (!channel && arrive_is_too_late(lane, ctx))
        return 0;
    if (!bring_answer(peer, packet, &a.address))
        return NET_AGAIN;
    rc = arrive_message(lane, ctx, &a, data);
    if (rc && a.address)
        answer_destroy((struct answer *)(uintptr_t)a.address);
    return rc;
}

/* --- taking back a send (§3.8.4) --- */

static int push_cancel(struct outgoing *out, struct peer *peer)
{
    const struct p2p_req *r = CONTAINER_OF(out, const struct p2p_req, out);
    const struct impi_packet packet = { .type = IMPI_CANCEL, .srqid = r->remote_id };
    struct impi_out *sent;

    if (peer->lost)
        return 0;
    sent = impi_begin(peer->ep, &packet);
    if (!sent)
        return NET_AGAIN;
    impi_send(peer->ep, sent);
    return 0;
}

void foreign_ask_back(struct p2p_req *r)
{
    list_init(&r->out.link);
    r->out.push = push_cancel;
    outgoing_control(&r->out, r->peer);
}

static int on_cancel_answer(struct peer *peer, const struct impi_packet *packet, const char **wrong)
{
    struct p2p_req *r = find_offered(peer, packet->srqid);
    const bool is_asked = r && r->is_cancelling && list_is_empty(&r->out.link);

    *wrong = "an answer to a question that was not asked";
    if (!is_asked) {
        if (packet->type == IMPI_CANCELYES || !peer->moot)
            return IMPI_WRONG;
        peer->moot--;
        return 0;
    }
    r->is_cancelling = false;
    if (packet->type == IMPI_CANCELYES) {
        send_answered(r);
        request_cancelled(r);
    }
    return 0;
}

/* In a context that is open here; taken out of it. The newest one counts, since ids come again when requests have
 * ended. */
static struct message *take_matchable(struct lane *lane, int proc, uint64_t id)
{
    struct message *found = NULL;

    for (unsigned i = 0; i < lane->channel_slots; i++) {
        struct channel *channel = lane->channels[i];
        struct message *message = channel && p2p_is_foreign_ctx(channel->ctx) ? arrive_find(channel, proc, id) : NULL;
        if (message)
            found = message;
    }
    if (found)
        match_take(&found->channel->match, &found->arrival);
    return found;
}

/* In one that is not open yet. */
static struct message *take_orphan(struct lane *lane, int proc, uint64_t id)
{
    struct message *found = NULL;

    LIST_FOR_EACH(link, &lane->orphans) {
        struct message *message = CONTAINER_OF(link, struct message, out.link);
        if (message->proc == proc && message->sync_id == id)
            found = message;
    }
    if (found)
        list_remove(&found->out.link);
    return found;
}

static int on_cancel(struct peer *peer, const struct impi_packet *packet)
{
    struct lane *lane = peer->lane;
    struct answer *answer = answer_create(lane, packet->srqid);
    struct message *message;

    if (!answer)
        return NET_AGAIN;
    message = take_orphan(lane, peer->proc, packet->srqid);
    if (!message)
        message = take_matchable(lane, peer->proc, packet->srqid);
    answer_send(answer, peer, message ? IMPI_CANCELYES : IMPI_CANCELNO, 0);
    if (message)
        message_destroy(message);
    return 0;
}

/* --- all --- */

int foreign_packet(void *arg, int proc, const struct impi_packet *packet, const void *data, const char **wrong)
{
    struct peer *peer;

    if (peer_get(arg, proc, &peer))
        return NET_AGAIN;
    if (part_is_abroad(packet) && foreign_is_parley(peer))
        return part_on_packet(peer, packet, data, wrong);
    if (parcel_is_abroad(packet) && foreign_is_parley(peer))
        return parcel_on_packet(peer, packet, data, wrong);
    switch (packet->type) {
    case IMPI_DATA:
        if (impi_packet_continues(packet))
            return on_rest(peer, packet, data, wrong);
        return on_message(peer, packet, data, wrong);
    case IMPI_DATASYNC:
        return on_message(peer, packet, data, wrong);
    case IMPI_SYNCACK:
        return on_syncack(peer, packet, wrong);
    case IMPI_CANCEL:
        return on_cancel(peer, packet);
    }
    return on_cancel_answer(peer, packet, wrong);
}

/* --- the start and the end of a joint job --- */

struct state {
    struct lane *lane;
    bool (*is_it)(struct net *net, int *rc);
    int rc;
};

static bool is_there(void *arg)
{
    struct state *state = arg;
    bool is;

    lane_lock(state->lane);
    is = state->is_it(state->lane->nets[TO_FOREIGN], &state->rc);
    lane_unlock(state->lane);
    return is;
}

int p2p_foreign_connect(void)
{
    struct state state = { .is_it = impi_is_connected };

    if (lane_get(0, &state.lane) || !state.lane->foreign)
        return 0;
    progress_wait_until(is_there, &state);
    return state.rc;
}

/* Of the processes of a group. */
struct reach {
    struct lane *lane;
    const struct group *group;
    int rank; /* the next one that is looked at */
    int rc;
};

static bool is_reached(struct reach *reach)
{
    const int proc = group_proc(reach->group, reach->rank);

    return proc < (int)reach->lane->foreign->joint->slots ||
           impi_is_linked(reach->lane->nets[TO_FOREIGN], proc, &reach->rc);
}

static bool are_reached(void *arg)
{
    struct reach *reach = arg;

    lane_lock(reach->lane);
    while (reach->rank < reach->group->size && !reach->rc && is_reached(reach))
        reach->rank++;
    lane_unlock(reach->lane);
    return reach->rc || reach->rank == reach->group->size;
}

int p2p_foreign_reach(const struct group *group)
{
    struct reach reach = { .group = group };

    if (!lane_get(0, &reach.lane) && reach.lane->foreign)
        progress_wait_until(are_reached, &reach);
    return reach.rc;
}

int p2p_foreign_close(void)
{
    struct state state = { .is_it = impi_has_left };

    if (lane_get(0, &state.lane) || !state.lane->foreign)
        return 0;
    lane_lock(state.lane);
    impi_leave(state.lane->nets[TO_FOREIGN]);
    lane_unlock(state.lane);
    progress_wait_until(is_there, &state);
    return state.rc;
}
