/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Letters and parcels: they go as one record while they fit, else they are offered and move as a long
 * message does after its match, since here nothing is to be matched. On the way out they wait among the records that
 * are not messages, for the receiver may hold messages back and is to take them in all the same. A box is where both
 * ends of them stand: one of the process for letters, one of a communicator for parcels.
 * Knows: net, obj, type (bytes). Does not know: the matcher. */
#include "p2p/letter.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "p2p/int_parcel.h"

/* A letter or parcel that moves, or waits for it. */
struct moving {
    struct p2p_req r;      /* first */
    struct p2p_box *box;
    struct list link;      /* in box->moving */
    p2p_letter_gone *gone; /* of one on its way out; NULL: the bytes are a copy, behind this */
    void *arg;
    void *token;           /* of one on its way in, for `end` */
    bool is_incoming;
    unsigned char copy[];
};

/* One that came before there was anybody for it: the record as it came. */
struct early {
    struct list link;
    int proc;
    struct net_head head;
    uint32_t len;
    unsigned char payload[];
};

unsigned p2p_letters_pending;     /* entries of letters.box.moving */

static struct {
    struct p2p_box box;
    struct p2p_letter_sink sink;
    struct list early;
} letters = {
    .box = { .moving = { &letters.box.moving, &letters.box.moving },
             .offered = { &letters.box.offered, &letters.box.offered },
             .count = &p2p_letters_pending },
    .early = { &letters.early, &letters.early },
};

/* --- the two sorts --- */

static struct net_head letter_head(uint64_t word0, uint64_t word1)
{
    return (struct net_head){ { WIRE_LETTER | word0 << (64 - P2P_LETTER_BITS), word1 } };
}

static struct p2p_letter letter_of(int proc, struct net_head head, size_t len)
{
    return (struct p2p_letter){ proc, { head.word[0] >> (64 - P2P_LETTER_BITS), head.word[1] }, len };
}

/* The head of the offer of something that has this head as a record. */
static struct net_head offer_head(struct net_head head)
{
    const unsigned kind = wire_kind(head) == WIRE_LETTER ? WIRE_LETTER_RTS : WIRE_PARCEL_RTS;

    head.word[0] = (head.word[0] & ~(uint64_t)0xffff) | kind | WIRE_CONTIG << 8;
    return head;
}

/* Where the bytes go, and what `end` is to be given; NULL: there is no memory now. */
static void *begin(const struct p2p_box *box, int proc, struct net_head head, size_t len, void **token)
{
    struct p2p_letter letter;
    void *place;

    *token = NULL;
    if (box->parcels) {
        place = box->parcels->begin(box->arg, wire_source(head), (uint32_t)head.word[1], len, token);
    } else {
        letter = letter_of(proc, head, len);
        place = letters.sink.begin(&letter);
    }
    if (!*token)
        *token = place;
    return place;
}

static void end(const struct p2p_box *box, void *token, int rc)
{
    if (box->parcels)
        box->parcels->end(box->arg, token, rc);
    else
        letters.sink.end(token, rc);
}

/* --- those that move --- */

/* It has arrived or gone, or is given up. With the lock. */
static void letter_release(struct req *req)
{
    struct moving *m = (struct moving *)(void *)req;

    list_remove(&m->link);
    (*m->box->count)--;
    if (m->is_incoming)
        end(m->box, m->token, m->r.req.error);
    else if (m->gone)
        m->gone(m->arg);
    mem_free(m);
}

static const struct req_ops letter_ops = { .release = letter_release };

static void moving_init(struct moving *m, struct p2p_box *box, struct peer *peer, void *data, size_t len)
{
    request_init(&m->r, box->channel, obj_type(MPI_BYTE));
    m->box = box;
    m->r.req.ops = &letter_ops;
    m->r.is_special = m->r.is_detached = true;
    m->r.req.tag = 0;
    m->r.peer = peer;
    m->r.buf = data;
    m->r.count = (MPI_Count)len;
    m->r.len = m->r.wanted = len;
    peer->lane->detached++;
    list_append(&box->moving, &m->link);
    (*box->count)++;
}

/* --- out --- */

/* 0, NET_AGAIN or NET_TAKEN. */
static int send_record(struct peer *peer, struct net_head head, const void *data, size_t len)
{
    struct net_buffer buffer;

    int rc;

    if (likely(len <= peer->ops->short_max))
        return peer->ops->send(peer->ep, head, data, (uint32_t)len);
    rc = peer->ops->alloc(peer->ep, &buffer);
    if (rc)
        return rc;
    memcpy(buffer.data, data, len);
    rc = peer->ops->commit(peer->ep, head, &buffer, (uint32_t)len);
    if (rc)
        peer->ops->release(peer->ep, &buffer);
    return rc;
}

