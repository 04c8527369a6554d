/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Letters: they go as one record while they fit, else they are offered and move as a long message does after
 * its match, since here nothing is to be matched. On the way out they wait among the records that are not messages, for
 * the receiver may hold messages back and is to take in letters all the same.
 * Knows: net, obj, type (bytes). Does not know: the matcher. */
#include "p2p/letter.h"

#include <string.h>

#include "base/err.h"
#include "p2p/int_p2p.h"

/* A letter that moves, or waits for it. */
struct moving {
    struct p2p_req r;      /* first */
    struct list link;      /* in letters.moving */
    p2p_letter_gone *gone; /* of one on its way out; NULL: the bytes are a copy, behind this */
    void *arg;
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

static struct {
    struct channel *channel;      /* NULL: nobody wants letters yet */
    struct p2p_letter_sink sink;
    struct list moving;
    struct list offered;          /* where requests stand that wait for the receiver */
    struct list early;
} letters = {
    .moving = { &letters.moving, &letters.moving },
    .offered = { &letters.offered, &letters.offered },
    .early = { &letters.early, &letters.early },
};

unsigned p2p_letters_pending; /* entries of letters.moving */

static struct net_head head_of(uint64_t word0, uint64_t word1, enum wire_kind kind, unsigned flags)
{
    return (struct net_head){ { (uint64_t)kind | (uint64_t)flags << 8 | word0 << (64 - P2P_LETTER_BITS), word1 } };
}

static struct p2p_letter letter_of(int proc, struct net_head head, size_t len)
{
    return (struct p2p_letter){ proc, { head.word[0] >> (64 - P2P_LETTER_BITS), head.word[1] }, len };
}

/* --- those that move --- */

/* It has arrived or gone, or is given up. With the lock. */
static void letter_release(struct req *req)
{
    struct moving *m = (struct moving *)(void *)req;

    list_remove(&m->link);
    p2p_letters_pending--;
    if (m->is_incoming)
        letters.sink.end(m->r.buf, m->r.req.error);
    else if (m->gone)
        m->gone(m->arg);
    mem_free(m);
}

static const struct req_ops letter_ops = { .release = letter_release };

static void moving_init(struct moving *m, struct peer *peer, void *data, size_t len)
{
    request_init(&m->r, letters.channel, obj_type(MPI_BYTE));
    m->r.req.ops = &letter_ops;
    m->r.is_special = m->r.is_detached = true;
    m->r.req.tag = 0;
    m->r.peer = peer;
    m->r.buf = data;
    m->r.count = (MPI_Count)len;
    m->r.len = m->r.wanted = len;
    peer->lane->detached++;
    list_append(&letters.moving, &m->link);
    p2p_letters_pending++;
}

/* --- out --- */

static bool send_record(struct peer *peer, struct net_head head, const void *data, size_t len)
{
    struct net_buffer buffer;

    if (likely(len <= peer->ops->short_max))
        return !peer->ops->send(peer->ep, head, data, (uint32_t)len);
    if (peer->ops->alloc(peer->ep, &buffer))
        return false;
    memcpy(buffer.data, data, len);
    if (!peer->ops->commit(peer->ep, head, &buffer, (uint32_t)len))
        return true;
    peer->ops->release(peer->ep, &buffer);
    return false;
}

static int push_record(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);

    if (!send_record(peer, r->head, r->buf, r->len))
        return NET_AGAIN;
    p2p_complete(r);
    return 0;
}

/* Entered as offered first: within the process the answer may come during the call. */
static int push_offer(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    int rc;

    r->state = P2P_OFFERED;
    list_append(&letters.offered, &r->link);
    rc = peer->ops->send(peer->ep, r->head, &r->control, sizeof r->control.rts);
    if (rc) {
        r->state = P2P_QUEUED;
        list_remove(&r->link);
    }
    return rc;
}

static bool fits_record(const struct peer *peer, size_t len)
{
    return len <= peer->ops->short_max || len <= eager_limit(peer);
}

static int send_later(struct peer *peer, const struct p2p_letter *letter, const void *data, p2p_letter_gone *gone,
                      void *arg)
{
    struct moving *m = mem_alloc(sizeof *m + (gone ? 0 : letter->len));

    if (!m)
        return err(MPI_ERR_NO_MEM, "no memory for a letter of %zu bytes", letter->len);
    if (!gone && letter->len)
        data = memcpy(m->copy, data, letter->len);
    moving_init(m, peer, (void *)(uintptr_t)data, letter->len);
    m->is_incoming = false;
    m->gone = gone;
    m->arg = arg;
    m->r.req.is_send = true;
    m->r.state = P2P_QUEUED;
    if (fits_record(peer, letter->len)) {
        m->r.head = head_of(letter->word[0], letter->word[1], WIRE_LETTER, 0);
        m->r.out.push = push_record;
    } else {
        m->r.head = head_of(letter->word[0], letter->word[1], WIRE_LETTER_RTS, WIRE_CONTIG);
        m->r.control.rts = (struct wire_rts){ (uintptr_t)&m->r, letter->len, (uintptr_t)data, 0 };
        m->r.out.push = push_offer;
    }
    outgoing_control(&m->r.out, peer);
    return 0;
}

