/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Receives that a device matches (match/offload): which ones it may have, and what to do when it says that
 * one has got its message. The lane's matcher stays complete and tells this file of every receive that comes and goes;
 * without a device nothing here is ever called. */
#include "p2p/int_p2p.h"

#include <string.h>

#include "match/offload/offload.h"

static struct p2p_req *req_of(struct match_entry *entry)
{
    return CONTAINER_OF(entry, struct p2p_req, match);
}

/* Receives of partitioned messages stand in a space of sources of their own and are no p2p_req. Nothing that the
 * device could hold overlaps them. */
static bool is_ours(const struct match_entry *entry)
{
    return match_key_source(entry->node.key) >= 0;
}

/* One run of bytes, from a process behind the device: from any source a message may also come past it. */
static bool is_eligible(const struct p2p_req *r)
{
    const struct comm *comm = r->channel->comm;

    return r->match.mask >> 32 && r->type->is_contig && !(r->mode & P2P_HIDDEN) &&
           lane_is_near(r->channel->lane, group_proc(comm->remote_group, match_key_source(r->match.node.key)));
}

static void on_posted(struct match_ctx *ctx, struct match_entry *entry, void *arg)
{
    struct p2p_req *r = req_of(entry);
    struct lane *lane = arg;
    struct offload_tag tag;

    if (!is_ours(entry))
        return;
    tag = (struct offload_tag){ entry->node.key, entry->mask, r->buf, r->len, ctx->id };
    r->device_slot = (uint16_t)offload_post(lane->offload, entry, &tag, is_eligible(r));
}

static void on_unposted(struct match_ctx *ctx, struct match_entry *entry, void *arg)
{
    struct lane *lane = arg;

    if (is_ours(entry))
        offload_unpost(lane->offload, req_of(entry)->device_slot, entry, ctx->id);
}

static bool is_message(struct net_head head, const void *payload, uint32_t len, struct model_arrival *out)
{
    const unsigned kind = wire_kind(head);
    const bool is_plain = kind == WIRE_EAGER && !wire_flags(head);

    if (kind != WIRE_EAGER && kind != WIRE_RTS)
        return false;
    *out = (struct model_arrival){ wire_ctx(head), head.word[1], is_plain ? payload : NULL, len };
    return true;
}

/* The device knows the receive no longer; now the shadow does not either. */
static struct p2p_req *take_out(struct match_entry *entry)
{
    struct p2p_req *r = req_of(entry);

    r->device_slot = OFFLOAD_TAKEN;
    match_cancel(&r->channel->match, entry);
    return r;
}

static int taken(void *arg, unsigned slot, bool is_placed, int proc, struct net_head head, const void *payload,
                 uint32_t len)
{
    struct lane *lane = arg;
    struct arrival a;
    struct p2p_req *r;
    struct peer *peer;

    if (peer_get(lane, proc, &peer)) /* it may have to be answered */
        return NET_AGAIN;
    r = take_out(offload_taken(lane->offload, slot));
    payload = arrival_read(&a, proc, head, payload, len);
    if (!is_placed) {
        deliver(r, &a, payload);
        return 0;
    }
    r->req.source = a.source;
    r->req.tag = a.tag;
    r->req.bytes = len;
    p2p_complete(r);
    return 0;
}

static void removed(void *arg, unsigned slot)
{
    struct lane *lane = arg;
    struct match_entry *entry = offload_removed(lane->offload, slot);

    if (entry)
        request_cancelled(take_out(entry));
}

bool offload_ask_back(struct p2p_req *r)
{
    struct offload *offload = r->channel->lane->offload;

    if (!offload || !match_is_posted(&r->match) || r->device_slot == OFFLOAD_SOFT)
        return false;
    offload_cancel(offload, r->device_slot);
    return true;
}

void lane_offload_prepare(struct lane *lane)
{
    lane->device_user = (struct device_user){ is_message, taken, removed, lane };
}

void lane_offload_begin(struct lane *lane, struct net *net)
{
    lane->offload = device_offload(net);
    lane->watch = (struct match_watch){ on_posted, on_unposted, lane };
    match_set_watch(&lane->match, &lane->watch);
}
