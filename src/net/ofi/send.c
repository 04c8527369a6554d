/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. Sending, above: what callers see. A record is copied into a frame and given to libfabric at the call;
 * one that is sent from where it lies stands in a queue until all its frames have been given, and what comes behind it
 * finds no room till then.
 * Knows: base, net. */
#include "base/err.h"
#include "net/ofi/int_ofi.h"

static struct ofi_peer *peer_of(struct net_ep *ep)
{
    return (struct ofi_peer *)(void *)ep;
}

/* May something be sent? 0, NET_AGAIN, or OFI_FORGET when it would never arrive. H. */
static int prepare(struct ofi_peer *peer)
{
    if (peer->state == OFI_BROKEN || peer->fail_rc)
        return OFI_FORGET;
    if (unlikely(peer->has_left)) {
        ofi_lose(peer, err(MPI_ERR_OTHER, "E0362: process %d has left MPI, and something is to be sent to it",
                           peer->ep.proc));
        return OFI_FORGET;
    }
    if (unlikely(!peer->has_address)) {
        const int rc = ofi_find_address(peer);
        if (rc)
            return rc;
    }
    if (!list_is_empty(&peer->directs))
        ofi_push(peer);
    return list_is_empty(&peer->directs) ? 0 : NET_AGAIN;
}

/* For the caller: what will never arrive has been sent as well. */
static int taken(int rc)
{
    return rc == OFI_FORGET ? 0 : rc;
}

int ofi_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct ofi_peer *peer = peer_of(ep);
    struct ofi_hub *hub = ofi_of(peer)->hub;
    int rc;

    ofi_lock(hub);
    rc = prepare(peer);
    if (likely(!rc))
        rc = ofi_post(peer, OFI_RECORD, head, payload, len);
    ofi_unlock(hub);
    return taken(rc);
}

int ofi_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct ofi_peer *peer = peer_of(ep);
    struct ofi_hub *hub = ofi_of(peer)->hub;
    struct ofi_cell *cell = NULL;

    ofi_lock(hub);
    if (prepare(peer) != NET_AGAIN)
        cell = ofi_cell_get_big(peer);
    ofi_unlock(hub);
    if (!cell)
        return NET_AGAIN;
    *buffer = (struct net_buffer){ cell->data + OFI_FRAME_SIZE, cell->index };
    return 0;
}

int ofi_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct ofi_peer *peer = peer_of(ep);
    struct ofi_hub *hub = ofi_of(peer)->hub;
    int rc;

    ofi_lock(hub);
    rc = prepare(peer);
    if (!rc)
        rc = ofi_post_cell(peer, hub->bigs[buffer->index], head, len);
    if (rc == OFI_FORGET)
        ofi_cell_put(hub, hub->bigs[buffer->index]);
    ofi_unlock(hub);
    return taken(rc);
}

void ofi_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    struct ofi_hub *hub = ofi_of(peer_of(ep))->hub;

    ofi_lock(hub);
    ofi_cell_put(hub, hub->bigs[buffer->index]);
    ofi_unlock(hub);
}

/* Behind the others. False: there is no room, or no memory. */
static bool enqueue(struct ofi_peer *peer, const struct ofi_direct *made)
{
    struct ofi *ofi = ofi_of(peer);
    struct ofi_direct *direct = peer->direct_count < OFI_DIRECTS_MAX ? mem_pool_get(&ofi->hub->directs) : NULL;

    if (!direct)
        return false;
    *direct = *made;
    peer->direct_count++;
    list_append(&peer->directs, &direct->link);
    list_remove(&peer->push_link);
    list_append(&ofi->pushing, &peer->push_link);
    ofi_push(peer);
    return true;
}

int ofi_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                  _Atomic uint32_t *pending)
{
    const struct ofi_direct direct = { .head = head, .payload = payload, .len = len, .pending = pending };
    struct ofi_peer *peer = peer_of(ep);
    struct ofi_hub *hub = ofi_of(peer)->hub;
    int rc;

    ofi_lock(hub);
    rc = prepare(peer);
    if (rc == OFI_FORGET)
        atomic_fetch_sub_explicit(pending, 1, memory_order_release);
    else if (peer->has_address)
        rc = enqueue(peer, &direct) ? 0 : NET_AGAIN;
    ofi_unlock(hub);
    return taken(rc);
}
