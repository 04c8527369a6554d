/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Records on their way out. What finds no room waits with its peer: messages in a queue, so that order is
 * kept, and all else in another one, since it must come through when the messages are held back (see wire.h). The
 * queues move whenever the lane is polled. */
#include "p2p/int_p2p.h"

static void enqueue(struct outgoing *out, struct peer *peer, struct list *queue)
{
    if (list_is_empty(&peer->link)) {
        peer_set_crowded(peer, true);
        work_add(peer->lane, &peer->lane->crowded, &peer->link);
    }
    list_append(queue, &out->link);
}

void outgoing_send(struct outgoing *out, struct peer *peer)
{
    if (unlikely(peer->is_crowded) || out->push(out, peer))
        enqueue(out, peer, &peer->waiting);
}

void outgoing_control(struct outgoing *out, struct peer *peer)
{
    if (unlikely(!list_is_empty(&peer->controls)) || out->push(out, peer))
        enqueue(out, peer, &peer->controls);
}

/* A push may complete its request, which may be gone then: it is unlinked first. */
static int push_queue(struct list *queue, struct peer *peer)
{
    int sent = 0;

    while (!list_is_empty(queue)) {
        struct list *link = list_first(queue);
        struct outgoing *out = CONTAINER_OF(link, struct outgoing, link);
        list_remove(link);
        if (out->push(out, peer)) {
            list_prepend(queue, link);
            break;
        }
        sent++;
    }
    return sent;
}

static int push_waiting(struct peer *peer)
{
    const int sent = push_queue(&peer->controls, peer) + push_queue(&peer->waiting, peer);

    if (list_is_empty(&peer->controls) && list_is_empty(&peer->waiting)) {
        peer_set_crowded(peer, peer->lost);
        work_remove(peer->lane, &peer->link);
    }
    return sent;
}

int outgoing_work(struct lane *lane)
{
    int sent = 0;

    LIST_FOR_EACH_SAFE(link, &lane->crowded)
        sent += push_waiting(CONTAINER_OF(link, struct peer, link));
    return sent;
}

static int push_control(struct outgoing *out, struct peer *peer)
{
    struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
    const uint8_t then = r->then; /* within the process r may be answered, and gone, before the call returns */
    const int rc = peer->ops->send(peer->ep, r->head, &r->control, r->head_len);

    if (rc)
        return rc;
    if (then == THEN_COMPLETE)
        p2p_complete(r);
    else if (then == THEN_COPY)
        work_add(peer->lane, &peer->lane->copies, &r->link);
    return 0;
}

void record_send(struct p2p_req *r, size_t len, enum p2p_then then)
{
    r->head_len = (uint32_t)len;
    r->out.push = push_control;
    r->then = (uint8_t)then;
    outgoing_control(&r->out, r->peer);
}

void control_send(struct p2p_req *r, enum wire_kind kind, size_t len, enum p2p_then then)
{
    r->head = wire_head(kind, 0, 0, r->channel->ctx, match_key(r->channel->comm->rank, r->req.tag));
    record_send(r, len, then);
}
