/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Sending: slots for what is short, cells for the rest. The first branch of shm_send_in_room is the
 * whole way of a short message: one line written, two lines read that are in the cache unless the receiver changed
 * them.
 * Knows: base, sys, progress (waking), net. */
#include <string.h>

#include "base/copy.h"
#include "net/shm/int_shm.h"
#include "progress/progress.h"

enum { FETCH_MIN = 4 };

/* All but the last cells. */
#define MOST (UINT32_MAX >> SHM_LAST)

/* Has nothing come since the last record went out? */
static ALWAYS_INLINE bool is_row(const struct shm_peer *peer)
{
    return peer->in_pos_at_send == peer->in_pos;
}

/* Ask all receivers how far they have come. */
static NOINLINE void collect_cells(struct shm *shm)
{
    for (uint32_t i = 0; i < SHM_CELLS; i++) {
        struct shm_cell *cell = &shm->cells[i];
        /* acquire pairs with tell_sender: the cell has been read */
        if (!cell->peer || !shm_is_read(cell, atomic_load_explicit(&cell->peer->out->tail, memory_order_acquire)))
            continue;
        cell->peer = NULL;
        shm->cells_free |= UINT32_C(1) << i;
    }
}

/* Slots that are left out keep their old numbers, which must not come round again. */
static void forget_numbers(struct shm_peer *peer)
{
    struct shm_slot *slot = peer->out_slot;

    for (uint32_t left = SHM_SLOTS - (peer->out_pos - peer->out_tail); left; left--) {
        atomic_store_explicit(&slot->seq, 0, memory_order_relaxed);
        slot = shm_next(peer->out, slot, 1);
    }
}

/* Ask the receiver's line how far it has come: are `n` slots free now, and one to be left out? Cells are asked for and
 * old numbers forgotten long before the numbers of slots have gone half round, from where on cells that have been read
 * would look as if they had not. */
static NOINLINE bool look_for_room(struct shm_peer *peer, int n)
{
    /* acquire pairs with tell_sender: the receiver has read these slots */
    peer->out_tail = atomic_load_explicit(&peer->out->tail, memory_order_acquire);
    peer->ep.room = SHM_ROOM - (int)(peer->out_pos - peer->out_tail);
    if (unlikely(peer->out_pos - peer->collected >= SHM_COLLECT_EVERY)) {
        peer->collected = peer->out_pos;
        collect_cells((struct shm *)(void *)peer->ep.net);
        forget_numbers(peer);
    }
    return peer->ep.room + SHM_SLOTS - SHM_ROOM >= n + !is_row(peer);
}

/* As far as is known; the last slots are found only by looking. */
static ALWAYS_INLINE bool seems_full(const struct shm_peer *peer)
{
    return peer->ep.room <= 0;
}

/* The receiver does not poll this ring: leave word in its bells, unless it is there already. */
static void ring_bell(struct shm_peer *peer)
{
    struct shm *shm = (struct shm *)(void *)peer->ep.net;
    struct shm_proc *to = peer->proc;
    const uint64_t bit = UINT64_C(1) << shm->proc % 64;
    const int group = shm->proc / 64;

    /* Who takes the bit away polls the ring from then on. */
    if (atomic_load_explicit(&to->bell[group], memory_order_relaxed) & bit)
        return;
    /* sequentially consistent: the slot is visible before the bell, the word before its bit in `bells` */
    atomic_fetch_or_explicit(&to->bell[group], bit, memory_order_seq_cst);
    atomic_fetch_or_explicit(&to->bells, UINT64_C(1) << group, memory_order_seq_cst);
}

/* The receiver may not be looking. Returns 0, for those who have nothing else to do. */
static NOINLINE int call_receiver(struct shm_peer *peer)
{
    progress_fence(); /* pairs with sweep in poll.c, where barriers do not reach us */
    if (unlikely(!atomic_load_explicit(&peer->out->hot, memory_order_relaxed))) {
        ring_bell(peer);
        progress_wake(peer->sleep);
    } else {
        progress_wake_seen(peer->sleep);
    }
    return 0;
}

