/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. Sending, below: frames are made in cells and given to libfabric; a record that is sent from where it
 * lies is cut into frames, whose payloads are not copied where the provider takes a frame from two places. What
 * libfabric has no room for has not been sent.
 * Knows: base, libfabric. The hub's lock is held everywhere here. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "net/ofi/int_ofi.h"

static struct ofi_hub *hub_of(const struct ofi_peer *peer)
{
    return ofi_of(peer)->hub;
}

/* --- cells --- */

static void give(struct ofi_hub *hub, struct ofi_cell *cell)
{
    struct ofi_cells *cells = cell->is_big ? &hub->big : &hub->small;

    cell->next = cells->free;
    cells->free = cell;
}

/* False: there is no memory. */
static bool make_slab(struct ofi_hub *hub, struct ofi_cells *cells)
{
    const size_t count = cells->per_slab;
    struct ofi_slab *slab = mem_zalloc(sizeof *slab + count * sizeof slab->cells[0]);

    if (!slab || ofi_memory_get(hub, &slab->memory, count * cells->size)) {
        mem_free(slab);
        return false;
    }
    list_append(&hub->slabs, &slab->link);
    for (size_t i = 0; i < count; i++) {
        struct ofi_cell *cell = &slab->cells[i];
        cell->op.is_cell = true;
        cell->is_big = cells == &hub->big;
        cell->desc = slab->memory.mr ? slab->memory.mr->desc : NULL;
        cell->data = slab->memory.at + i * cells->size;
        if (cell->is_big) {
            cell->index = cells->made + (uint32_t)i;
            hub->bigs[cell->index] = cell;
        }
        give(hub, cell);
    }
    cells->made += (uint32_t)count;
    return true;
}

/* NULL: not now. */
static struct ofi_cell *take(struct ofi_peer *peer, bool is_big)
{
    struct ofi_hub *hub = hub_of(peer);
    struct ofi_cells *cells = is_big ? &hub->big : &hub->small;
    struct ofi_cell *cell;

    if (is_big ? peer->big_count >= OFI_PEER_BIG_MAX : peer->small_count >= OFI_PEER_SMALL_MAX)
        return NULL;
    if (!cells->free && (cells->made >= cells->max || !make_slab(hub, cells)))
        return NULL;
    cell = cells->free;
    cells->free = cell->next;
    cell->peer = peer;
    cell->direct = NULL;
    *(is_big ? &peer->big_count : &peer->small_count) += 1;
    return cell;
}

struct ofi_cell *ofi_cell_get_big(struct ofi_peer *peer)
{
    return take(peer, true);
}

void ofi_cell_put(struct ofi_hub *hub, struct ofi_cell *cell)
{
    struct ofi_peer *peer = cell->peer;

    if (peer)
        *(cell->is_big ? &peer->big_count : &peer->small_count) -= 1;
    cell->peer = NULL;
    give(hub, cell);
}

/* --- frames --- */

void ofi_lose(struct ofi_peer *peer, int rc)
{
    if (peer->state == OFI_BROKEN) /* that has been told */
        return;
    if (!peer->fail_rc)
        peer->fail_rc = rc;
    list_remove(&peer->fail_link);
    list_append(&hub_of(peer)->failed[ofi_of(peer)->lane], &peer->fail_link);
}

void ofi_fail(struct ofi_peer *peer, const char *what, ssize_t rc, const char *more)
{
    const struct ofi_hub *hub = hub_of(peer);

    if (peer->has_left)
        return;
    ofi_lose(peer, err(MPI_ERR_OTHER, "E0362: the way to process %d by libfabric's provider %s is broken: %s: %s%s%s",
                      peer->ep.proc, hub->provider, what, ofi_library_text(hub->found.library, rc),
                      *more ? ": " : "", more));
}