/* Entered as offered first: within the process the answer may come during the call. */
static int push_offer(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    int rc;

    r->state = P2P_OFFERED;
    list_append(&((struct moving *)(void *)r)->box->offered, &r->link);
    rc = peer->ops->send(peer->ep, r->head, &r->control, sizeof r->control.rts);
    if (rc) {
        r->state = P2P_QUEUED;
        list_remove(&r->link);
    }
    return rc;
}

static void prepare_offer(struct p2p_req *r)
{
    r->head = offer_head(r->head);
    r->control.rts = (struct wire_rts){ (uintptr_t)r, r->len, (uintptr_t)r->buf, 0 };
    r->out.push = push_offer;
}

static int push_record(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const int rc = send_record(peer, r->head, r->buf, r->len);

    if (unlikely(rc == NET_TAKEN)) {
        prepare_offer(r);
        return push_offer(out, peer);
    }
    if (!rc)
        p2p_complete(r);
    return rc;
}

static bool fits_record(const struct peer *peer, size_t len)
{
    return len <= peer->ops->short_max || len <= size_min(eager_limit(peer), peer->ops->eager_max);
}

static int send_later(struct p2p_box *box, struct peer *peer, struct net_head head, const void *data, size_t len,
                      p2p_letter_gone *gone, void *arg)
{
    struct moving *m = mem_alloc(sizeof *m + (gone ? 0 : len));

    if (!m)
        return err(MPI_ERR_NO_MEM, "no memory for a letter of %zu bytes", len);
    if (!gone && len)
        data = memcpy(m->copy, data, len);
    moving_init(m, box, peer, (void *)(uintptr_t)data, len);
    m->is_incoming = false;
    m->gone = gone;
    m->arg = arg;
    m->r.req.is_send = true;
    m->r.state = P2P_QUEUED;
    m->r.head = head;
    m->r.out.push = push_record;
    if (!fits_record(peer, len))
        prepare_offer(&m->r);
    outgoing_control(&m->r.out, peer);
    return 0;
}

/* With the lock. */
static ALWAYS_INLINE int send_out(struct p2p_box *box, struct peer *peer, struct net_head head, const void *data,
                                  size_t len, p2p_letter_gone *gone, void *arg)
{
    if (unlikely(!list_is_empty(&peer->controls) || !fits_record(peer, len)) ||
        unlikely(send_record(peer, head, data, len)))
        return send_later(box, peer, head, data, len, gone, arg);
    if (gone)
        gone(arg);
    return 0;
}

/* Whatever stands before it makes direct_end 0; as in p2p_send. */
int p2p_letter_send_at_once(int proc, uint64_t word0, uint64_t word1, const void *data, size_t len)
{
    const struct peer *peer = atomic_load_explicit(&letters.box.channel->lane->peers[proc], memory_order_relaxed);

    if (unlikely(!peer) || unlikely(len >= peer->direct_end || peer->ep->room <= 0))
        return -1;
    return peer->ops->send_in_room(peer->ep, letter_head(word0, word1), data, (uint32_t)len);
}

int p2p_letter_send(const struct p2p_letter *letter, const void *data, p2p_letter_gone *gone, void *arg)
{
    struct lane *lane = letters.box.channel->lane;
    struct peer *peer;
    int rc;

    lane_lock(lane);
    rc = peer_get(lane, letter->proc, &peer);
    if (likely(!rc))
        rc = send_out(&letters.box, peer, letter_head(letter->word[0], letter->word[1]), data, letter->len, gone, arg);
    lane_unlock(lane);
    return rc;
}

int p2p_parcel_send(struct comm *comm, int rank, uint32_t word, const void *data, size_t len, p2p_letter_gone *gone,
                    void *arg)
{
    struct channel *channel = &comm->p2p->channel[0];
    const struct net_head head = wire_head(WIRE_PARCEL, 0, 0, channel->ctx, match_key(comm->rank, (int)word));
    struct peer *peer;
    int rc;

    lane_lock(channel->lane);
    rc = peer_get_rank(channel, rank, &peer);
    if (unlikely(!rc && peer->is_foreign))
        rc = parcel_send_abroad(comm->p2p->box, peer, word, data, len, gone, arg);
    else if (likely(!rc))
        rc = send_out(comm->p2p->box, peer, head, data, len, gone, arg);
    lane_unlock(channel->lane);
    return rc;
}

/* --- in --- */

