/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Arrivals. p2p_arrive is the receive story on one page: find the context, match; found: deliver; not
 * found: keep. The records of long messages go on to rndv.c. Only here and in send.c are envelope, key and
 * record seen together. */
#include <string.h>

#include "base/copy.h"
#include "base/mem.h"
#include "p2p/int_abroad.h"
#include "p2p/int_p2p.h"

/* The request that an id of ours stands for: it comes back as it was sent. */
static struct p2p_req *request_of(uint64_t id)
{
    return (struct p2p_req *)(uintptr_t)id;
}

/* --- unexpected messages --- */

void message_destroy(struct message *message)
{
    if (message->obj.kind == OBJ_MESSAGE)
        comm_unref(message->channel->comm);
    held_remove(message);
    if (message->kind == WIRE_FOREIGN)
        foreign_drop(message);
    if (message->memory)
        mem_free(message->memory);
    else
        mem_pool_put(&message->lane->messages, message);
}

/* The first short ones from the pool; others with as much room as they need, which goes back when they do. They are
 * aligned here, since that is twice as fast as an aligned allocation. */
static struct message *message_alloc(struct lane *lane, size_t len)
{
    struct message *message = len <= P2P_POOLED_DATA ? mem_pool_get(&lane->messages) : NULL;
    void *memory = NULL;

