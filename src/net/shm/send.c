/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Sending: slots for what is short, cells for the rest. The first branch of shm_send is the whole
 * way of a short message: one line written, two lines read that are in the cache unless the receiver changed them.
 * Knows: base, sys, progress (waking), net. */
#include <string.h>

#include "base/copy.h"
#include "net/shm/int_shm.h"
#include "progress/progress.h"

/* Ask the receiver's line how far it has come: are `n` slots free now? */
static NOINLINE bool look_for_room(struct shm_peer *peer, uint32_t n)
{
    /* acquire pairs with tell_sender: the receiver has read these slots */
    peer->out_tail = atomic_load_explicit(&peer->out->tail, memory_order_acquire);
    return peer->out_pos - peer->out_tail + n <= SHM_SLOTS;
}

/* Are fewer than `n` slots free as far as is known? */
static ALWAYS_INLINE bool seems_full(const struct shm_peer *peer, uint32_t n)
{
    return peer->out_pos - peer->out_tail + n > SHM_SLOTS;
}

/* The receiver does not poll this ring: leave word in its bells, once until it has answered. */
static NOINLINE COLD void ring_bell(struct shm_peer *peer)
{
    struct shm *shm = (struct shm *)(void *)peer->ep.net;
    struct shm_proc *to = shm_proc(shm->segment, peer->ep.proc);
    const uint64_t bit = UINT64_C(1) << shm->proc % 64;
    const int group = shm->proc / 64;

    /* sequentially consistent: the slot is visible before the bell, the word before its bit in `bells` */
    atomic_fetch_or_explicit(&to->bell[group], bit, memory_order_seq_cst);
    atomic_fetch_or_explicit(&to->bells, UINT64_C(1) << group, memory_order_seq_cst);
}

/* In a row of sends the slots to come are fetched early, for each of them is in the receiver's cache. When sends and
 * arrivals alternate that would only take lines away from a receiver that is looking at them. */
static ALWAYS_INLINE void fetch_ahead(struct shm_peer *peer)
{
    if (peer->in_pos_at_send == peer->in_pos)
        prefetch_write(&peer->out->slot[shm_ahead(peer->out_index)]);
    peer->in_pos_at_send = peer->in_pos;
}

/* Make `n` slots that start at `slot` visible. */
static ALWAYS_INLINE void publish(struct shm_peer *peer, struct shm_slot *slot, uint32_t n)
{
    /* release pairs with the acquire in poll.c: the rest of the record is written */
    atomic_store_explicit(&slot->seq, (peer->out_pos + 1) | SHM_IN_CELL, memory_order_release);
    peer->out_pos += n;
    peer->out_index += n;
    if (unlikely(peer->out_index >= SHM_SLOTS))
        peer->out_index -= SHM_SLOTS;
    if (unlikely(!atomic_load_explicit(&peer->out->hot, memory_order_relaxed)))
        ring_bell(peer);
    progress_wake(peer->sleep);
}

/* 41 to 160 bytes: the following slots first. */
static NOINLINE int send_spread(struct shm_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_slot *first = &peer->out->slot[peer->out_index];
    const unsigned char *rest = (const unsigned char *)payload + SHM_INLINE;
    uint32_t left = len - SHM_INLINE, n = 1;

    const uint32_t slots = 1 + (left + SHM_MORE - 1) / SHM_MORE;

    if (seems_full(peer, slots) && !look_for_room(peer, slots))
        return NET_AGAIN;
    while (left) {
        struct shm_slot *slot = &peer->out->slot[(peer->out_index + n) % SHM_SLOTS];
        const uint32_t part = left < SHM_MORE ? left : SHM_MORE;
        atomic_store_explicit(&slot->seq, 0, memory_order_relaxed);
        memcpy((char *)slot + sizeof slot->seq, rest, part);
        rest += part;
        left -= part;
        n++;
    }
    first->len = len;
    first->head = head;
    memcpy(first->payload, payload, SHM_INLINE);
    publish(peer, first, n);
    return 0;
}

int shm_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm_slot *slot = &peer->out->slot[peer->out_index];

    if (unlikely(len > SHM_INLINE))
        return send_spread(peer, head, payload, len);
    if (unlikely(seems_full(peer, 1)) && !look_for_room(peer, 1))
        return NET_AGAIN;
    fetch_ahead(peer);
    slot->len = len;
    slot->head = head;
    copy_short(slot->payload, payload, len);
    publish(peer, slot, 1);
    return 0;
}

/* Has the receiver read it, when its tail has come to `tail`? */
static ALWAYS_INLINE bool is_read(const struct shm_cell *cell, uint32_t tail)
{
    return (int32_t)(tail - cell->end) >= 0;
}

/* Ask all receivers how far they have come. */
static NOINLINE void collect_cells(struct shm *shm)
{
    for (uint32_t i = 0; i < SHM_CELLS; i++) {
        struct shm_cell *cell = &shm->cells[i];
        /* acquire pairs with tell_sender: the cell has been read */
        if (!cell->peer || !is_read(cell, atomic_load_explicit(&cell->peer->out->tail, memory_order_acquire)))
            continue;
        cell->peer = NULL;
        shm->cells_free |= UINT32_C(1) << i;
    }
}

/* The cell that the same peer had before is warm on both sides, and an answer has mostly told that it has been read:
 * asking the receiver's line would take as long as a short message. */
static uint32_t choose_cell(struct shm *shm, const struct shm_peer *peer)
{
    uint32_t index = peer->last_cell;

    if (index < SHM_CELLS && shm->cells[index].peer == peer && is_read(&shm->cells[index], peer->out_tail))
        return index;
    if (!shm->cells_free)
        collect_cells(shm);
    if (!shm->cells_free)
        return SHM_CELLS;
    index = (uint32_t)__builtin_ctz(shm->cells_free);
    shm->cells_free &= shm->cells_free - 1;
    return index;
}

int shm_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    buffer->index = choose_cell(shm, (struct shm_peer *)(void *)ep);
    if (unlikely(buffer->index == SHM_CELLS))
        return NET_AGAIN;
    shm->cells[buffer->index].peer = NULL;
    buffer->data = shm_cell(shm->segment, shm->procs, shm->proc, buffer->index);
    return 0;
}

void shm_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    shm->cells_free |= UINT32_C(1) << buffer->index;
}

int shm_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct shm *shm = (struct shm *)(void *)ep->net;
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm_slot *slot = &peer->out->slot[peer->out_index];

    if (seems_full(peer, 1) && !look_for_room(peer, 1))
        return NET_AGAIN;
    slot->len = len | SHM_IN_CELL;
    slot->head = head;
    memcpy(slot->payload, &(struct shm_in_cell){ buffer->index, peer->in_pos }, sizeof(struct shm_in_cell));
    publish(peer, slot, 1);
    shm->cells[buffer->index] = (struct shm_cell){ peer, peer->out_pos };
    peer->last_cell = (uint8_t)buffer->index;
    return 0;
}

void shm_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    *in = peer->in->wishes;
    *out = peer->out->wishes;
}

void shm_wake(struct net_ep *ep)
{
    progress_wake(((struct shm_peer *)(void *)ep)->sleep);
}