/* Whatever stands before it makes direct_end 0; as in p2p_send. */
int p2p_letter_send_at_once(int proc, uint64_t word0, uint64_t word1, const void *data, size_t len)
{
    const struct peer *peer = atomic_load_explicit(&letters.channel->lane->peers[proc], memory_order_relaxed);

    if (unlikely(!peer) || unlikely(len >= peer->direct_end || peer->ep->room <= 0))
        return -1;
    return peer->ops->send_in_room(peer->ep, head_of(word0, word1, WIRE_LETTER, 0), data, (uint32_t)len);
}

int p2p_letter_send(const struct p2p_letter *letter, const void *data, p2p_letter_gone *gone, void *arg)
{
    struct lane *lane = letters.channel->lane;
    struct peer *peer;
    int rc;

    lane_lock(lane);
    rc = peer_get(lane, letter->proc, &peer);
    if (likely(!rc)) {
        if (likely(list_is_empty(&peer->controls) && fits_record(peer, letter->len)) &&
            likely(send_record(peer, head_of(letter->word[0], letter->word[1], WIRE_LETTER, 0), data, letter->len))) {
            if (gone)
                gone(arg);
        } else {
            rc = send_later(peer, letter, data, gone, arg);
        }
    }
    lane_unlock(lane);
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

static int begin_offered(struct lane *lane, int proc, struct net_head head, const struct wire_rts *rts)
{
    const struct p2p_letter letter = letter_of(proc, head, rts->len);
    struct moving *m = mem_alloc(sizeof *m);
    struct peer *peer;

    if (!m || peer_get(lane, proc, &peer)) {
        mem_free(m);
        return NET_AGAIN;
    }
    moving_init(m, peer, letters.sink.begin(&letter), rts->len);
    m->is_incoming = true;
    m->r.req.is_send = false;
    m->r.flags = (uint8_t)wire_flags(head);
    m->r.remote_id = rts->id;
    m->r.remote_address = rts->address;
    rndv_begin(&m->r);
    return 0;
}

int letter_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len)
{
    if (unlikely(!letters.channel))
        return keep_early(proc, head, payload, len);
    if (likely(wire_kind(head) == WIRE_LETTER)) {
        const struct p2p_letter letter = letter_of(proc, head, len);
        void *place = letters.sink.begin(&letter);
        if (len)
            memcpy(place, payload, len);
        letters.sink.end(place, 0);
        return 0;
    }
    struct wire_rts rts;
    memcpy(&rts, payload, sizeof rts);
    return begin_offered(lane, proc, head, &rts);
}

void p2p_letters_open(struct comm *comm, const struct p2p_letter_sink *sink)
{
    struct lane *lane = comm->p2p->channel[0].lane;

    lane_lock(lane);
    letters.channel = &comm->p2p->channel[0];
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
    const struct lane *lane = letters.channel->lane;
    const struct net_head head = head_of(word0, word1, WIRE_LETTER, 0);
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
        p2p_letters_pending--;
        r->channel->lane->detached--;
        letters.sink.end(r->buf, err(MPI_ERR_PROC_ABORTED, "process %d has ended, in the middle of a letter",
                                     r->peer->proc));
        return;
    }
    p2p_complete(r);
}

/* Nothing of it is on its way to us any more: its answers came before it left. */
static bool has_said_all(const struct peer *peer)
{
    return !peer->ep || peer->ops->is_silent(peer->ep);
}

void p2p_letters_give_up(bool (*is_lost)(int proc))
{
    struct lane *lane;

    if (!letters.channel)
        return;
    lane = letters.channel->lane;
    lane_lock(lane);
    LIST_FOR_EACH_SAFE(link, &letters.moving) {
        struct moving *m = CONTAINER_OF(link, struct moving, link);
        if (is_lost(m->r.peer->proc) && has_said_all(m->r.peer)) /* in this order */
            give_up(m);
    }
    lane_unlock(lane);
}

const bool *p2p_letters_threads(void)
{
    return &letters.channel->lane->is_threaded;
}

void p2p_letters_lock(void)
{
    lane_lock(letters.channel->lane);
}

void p2p_letters_unlock(void)
{
    lane_unlock(letters.channel->lane);
}

struct progress_hint p2p_letter_hint(int proc)
{
    struct lane *lane = letters.channel->lane;
    struct progress_hint hint = { NULL, NULL };
    struct peer *peer;

    lane_lock(lane);
    if (!peer_get(lane, proc, &peer))
        hint = recv_hint(peer);
    lane_unlock(lane);
    return hint;
}