/* Nobody wants letters yet: keep the record. */
static int keep_early(int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct early *early = mem_alloc(sizeof *early + len);

    if (!early)
        return NET_AGAIN;
    early->proc = proc;
    early->head = head;
    early->len = len;
    memcpy(early->payload, payload, len);
    list_append(&letters.early, &early->link);
    return 0;
}

static int begin_offered(struct lane *lane, struct p2p_box *box, int proc, struct net_head head,
                         const struct wire_rts *rts)
{
    struct moving *m = mem_alloc(sizeof *m);
    struct peer *peer;
    void *place, *token;

    if (!m || peer_get(lane, proc, &peer) || !(place = begin(box, proc, head, rts->len, &token))) {
        mem_free(m);
        return NET_AGAIN;
    }
    moving_init(m, box, peer, place, rts->len);
    m->is_incoming = true;
    m->token = token;
    m->r.req.is_send = false;
    m->r.flags = (uint8_t)wire_flags(head);
    m->r.remote_id = rts->id;
    m->r.remote_address = rts->address;
    rndv_begin(&m->r);
    return 0;
}

static int box_arrive(struct lane *lane, struct p2p_box *box, int proc, struct net_head head, const void *payload,
                      uint32_t len)
{
    struct wire_rts rts;
    void *place, *token;

    if (unlikely(wire_kind(head) == WIRE_LETTER_RTS || wire_kind(head) == WIRE_PARCEL_RTS)) {
        memcpy(&rts, payload, sizeof rts);
        return begin_offered(lane, box, proc, head, &rts);
    }
    place = begin(box, proc, head, len, &token);
    if (unlikely(!place))
        return NET_AGAIN;
    if (len)
        memcpy(place, payload, len);
    end(box, token, 0);
    return 0;
}

int letter_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len)
{
    if (unlikely(!letters.box.channel))
        return keep_early(proc, head, payload, len);
    return box_arrive(lane, &letters.box, proc, head, payload, len);
}

/* The box has been opened here before anything was sent. NULL: it is closed, as the library's own at the end. */
static struct p2p_box *box_of(const struct lane *lane, struct net_head head)
{
    const struct channel *channel = channel_find((struct lane *)(uintptr_t)lane, wire_ctx(head));

    return likely(channel) ? channel->comm->p2p->box : NULL;
}

/* The bytes that come next are read to where they belong: it begins now. */
void *parcel_land(struct lane *lane, int proc, struct net_head head, uint32_t len)
{
    struct p2p_box *box = box_of(lane, head);
    struct peer *peer;
    void *place;

    if (unlikely(!box) || peer_get(lane, proc, &peer))
        return NULL;
    place = begin(box, proc, head, len, &peer->landing.token);
    peer->landing.box = place ? box : NULL;
    return place;
}

int parcel_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct peer *peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
    struct p2p_box *box = box_of(lane, head);

    if (unlikely(!box))
        return 0;
    if (likely(!peer || !peer->landing.box))
        return box_arrive(lane, box, proc, head, payload, len);
    peer->landing.box = NULL;
    end(box, peer->landing.token, 0);
    return 0;
}

void p2p_letters_open(struct comm *comm, const struct p2p_letter_sink *sink)
{
    struct lane *lane = comm->p2p->channel[0].lane;

    lane_lock(lane);
    letters.box.channel = &comm->p2p->channel[0];
    letters.sink = *sink;
    LIST_FOR_EACH_SAFE(link, &letters.early) {
        struct early *early = CONTAINER_OF(link, struct early, link);
        if (letter_arrive(lane, early->proc, early->head, early->payload, early->len))
            break;
        list_remove(link);
        mem_free(early);
    }
    lane_unlock(lane);
}

int p2p_letter_take(int proc, uint64_t word0, uint64_t word1, void *data, size_t max)
{
    const struct lane *lane = letters.box.channel->lane;
    const struct net_head head = letter_head(word0, word1);
    const struct peer *peer;
    int len = NET_NOT_YET;

    if (unlikely(lane->is_threaded))
        return -1;
    peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
    if (unlikely(!peer))
        return -1;
    PROGRESS_LOOK_FIRST {
        len = peer->ops->take(peer->ep, head, data, max);
        if (len != NET_NOT_YET)
            break;
    }
    return len >= 0 ? len : -1;
}

/* --- the rest --- */

static void give_up(struct moving *m)
{
    struct p2p_req *r = &m->r;

    if (r->state == P2P_QUEUED)
        list_remove(&r->out.link);
    else if (r->state == P2P_OFFERED)
        list_remove(&r->link);
    else if (r->req.is_send)
        work_remove(r->channel->lane, &r->link);
    else { /* its records may still be somewhere: this memory stays */
        list_remove(&m->link);
        (*m->box->count)--;
        r->channel->lane->detached--;
        letters.sink.end(r->buf, err(MPI_ERR_PROC_ABORTED, "process %d has ended, in the middle of a letter",
                                     r->peer->proc));
        return;
    }
    p2p_complete(r);
}