/* Something has just been stored that the receiver waits for: does it look, or is it to be called? */
static ALWAYS_INLINE int tell_receiver(struct shm_peer *peer)
{
    if (likely(atomic_load_explicit(&peer->out->hot, memory_order_relaxed) &&
               !atomic_load_explicit(peer->alert, memory_order_relaxed)))
        return 0;
    return call_receiver(peer);
}

/* Make a record visible that starts at `slot`, the next one, with this length word; `n`: its slots and those that are
 * left out. */
static ALWAYS_INLINE int publish(struct shm_peer *peer, struct shm_slot *slot, uint32_t n, uint32_t len)
{
    slot->len = len;
    /* release pairs with the acquire in poll.c: the rest of the record is written */
    atomic_store_explicit(&slot->seq, (peer->out_pos + 1) | SHM_VALID, memory_order_release);
    peer->out_pos += n;
    peer->ep.room -= (int)n;
    slot += n;
    peer->out_slot = likely(slot < peer->out_end) ? slot : slot - SHM_SLOTS;
    return tell_receiver(peer);
}

/* The same for one of one slot. In a row the slots to come are fetched early, for each of them is in the receiver's
 * cache. When records go to and fro that would only take lines away from a receiver that is looking at them. */
static ALWAYS_INLINE int publish_slot(struct shm_peer *peer, struct shm_slot *slot, uint32_t len)
{
    if (!is_row(peer)) {
        peer->in_pos_at_send = peer->in_pos;
        return publish(peer, slot, 2, len | SHM_GAP);
    }
    if (likely(slot + SHM_AHEAD < peer->out_end))
        prefetch_write(slot + SHM_AHEAD);
    return publish(peer, slot, 1, len);
}

/* The same for one of several. Where the next one as long would not fit before the end of the ring it begins anew, so
 * that gaps are the same each time round. */
static ALWAYS_INLINE int publish_spread(struct shm_peer *peer, struct shm_slot *slot, uint32_t slots, uint32_t len)
{
    const uint32_t to_end = shm_to_end(peer->out, shm_next(peer->out, slot, slots)) % SHM_SLOTS;

    if (is_row(peer))
        return publish(peer, slot, slots, len);
    peer->in_pos_at_send = peer->in_pos;
    if (to_end <= slots && (int)(slots + to_end) <= peer->ep.room + SHM_SLOTS - SHM_ROOM)
        return publish(peer, slot, slots + to_end, len | SHM_TO_END);
    return publish(peer, slot, slots + 1, len | SHM_GAP);
}

/* More than fits a slot: the following slots first. */
static NOINLINE int send_spread(struct shm_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_slot *first = peer->out_slot, *slot = first;
    const unsigned char *rest = (const unsigned char *)payload + SHM_INLINE;
    const uint32_t slots = 1 + (len - SHM_INLINE + SHM_MORE - 1) / SHM_MORE, tail = peer->in_pos & ~SHM_VALID;
    uint32_t left = len - SHM_INLINE;

    if (seems_full(peer) && !look_for_room(peer, (int)slots))
        return NET_AGAIN;
    /* All lines at once: stores wait for one after the other. */
    for (uint32_t i = 0; slots >= FETCH_MIN && i < slots; i++)
        prefetch_write(shm_next(peer->out, first, i));
    for (; left > SHM_MORE; left -= SHM_MORE, rest += SHM_MORE) {
        slot = shm_next(peer->out, slot, 1);
        atomic_store_explicit(&slot->seq, tail, memory_order_relaxed);
        memcpy((char *)slot + sizeof slot->seq, rest, SHM_MORE);
    }
    slot = shm_next(peer->out, slot, 1);
    atomic_store_explicit(&slot->seq, tail, memory_order_relaxed);
    copy_up_to_64((char *)slot + sizeof slot->seq, rest, left);
    first->head = head;
    memcpy(first->payload, payload, SHM_INLINE);
    return publish_spread(peer, first, slots, len);
}

