/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Arrivals. p2p_arrive is the receive story on one page: find the context, match; found: deliver; not
 * found: keep. The records of long messages go on to rndv.c. Only here and in send.c are envelope, key and
 * record seen together. */
#include <string.h>

#include "base/mem.h"
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
    if (message->data != message->inline_data)
        mem_free(message->data);
    mem_pool_put(&message->lane->messages, message);
}

/* A copy of what arrived; NULL: no memory. */
static struct message *message_create(struct lane *lane, uint32_t ctx, const struct arrival *a, const void *payload)
{
    struct message *message = mem_pool_get(&lane->messages);

    if (!message)
        return NULL;
    obj_init(&message->obj, OBJ_FREED); /* no handle refers to it yet */
    message->lane = lane;
    message->kind = (uint8_t)a->kind;
    message->flags = (uint8_t)a->flags;
    message->ctx = ctx;
    message->proc = a->proc;
    message->source = a->source;
    message->tag = a->tag;
    message->len = a->len;
    message->sync_id = a->sync_id;
    message->address = a->address;
    message->data = message->inline_data;
    if (a->kind != WIRE_EAGER)
        return message;
    if (a->len > sizeof message->inline_data) {
        message->data = mem_alloc(a->len);
        if (!message->data) {
            mem_pool_put(&lane->messages, message);
            return NULL;
        }
    }
    memcpy(message->data, payload, a->len);
    return message;
}

static NOINLINE int keep(struct lane *lane, struct channel *channel, uint32_t ctx, const struct arrival *a,
                         const void *payload)
{
    struct message *message = message_create(lane, ctx, a, payload);

    if (!message)
        return NET_AGAIN;
    message->channel = channel;
    if (channel)
        match_keep(&channel->match, &message->arrival, match_key(a->source, a->tag));
    else
        list_append(&lane->orphans, &message->link);
    return 0;
}

/* --- messages --- */

static ALWAYS_INLINE int arrive(struct lane *lane, uint32_t ctx, const struct arrival *a, const void *payload)
{
    struct channel *channel = lane->last_channel;
    struct match_entry *entry;

    if (unlikely(!channel || channel->ctx != ctx)) {
        channel = channel_find(lane, ctx);
        lane->last_channel = channel;
    }
    if (unlikely(!channel))
        return keep(lane, NULL, ctx, a, payload);
    entry = match_arrive(&channel->match, match_key(a->source, a->tag));
    if (unlikely(!entry))
        return keep(lane, channel, ctx, a, payload);
    deliver(CONTAINER_OF(entry, struct p2p_req, match), a, payload);
    return 0;
}

/* A message that will have to be answered: an offer, or a synchronous one, whose id stands before the data. */
static NOINLINE int arrive_answered(struct lane *lane, int proc, const struct net_head *head, const char *payload)
{
    struct arrival a = {
        .proc = proc,
        .source = wire_source(head),
        .tag = wire_tag(head),
        .kind = wire_kind(head),
        .flags = wire_flags(head),
    };
    struct wire_rts rts;
    struct peer *peer;

    if (peer_get(lane, proc, &peer))
        return NET_AGAIN;
    if (a.kind == WIRE_RTS) {
        memcpy(&rts, payload, sizeof rts);
        a.len = rts.len;
        a.sync_id = rts.id;
        a.address = rts.address;
    } else {
        memcpy(&a.sync_id, payload, WIRE_SYNC_ID);
        a.len = head->len - WIRE_SYNC_ID;
        payload += WIRE_SYNC_ID;
    }
    return arrive(lane, wire_ctx(head), &a, payload);
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

static struct message *find_offer(struct lane *lane, uint32_t ctx, int proc, uint64_t id)
{
    struct search search = { proc, id, NULL };
    struct channel *channel = channel_find(lane, ctx);

    if (channel) {
        match_each_arrival(&channel->match, visit, &search);
        return search.found ? CONTAINER_OF(search.found, struct message, arrival) : NULL;
    }
    LIST_FOR_EACH(link, &lane->orphans) {
        struct message *message = CONTAINER_OF(link, struct message, link);
        if (message->ctx == ctx && message->proc == proc && message->sync_id == id)
            return message;
    }
    return NULL;
}

/* The answer goes out before the message is dropped; if there is no room now, the question is asked again. */
static int on_cancel(struct lane *lane, int proc, const struct net_head *head, const struct wire_reply *question)
{
    struct message *message = find_offer(lane, wire_ctx(head), proc, question->id);
    struct net_head answer;
    struct peer *peer;

    if (!message)
        return 0;
    if (peer_get(lane, proc, &peer) || peer->is_crowded)
        return NET_AGAIN;
    answer = wire_head(sizeof *question, WIRE_CANCELLED, 0, 0, message->ctx, message->tag, 0);
    if (peer->ops->send(peer->ep, &answer, question))
        return NET_AGAIN;
    if (message->channel)
        match_take(&message->channel->match, &message->arrival);
    else
        list_remove(&message->link);
    message_destroy(message);
    return 0;
}

static void on_cancelled(const struct wire_reply *reply)
{
    struct p2p_req *r = request_of(reply->id);

    r->req.is_cancelled = true;
    p2p_complete(r);
}

/* --- the rest --- */

static NOINLINE int arrive_control(struct lane *lane, int proc, const struct net_head *head, const void *payload)
{
    struct wire_reply reply;
    struct wire_cts cts;

    switch (wire_kind(head)) {
    case WIRE_DATA:
        rndv_on_data(head, payload);
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
        p2p_complete(request_of(reply.id));
        return 0;
    case WIRE_CANCEL:
        return on_cancel(lane, proc, head, &reply);
    case WIRE_CANCELLED:
        on_cancelled(&reply);
        return 0;
    }
    return 0;
}

int p2p_arrive(void *arg, int proc, const struct net_head *head, const void *payload)
{
    struct lane *lane = arg;

    if (likely(wire_kind(head) == WIRE_EAGER && !(wire_flags(head) & WIRE_SYNC))) {
        const struct arrival a = {
            .proc = proc,
            .source = wire_source(head),
            .tag = wire_tag(head),
            .kind = WIRE_EAGER,
            .len = head->len,
        };
        return arrive(lane, wire_ctx(head), &a, payload);
    }
    if (wire_kind(head) == WIRE_EAGER || wire_kind(head) == WIRE_RTS)
        return arrive_answered(lane, proc, head, payload);
    return arrive_control(lane, proc, head, payload);
}