/* Those that come in are landings of the lane, which fails them itself; so it does with streams. */
void box_fail(struct p2p_box *box, struct peer *peer)
{
    const int rank = group_rank_of(box->channel->comm->remote_group, peer->proc);

    if (peer->landing.box == box) {
        peer->landing.box = NULL;
        box->parcels_moving -= peer->is_foreign;
        end(box, peer->landing.token, lost_error(peer));
    }
    LIST_FOR_EACH_SAFE(link, &box->offered) {
        struct p2p_req *r = CONTAINER_OF(link, struct p2p_req, link);
        if (r->peer != peer)
            continue;
        list_remove(link);
        r->req.error = lost_error(peer);
        p2p_complete(r);
    }
    if (box->parcels && box->parcels->lost && rank != MPI_UNDEFINED)
        box->parcels->lost(box->arg, rank);
}

/* Nothing of it is on its way to us any more: its answers came before it left. */
static bool has_said_all(const struct peer *peer)
{
    return !peer->ep || peer->ops->is_silent(peer->ep);
}

void p2p_letters_give_up(bool (*is_lost)(int proc))
{
    struct lane *lane;

    if (!letters.box.channel)
        return;
    lane = letters.box.channel->lane;
    lane_lock(lane);
    LIST_FOR_EACH_SAFE(link, &letters.box.moving) {
        struct moving *m = CONTAINER_OF(link, struct moving, link);
        if (is_lost(m->r.peer->proc) && has_said_all(m->r.peer)) /* in this order */
            give_up(m);
    }
    lane_unlock(lane);
}

bool p2p_letters_is_lost(int proc)
{
    struct lane *lane = letters.box.channel ? letters.box.channel->lane : NULL;
    const struct peer *peer;
    bool is_lost;

    if (!lane || !lane->losses)
        return false;
    lane_lock(lane);
    peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
    is_lost = peer && peer->lost;
    lane_unlock(lane);
    return is_lost;
}

const bool *p2p_letters_threads(void)
{
    return &letters.box.channel->lane->is_threaded;
}

void p2p_letters_lock(void)
{
    lane_lock(letters.box.channel->lane);
}

void p2p_letters_unlock(void)
{
    lane_unlock(letters.box.channel->lane);
}

struct progress_hint p2p_letter_hint(int proc)
{
    struct lane *lane = letters.box.channel->lane;
    struct progress_hint hint = { NULL, NULL };
    struct peer *peer;

    lane_lock(lane);
    if (!peer_get(lane, proc, &peer))
        hint = recv_hint(peer);
    lane_unlock(lane);
    return hint;
}

/* --- boxes of communicators --- */

int p2p_box_open(struct comm *comm, const struct p2p_parcel_sink *sink, void *arg)
{
    struct p2p_box *box = mem_zalloc(sizeof *box);

    if (!box)
        return err(MPI_ERR_NO_MEM, "no memory for the parcels of a communicator");
    list_init(&box->moving);
    list_init(&box->offered);
    box->channel = &comm->p2p->channel[0];
    box->count = &box->parcels_moving;
    box->parcels = sink;
    box->arg = arg;
    p2p_box_lock(comm);
    comm->p2p->box = box;
    p2p_box_unlock(comm);
    return 0;
}

void p2p_box_close(struct comm *comm)
{
    struct p2p_box *box = comm->p2p->box;

    assert(!box || !box->parcels_moving);
    p2p_box_lock(comm);
    comm->p2p->box = NULL;
    p2p_box_unlock(comm);
    mem_free(box);
}

unsigned p2p_box_pending(const struct comm *comm)
{
    return comm->p2p->box->parcels_moving;
}

struct progress_hint p2p_box_hint(const struct comm *comm, int rank)
{
    struct progress_hint hint = { NULL, NULL };
    struct peer *peer;

    p2p_box_lock(comm);
    if (!peer_get_rank(&comm->p2p->channel[0], rank, &peer))
        hint = (struct progress_hint){ lane_poll_peer, peer }; /* our own may be what waits for room */
    p2p_box_unlock(comm);
    return hint;
}

void p2p_box_lock(const struct comm *comm)
{
    lane_lock(comm->p2p->channel[0].lane);
}

void p2p_box_unlock(const struct comm *comm)
{
    lane_unlock(comm->p2p->channel[0].lane);
}