static ALWAYS_INLINE int send_slot(struct shm_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_slot *slot = peer->out_slot;

    slot->head = head;
    copy_short(slot->payload, payload, len);
    return publish_slot(peer, slot, len);
}

static NOINLINE int send_last(struct shm_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    return look_for_room(peer, 1) ? send_slot(peer, head, payload, len) : NET_AGAIN;
}

/* Cells on their way to this peer, as far as is known. */
static uint32_t count_sent(const struct shm *shm, const struct shm_peer *peer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHM_CELLS; i++)
        count += shm->cells[i].peer == peer;
    return count;
}

/* Only the last cells, or pairs, seem to be free: may this peer have one? */
static NOINLINE bool may_take_last(struct shm *shm, const struct shm_peer *peer, bool is_pair)
{
    if (shm->spare.peer)
        shm_drop_spare(shm);
    collect_cells(shm);
    return (is_pair ? shm_free_pairs(shm) : shm->cells_free) & MOST || count_sent(shm, peer) < SHM_LAST_EACH;
}

/* There is no cell for this peer. Will there be one when it has read what is on its way to it? */
static COLD int no_cell(const struct shm *shm, const struct shm_peer *peer)
{
    return count_sent(shm, peer) ? NET_AGAIN : NET_TAKEN;
}

/* The cell that the same peer had before is warm on both sides, and an answer has mostly told that it has been read:
 * asking the receiver's line would take as long as a short message. */
static uint32_t choose_cell(struct shm *shm, const struct shm_peer *peer)
{
    const uint64_t touched = (UINT64_C(1) << shm->cells_touched) - 1;
    const uint32_t index = peer->last_cell;

    if (unlikely(shm->spare.peer == peer))
        return shm_take_spare(shm, false);
    if (index < SHM_CELLS && shm_is_read_by(shm, peer, index))
        return index;
    if (!(shm->cells_free & touched)) /* before memory is touched for the first time, which takes longer */
        collect_cells(shm);
    if (unlikely(!(shm->cells_free & MOST)) && !may_take_last(shm, peer, false))
        return SHM_CELLS;
    return likely(shm->cells_free) ? shm_take_free(shm) : SHM_CELLS;
}

/* Two cells that are one: those that the peer had before, or any two. */
static uint32_t choose_pair(struct shm *shm, const struct shm_peer *peer)
{
    const uint64_t touched = (UINT64_C(1) << shm->cells_touched) - 1;
    const uint32_t index = peer->last_cell;

    if (unlikely(shm->spare.peer == peer && shm->spare.is_pair))
        return shm_take_spare(shm, true);
    if (shm_is_pair_read_by(shm, peer, index))
        return index;
    if (!(shm_free_pairs(shm) & touched))
        collect_cells(shm);
    if (unlikely(!(shm_free_pairs(shm) & MOST)) && !may_take_last(shm, peer, true))
        return SHM_CELLS;
    return shm_free_pairs(shm) ? shm_take_pair(shm) : SHM_CELLS;
}

int shm_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    buffer->index = choose_cell(shm, (struct shm_peer *)(void *)ep);
    if (unlikely(buffer->index == SHM_CELLS))
        return no_cell(shm, (struct shm_peer *)(void *)ep);
    shm->cells[buffer->index].peer = NULL;
    buffer->data = shm_cell(shm->area, shm->proc, buffer->index);
    return 0;
}

void shm_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    shm->cells_free |= UINT32_C(1) << buffer->index;
}

/* The cell `index` is the next record. There is room. */
static ALWAYS_INLINE void publish_cell(struct shm_peer *peer, struct net_head head, uint32_t index, uint32_t len,
                                       uint64_t stamp)
{
    struct shm *shm = (struct shm *)(void *)peer->ep.net;
    struct shm_slot *slot = peer->out_slot;

    slot->head = head;
    memcpy(slot->payload, &(struct shm_in_cell){ index, peer->in_pos, stamp }, sizeof(struct shm_in_cell));
    publish_slot(peer, slot, len | SHM_IN_CELL);
    shm->cells[index] = (struct shm_cell){ peer, peer->out_pos };
    if (len > SHM_CELL_SIZE)
        shm->cells[index + 1] = shm->cells[index];
    if (peer->last_cell != index)
        peer->prior_cell = peer->last_cell;
    peer->last_cell = (uint8_t)index;
    shm->spare.wanted_by = len >= SHM_SPARE_MIN && pace_is_far_to(&peer->pace) ? peer : NULL;
    shm->spare.wanted = len;
}