static struct ofi_frame frame_of(const struct ofi_peer *peer, enum ofi_kind kind, struct net_head head, uint32_t len,
                                 uint32_t whole)
{
    const struct ofi *ofi = ofi_of(peer);

    return (struct ofi_frame){
        .len = htole32(len), .whole = htole32(kind == OFI_FIRST ? whole : 0), .kind = (uint8_t)kind,
        .lane = (uint8_t)ofi->lane,
        .from = htole32((uint32_t)ofi->proc), .tenant = htole32(ofi->tenant), .number = htole32(peer->out_number),
        .stamp = htole64(peer->stamp), .head = { { htole64(head.word[0]), htole64(head.word[1]) } },
    };
}

/* What libfabric has answered to a frame: 0, NET_AGAIN or OFI_FORGET. */
static int answered(struct ofi_peer *peer, ssize_t rc)
{
    if (likely(!rc)) {
        peer->out_number++;
        return 0;
    }
    if (rc == -EAGAIN) {
        ofi_of(peer)->is_blocked = true;
        return NET_AGAIN;
    }
    ofi_fail(peer, "a message cannot be sent", rc, "");
    return OFI_FORGET;
}

/* So many bytes of a cell that is ready. It is the caller's still, unless this gives 0. */
static int send_cell(struct ofi_peer *peer, struct ofi_cell *cell, size_t size)
{
    struct fab_ep *ep = hub_of(peer)->ep;

    return answered(peer, ep->msg->send(ep, cell->data, size, cell->desc, peer->address, cell));
}

/* It goes at once, and nothing comes back. */
static int send_now(struct ofi_peer *peer, const struct ofi_frame *frame, const void *payload, uint32_t len)
{
    struct fab_ep *ep = hub_of(peer)->ep;
    unsigned char bytes[OFI_SMALL_SIZE] ALIGNED(OFI_ALIGN);
    const size_t size = ofi_frame_bytes(len);

    memcpy(bytes, frame, OFI_FRAME_SIZE);
    if (len) {
        memset(bytes + size - OFI_ALIGN, 0, OFI_ALIGN);
        memcpy(bytes + OFI_FRAME_SIZE, payload, len);
    }
    return answered(peer, ep->msg->inject(ep, bytes, size, peer->address));
}

/* Part of a record that has `whole` bytes. */
static int post_part(struct ofi_peer *peer, enum ofi_kind kind, struct net_head head, const void *payload, uint32_t len,
                     uint32_t whole)
{
    struct ofi_hub *hub = hub_of(peer);
    const struct ofi_frame frame = frame_of(peer, kind, head, len, whole);
    const size_t size = ofi_frame_bytes(len);
    struct ofi_cell *cell;
    int rc;

    if (size <= hub->inject_max)
        return send_now(peer, &frame, payload, len);
    cell = take(peer, size > OFI_SMALL_SIZE);
    if (!cell)
        return NET_AGAIN;
    memcpy(cell->data, &frame, OFI_FRAME_SIZE);
    if (len) {
        memset(cell->data + size - OFI_ALIGN, 0, OFI_ALIGN);
        memcpy(cell->data + OFI_FRAME_SIZE, payload, len);
    }
    rc = send_cell(peer, cell, size);
    if (rc)
        ofi_cell_put(hub, cell);
    return rc;
}

int ofi_post(struct ofi_peer *peer, enum ofi_kind kind, struct net_head head, const void *payload, uint32_t len)
{
    return post_part(peer, kind, head, payload, len, 0);
}

int ofi_post_cell(struct ofi_peer *peer, struct ofi_cell *cell, struct net_head head, uint32_t len)
{
    const struct ofi_frame frame = frame_of(peer, OFI_RECORD, head, len, 0);
    const size_t size = ofi_frame_bytes(len);

    memcpy(cell->data, &frame, OFI_FRAME_SIZE);
    memset(cell->data + OFI_FRAME_SIZE + len, 0, size - OFI_FRAME_SIZE - len);
    return send_cell(peer, cell, size);
}

/* --- records that stay where they are --- */

/* Nothing of it is read any more. */
static void finish(struct ofi_hub *hub, struct ofi_peer *peer, struct ofi_direct *direct)
{
    if (peer)
        peer->direct_count--;
    /* release: the memory is the caller's again */
    atomic_fetch_sub_explicit(direct->pending, 1, memory_order_release);
    mem_pool_put(&hub->directs, direct);
}