    if (!message) {
        memory = mem_alloc(message_size(len));
        message = (struct message *)(((uintptr_t)memory + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
    }
    if (message)
        message->memory = memory;
    return message;
}

/* A copy of what arrived; NULL: no memory. */
static struct message *message_create(struct lane *lane, uint32_t ctx, const struct arrival *a, const void *payload)
{
    const size_t len = message_data(a->kind, a->len, a->blocks);
    struct message *message = message_alloc(lane, len);

    if (!message)
        return NULL;
    obj_init(&message->obj, OBJ_FREED); /* no handle refers to it yet */
    message->lane = lane;
    message->kind = (uint8_t)a->kind;
    message->flags = (uint8_t)a->flags;
    message->signature = a->signature;
    message->ctx = ctx;
    message->proc = a->proc;
    message->source = a->source;
    message->tag = a->tag;
    message->is_told = false;
    message->len = a->len;
    message->sync_id = a->sync_id;
    message->address = a->address;
    message->blocks = a->blocks;
    if (len)
        memcpy(message->data, payload, len);
    return message;
}

/* An erroneous program has sent it. */
bool arrive_is_too_late(const struct lane *lane, uint32_t ctx)
{
    for (unsigned i = 0; i < P2P_CLOSED && i < lane->closed_next; i++) {
        if (lane->closed[i] == ctx)
            return true;
    }
    return false;
}

static NOINLINE int keep(struct lane *lane, struct channel *channel, uint32_t ctx, const struct arrival *a,
                         const void *payload)
{
    struct message *message;
    struct peer *peer;

    if (!channel && arrive_is_too_late(lane, ctx) && !message_may_be_cancelled(a->kind, a->sync_id))
        return 0;
    if (peer_get(lane, a->proc, &peer))
        return NET_AGAIN;
    message = message_create(lane, ctx, a, payload);
    if (!message)
        return NET_AGAIN;
    message->channel = channel;
    held_add(message);
    if (channel)
        match_keep(&channel->match, &message->arrival, match_key(a->source, a->tag));
    else
        list_append(&lane->orphans, &message->out.link);
    return 0;
}

/* --- messages --- */

static ALWAYS_INLINE struct channel *find_channel(struct lane *lane, uint32_t ctx)
{
    struct channel *channel = lane->last_channel;

    if (likely(channel && channel->ctx == ctx))
        return channel;
    return lane->last_channel = channel_find(lane, ctx);
}

int arrive_message(struct lane *lane, uint32_t ctx, const struct arrival *a, const void *payload)
{
    struct channel *channel = find_channel(lane, ctx);
    struct match_entry *entry = channel ? match_arrive(&channel->match, match_key(a->source, a->tag)) : NULL;

    if (!entry)
        return keep(lane, channel, ctx, a, payload);
    if (unlikely(a->kind == WIRE_PART_SETUP)) {
        part_meet(entry, a->sync_id, a->len);
    } else {
        struct p2p_req *r = CONTAINER_OF(entry, struct p2p_req, match);
        if (unlikely(r->mode & P2P_HIDDEN))
            recv_show(r);
        deliver(r, a, payload);
    }
    return 0;
}

const void *arrival_read(struct arrival *a, int proc, struct net_head head, const char *payload, uint32_t len)
{
    struct wire_rts rts;

    *a = (struct arrival){
        .proc = proc,
        .source = wire_source(head),
        .tag = wire_tag(head),
        .kind = wire_kind(head),
        .flags = wire_flags(head),
        .signature = wire_signature(head),
        .len = len,
    };
    if (a->kind != WIRE_EAGER) {
        memcpy(&rts, payload, sizeof rts);
        a->len = rts.len;
        a->sync_id = rts.id;
        a->address = rts.address;
        a->blocks = rts.blocks;
    } else if (a->flags & WIRE_SYNC) {
        memcpy(&a->sync_id, payload, WIRE_SYNC_ID);
        a->len -= WIRE_SYNC_ID;
        payload += WIRE_SYNC_ID;
    }
    return payload;
}

/* A message that will have to be answered: an offer, the envelope of a partitioned one, or a synchronous one, whose id
 * stands before the data. */
static NOINLINE int arrive_answered(struct lane *lane, int proc, struct net_head head, const char *payload,
                                    uint32_t len)
{
    struct arrival a;
    struct peer *peer;

    if (peer_get(lane, proc, &peer))
        return NET_AGAIN;
    payload = arrival_read(&a, proc, head, payload, len);
    return arrive_message(lane, wire_ctx(head), &a, payload);
}

/* --- cancelling a send (§3.8.4) --- */

struct search {
    int proc;
    uint64_t id;
    struct match_arrival *found;
};

static void visit(const struct match_arrival *arrival, void *arg)
{
    const struct message *message = CONTAINER_OF(arrival, const struct message, arrival);
    struct search *search = arg;

    if (message->proc == search->proc && message->sync_id == search->id)
        search->found = (struct match_arrival *)(uintptr_t)arrival;
}

struct message *arrive_find(struct channel *channel, int proc, uint64_t id)
{
    struct search search = { proc, id, NULL };

    match_each_arrival(&channel->match, visit, &search);
    return search.found ? CONTAINER_OF(search.found, struct message, arrival) : NULL;
}

static struct message *find_offer(struct lane *lane, uint32_t ctx, int proc, uint64_t id)
{
    struct channel *channel = channel_find(lane, ctx);

    if (channel)
        return arrive_find(channel, proc, id);
    LIST_FOR_EACH(link, &lane->orphans) {
        struct message *message = CONTAINER_OF(link, struct message, out.link);
        if (message->ctx == ctx && message->proc == proc && message->sync_id == id)
            return message;
    }
    return NULL;
}

static int push_cancelled(struct outgoing *out, struct peer *peer)
{
    struct message *message = CONTAINER_OF(out, struct message, out);
    const struct wire_reply reply = { message->sync_id };
    const struct net_head head = wire_head(WIRE_CANCELLED, 0, 0, message->ctx,
                                           match_key(message->source, message->tag));
    const int rc = peer->ops->send(peer->ep, head, &reply, sizeof reply);

    if (!rc)
        message_destroy(message);
    return rc;
}

/* The message itself becomes the answer, so that none is too many. Its sender is a peer. */
static void on_cancel(struct lane *lane, int proc, struct net_head head, const struct wire_reply *question)
{
    struct message *message = find_offer(lane, wire_ctx(head), proc, question->id);

    if (!message)
        return;
    if (message->channel)
        match_take(&message->channel->match, &message->arrival);
    else
        list_remove(&message->out.link);
    message->out.push = push_cancelled;
    outgoing_control(&message->out, atomic_load_explicit(&lane->peers[proc], memory_order_relaxed));
}

static void on_cancelled(const struct wire_reply *reply)
{
    struct p2p_req *r = request_of(reply->id);

    send_answered(r);
    r->req.is_cancelled = true;
    p2p_complete(r);
}

/* --- the rest --- */

static NOINLINE int arrive_control(struct lane *lane, int proc, struct net_head head, const void *payload,
                                   uint32_t len)
{
    struct wire_reply reply;
    struct wire_cts cts;

    switch (wire_kind(head)) {
    case WIRE_DATA:
        rndv_on_data(head.word[1], payload, len);
        return 0;
    case WIRE_CTS_COPY:
    case WIRE_CTS_STREAM:
        memcpy(&cts, payload, sizeof cts);
        rndv_on_cts(request_of(cts.id), wire_kind(head), &cts);
        return 0;
    }
    memcpy(&reply, payload, sizeof reply);
    switch (wire_kind(head)) {
    case WIRE_ACK:
    case WIRE_FIN:
        send_answered(request_of(reply.id));
        p2p_complete(request_of(reply.id));
        return 0;
    case WIRE_CANCEL:
        on_cancel(lane, proc, head, &reply);
        return 0;
    case WIRE_CANCELLED:
        on_cancelled(&reply);
        return 0;
    }
    return 0;
}

/* A partitioned message whose sides have met. */
static NOINLINE int arrive_part(struct net_head head, const void *payload, uint32_t len)
{
    struct wire_part_offer offer;
    struct wire_cts grant;

    switch (wire_kind(head)) {
    case WIRE_PART_DATA:
        part_on_data(head, payload, len);
        return 0;
    case WIRE_PART_OFFER:
        memcpy(&offer, payload, sizeof offer);
        return part_on_offer(head, &offer);
    }
    memcpy(&grant, payload, sizeof grant);
    part_on_grant(&grant);
    return 0;
}

/* A longer message that fits, of one run. Those that might have been offered as well are measured. */
static NOINLINE void deliver_long(struct p2p_req *r, int proc, const void *payload, uint32_t len)
{
    struct peer *peer = atomic_load_explicit(&r->channel->lane->peers[proc], memory_order_relaxed);
    uint64_t start;

    if (unlikely(!peer)) {
        shared_read(r->buf, payload, len);
        return;
    }
    if (unlikely(len > peer->ops->eager_max))
        longer_came(peer, len);
    if (len < SPEED_TIMED_MIN || !peer->ops->can_copy(peer->ep)) {
        cell_read(peer, r->buf, payload, len);
        return;
    }
    start = speed_start(&peer->speed);
    cell_read(peer, r->buf, payload, len);
    speed_eager(&peer->speed, len, start, peer->ops->eager_max);
    ask_limit(peer);
}

/* A plain eager message that nobody has asked for. */
static NOINLINE int arrive_unexpected(struct lane *lane, int proc, struct net_head head, struct channel *channel,
                                      const void *payload, uint32_t len)
{
    const struct arrival a = {
        .proc = proc,
        .source = wire_source(head),
        .tag = wire_tag(head),
        .kind = WIRE_EAGER,
        .signature = wire_signature(head),
        .len = len,
    };

    return keep(lane, channel, wire_ctx(head), &a, payload);
}

static NOINLINE int arrive_other(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct wire_errand errand;

    switch (wire_kind(head)) {
    case WIRE_EAGER:
        if (unlikely(broken_is_meant(head)))
            return broken_arrive(lane, proc, head, payload, len);
        return arrive_answered(lane, proc, head, payload, len);
    case WIRE_RTS:
    case WIRE_PART_SETUP:
        return arrive_answered(lane, proc, head, payload, len);
    case WIRE_PART_GRANT:
    case WIRE_PART_DATA:
    case WIRE_PART_OFFER:
        return arrive_part(head, payload, len);
    case WIRE_LETTER:
    case WIRE_LETTER_RTS:
        return letter_arrive(lane, proc, head, payload, len);
    case WIRE_PARCEL:
    case WIRE_PARCEL_RTS:
        return parcel_arrive(lane, proc, head, payload, len);
    case WIRE_FETCH:
    case WIRE_STORE:
        memcpy(&errand, payload, sizeof errand);
        return errand_arrive(lane, proc, head, &errand);
    }
    return arrive_control(lane, proc, head, payload, len);
}

int p2p_arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct lane *lane = arg;
    struct channel *channel;
    struct match_entry *entry;
    struct p2p_req *r;

    if (unlikely((head.word[0] & 0xffff) != WIRE_EAGER)) /* another kind, or flags */
        return arrive_other(lane, proc, head, payload, len);
    channel = find_channel(lane, wire_ctx(head));
    if (unlikely(!channel))
        return arrive_unexpected(lane, proc, head, NULL, payload, len);
    entry = match_arrive(&channel->match, head.word[1]);
    if (unlikely(!entry))
        return arrive_unexpected(lane, proc, head, channel, payload, len);
    r = CONTAINER_OF(entry, struct p2p_req, match);
    r->req.source = wire_source(head);
    r->req.tag = wire_tag(head);
    r->req.bytes = len;
    if (unlikely(len > r->len || !r->type->is_contig))
        deliver_uneven(r, atomic_load_explicit(&r->channel->lane->peers[proc], memory_order_relaxed), len, payload);
    else if (likely(len <= COPY_SHORT_MAX))
        copy_short(r->buf, payload, len);
    else
        deliver_long(r, proc, payload, len);
    p2p_complete(r);
    return 0;
}