int shm_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    if (seems_full(peer) && !look_for_room(peer, 1))
        return NET_AGAIN;
    publish_cell(peer, head, buffer->index, len, 0);
    return 0;
}

/* A short record that is one of a row, and long for its slots. */
static NOINLINE int send_by_cell(struct shm_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    struct net_buffer buffer;

    if ((seems_full(peer) && !look_for_room(peer, 1)) || shm_alloc(&peer->ep, &buffer))
        return send_spread(peer, head, payload, len);
    shared_write(buffer.data, payload, len, false);
    publish_cell(peer, head, buffer.index, len, 0);
    return 0;
}

int shm_send_in_room(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    if (unlikely(len > SHM_INLINE))
        return len > SHM_ROW_MAX && is_row(peer) ? send_by_cell(peer, head, payload, len)
                                                 : send_spread(peer, head, payload, len);
    return send_slot(peer, head, payload, len);
}

int shm_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    if (unlikely(len <= SHM_INLINE && seems_full(peer)))
        return send_last(peer, head, payload, len);
    return shm_send_in_room(ep, head, payload, len);
}

/* A cell for `len` bytes, or a pair; SHM_CELLS: there is none now. */
static uint32_t take_for_parts(struct shm *shm, const struct shm_peer *peer, uint32_t len)
{
    const uint32_t index = len > SHM_CELL_SIZE ? choose_pair(shm, peer) : choose_cell(shm, peer);

    if (index < SHM_CELLS)
        shm->cells[index].peer = NULL;
    if (index < SHM_CELLS && len > SHM_CELL_SIZE)
        shm->cells[index + 1].peer = NULL;
    return index;
}

static ALWAYS_INLINE void write_part(struct net_source source, size_t at, char *to, size_t len)
{
    if (source.write)
        source.write(source.arg, at, to, len);
    else
        shared_write(to, (const char *)source.arg + at, len, false);
}

int shm_send_parts(struct net_ep *ep, struct net_head head, struct net_source source, uint32_t len, bool is_asked_for)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm *shm = (struct shm *)(void *)ep->net;
    const uint32_t size = shm_part_size(len);
    struct shm_part *parts;
    uint32_t index;
    char *cell;

    if (!is_asked_for && !atomic_load_explicit(&peer->out->parts, memory_order_relaxed))
        return NET_NOT_THIS;
    if (seems_full(peer) && !look_for_room(peer, 1))
        return NET_AGAIN;
    index = take_for_parts(shm, peer, len);
    if (unlikely(index == SHM_CELLS))
        return no_cell(shm, peer);
    cell = shm_cell(shm->area, shm->proc, index);
    parts = shm_parts(shm->area, shm->proc, index);
    write_part(source, 0, cell, size);
    publish_cell(peer, head, index, len, ++shm->stamp);
    for (int part = 1; part < SHM_PARTS; part++) {
        const uint32_t at = size * (uint32_t)part;
        write_part(source, at, cell + at, part < SHM_PARTS - 1 ? size : len - at);
        /* release pairs with has_part in poll.c: the part is written */
        atomic_store_explicit(&parts[part - 1].stamp, shm->stamp, memory_order_release);
    }
    return tell_receiver(peer);
}

void shm_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    *in = peer->in->wishes;
    *out = peer->out->wishes;
}

struct pace *shm_pace(struct net_ep *ep)
{
    return &((struct shm_peer *)(void *)ep)->pace;
}

void shm_wake(struct net_ep *ep)
{
    progress_wake(((struct shm_peer *)(void *)ep)->sleep);
}