/* A frame in a cell, its payload from where it is. */
static int gather(struct ofi_peer *peer, struct ofi_direct *direct, enum ofi_kind kind, uint32_t len)
{
    struct ofi_hub *hub = hub_of(peer);
    struct ofi_cell *cell = take(peer, false);
    void *desc[2] = { NULL, NULL };
    struct iovec pieces[2];
    int rc;

    if (!cell)
        return NET_AGAIN;
    *(struct ofi_frame *)(void *)cell->data = frame_of(peer, kind, direct->head, len, direct->len);
    pieces[0] = (struct iovec){ cell->data, OFI_FRAME_SIZE };
    pieces[1] = (struct iovec){ (unsigned char *)(uintptr_t)direct->payload + direct->posted, len };
    cell->direct = direct;
    direct->in_flight++;
    rc = answered(peer, hub->ep->msg->sendv(hub->ep, pieces, desc, 2, peer->address, cell));
    if (rc) {
        direct->in_flight--;
        ofi_cell_put(hub, cell);
    }
    return rc;
}

/* Its next frame. */
static int push_part(struct ofi_peer *peer, struct ofi_direct *direct)
{
    const uint32_t len = (uint32_t)size_min(direct->len - direct->posted, OFI_EAGER_MAX);
    const enum ofi_kind kind = len == direct->len ? OFI_RECORD : direct->posted ? OFI_MORE : OFI_FIRST;
    int rc;

    if (hub_of(peer)->can_gather && len >= OFI_GATHER_MIN && len % OFI_ALIGN == 0)
        rc = gather(peer, direct, kind, len);
    else
        rc = post_part(peer, kind, direct->head, direct->payload + direct->posted, len, direct->len);
    if (!rc)
        direct->posted += len;
    return rc;
}

void ofi_push(struct ofi_peer *peer)
{
    while (!list_is_empty(&peer->directs)) {
        struct ofi_direct *direct = CONTAINER_OF(peer->directs.next, struct ofi_direct, link);
        do {
            if (push_part(peer, direct))
                return;
        } while (direct->posted < direct->len);
        list_remove(&direct->link);
        if (!direct->in_flight)
            finish(hub_of(peer), peer, direct);
    }
    list_remove(&peer->push_link);
}

void ofi_drop_directs(struct ofi_peer *peer)
{
    struct ofi_hub *hub = hub_of(peer);

    LIST_FOR_EACH_SAFE(link, &peer->directs) {
        struct ofi_direct *direct = CONTAINER_OF(link, struct ofi_direct, link);
        list_remove(link);
        direct->posted = direct->len;
        if (!direct->in_flight)
            finish(hub, peer, direct);
    }
    list_remove(&peer->push_link);
}

void ofi_posted(struct ofi_hub *hub, struct ofi_cell *cell)
{
    struct ofi_direct *direct = cell->direct;

    if (direct) {
        direct->in_flight--;
        if (!direct->in_flight && direct->posted == direct->len && list_is_empty(&direct->link))
            finish(hub, cell->peer, direct);
    }
    ofi_cell_put(hub, cell);
}

/* One cell that may be on its way to this process. */
static void abandon(struct ofi_peer *peer, struct ofi_cell *cell)
{
    struct ofi_direct *direct = cell->direct;

    if (cell->peer != peer)
        return;
    *(cell->is_big ? &peer->big_count : &peer->small_count) -= 1;
    cell->peer = NULL;
    cell->direct = NULL;
    if (direct && !--direct->in_flight)
        finish(hub_of(peer), peer, direct);
}

void ofi_abandon(struct ofi_peer *peer)
{
    ofi_drop_directs(peer);
    LIST_FOR_EACH(link, &hub_of(peer)->slabs) {
        struct ofi_slab *slab = CONTAINER_OF(link, struct ofi_slab, link);
        const uint32_t count = slab->cells[0].is_big ? OFI_BIG_SLAB : OFI_SMALL_SLAB;
        for (uint32_t i = 0; i < count; i++)
            abandon(peer, &slab->cells[i]);
    }
}
