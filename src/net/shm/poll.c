/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Receiving. Rings that carried something lately are active and polled; the others are cold, and
 * their senders ring a bell. With few active rings none ever becomes cold again; with many, those that stayed
 * silent for some sweeps do.
 * Knows: base, sys, progress (waking), net. */
#include <string.h>

#include "base/copy.h"
#include "net/shm/int_shm.h"
#include "progress/progress.h"
#include "sys/wake.h"

enum {
    BATCH = 16,          /* records taken from one ring before the next has its turn */
    ACTIVE_ENOUGH = 32,  /* so many active rings cost little; beyond, silent ones are made cold */
    SWEEP_POLLS = 1024,
    COLD_AFTER = 4,      /* silent sweeps */
    PART_LOOKS = 8,
};

static ALWAYS_INLINE void tell_sender(struct shm_peer *peer)
{
    peer->in_told = peer->in_pos;
    /* release pairs with look_for_room and collect_cells: what was in slots and cells has been used */
    atomic_store_explicit(&peer->in->tail, peer->in_told, memory_order_release);
    progress_wake(peer->sleep);
}

/* From slot and position to those `n` further on; true: it is time to tell the sender. */
static ALWAYS_INLINE bool go_on(struct shm_peer *peer, struct shm_slot *slot, uint32_t pos, uint32_t n)
{
    shm_set_in(peer, shm_next(peer->in, slot, n), pos + n);
    return pos + n - peer->in_told >= SHM_REPORT_EVERY;
}

/* Slots of a record of one slot, and its gap; `len`: its length word. */
static ALWAYS_INLINE uint32_t with_gap(uint32_t len)
{
    return 1 + (len >> 31);
}

static ALWAYS_INLINE void advance(struct shm_peer *peer, uint32_t n)
{
    if (unlikely(go_on(peer, peer->in_slot, peer->in_pos, n)))
        tell_sender(peer);
}

/* Should the sender's cells be told in parts? */
static ALWAYS_INLINE void want_parts(struct shm_peer *peer, bool wanted)
{
    if (unlikely(atomic_load_explicit(&peer->in->parts, memory_order_relaxed) != wanted))
        atomic_store_explicit(&peer->in->parts, wanted, memory_order_relaxed);
}

/* It brings something to who has a processor to wait on … */
bool shm_wants_parts(const struct net_ep *ep)
{
    (void)ep;
    return atomic_load_explicit(&progress.first_polls, memory_order_relaxed) > 1;
}

/* … and of a single cell where lines are near. */
static bool parts_pay(const struct shm_peer *peer)
{
    return !peer->pace.is_far && shm_wants_parts(&peer->ep);
}

/* A payload in a cell or a pair. */
struct written {
    const char *cell;
    const struct shm_part *parts; /* who tell of it, if `in` has a stamp */
    uint32_t len;
    uint32_t slots;               /* of its record */
    struct shm_in_cell in;
};

static ALWAYS_INLINE struct written look_at(const struct shm *shm, const struct shm_peer *peer,
                                            struct shm_slot *slot)
{
    struct written written = { .len = slot->len & SHM_LEN, .slots = with_gap(slot->len) };

    memcpy(&written.in, slot->payload, sizeof written.in);
    written.cell = shm_cell(shm->area, peer->ep.proc, written.in.index);
    written.parts = shm_parts(shm->area, peer->ep.proc, written.in.index);
    return written;
}

/* A record tells how far its sender has read, all but `left` slots, unless it is so old that the ring has gone round
 * since. The room must run out now and then, for look_for_room. */
static ALWAYS_INLINE void note_left(struct shm_peer *peer, uint32_t left)
{
    if (unlikely(left > SHM_SLOTS))
        return;
    peer->out_tail = peer->out_pos - left; /* the acquire of its slot covers what was read before it was sent */
    if (likely(peer->out_pos - peer->collected < SHM_COLLECT_EVERY))
        peer->ep.room = SHM_ROOM - (int)left;
}

/* The cell has been read and may be written again. */
static void leave_cell(struct shm_peer *peer, const struct written *written)
{
    note_left(peer, peer->out_pos - written->in.tail);
    advance(peer, written->slots);
    if (peer->in_told != peer->in_pos)
        tell_sender(peer);
}

/* Has this part come, not the first? With the last one, all have. */
static ALWAYS_INLINE bool has_part(const struct written *written, int part)
{
    /* acquire pairs with shm_send_parts */
    return atomic_load_explicit(&written->parts[part - 1].stamp, memory_order_acquire) == written->in.stamp;
}

/* Out of a cell, in some cases measured. */
static NOINLINE void read_measured(struct shm_peer *peer, void *buf, const void *cell, size_t len)
{
    const uint64_t start = pace_start(&peer->pace, len);

    shared_read(buf, cell, len);
    pace_end(&peer->pace, len, start);
}

/* Wait for a part, PART_LOOKS times as long as a short message is waited for, since some layouts take long to pack:
 * false if its writer has been stopped in between. */
static bool part_comes(const struct written *written, int part)
{
    for (int i = 0; i < PART_LOOKS; i++) {
        PROGRESS_LOOK_FIRST {
            if (has_part(written, part))
                return true;
        }
    }
    return false;
}

/* A payload from this part on, while it is written. False: it is not all there; what has been read will be again. */
static ALWAYS_INLINE bool read_from(const struct written *written, int part, net_read_fn *read, void *arg)
{
    const uint32_t size = shm_part_size(written->len);

    for (; part < SHM_PARTS; part++) {
        const uint32_t at = size * (uint32_t)part;
        if (unlikely(part && !part_comes(written, part)))
            return false;
        read(arg, at, written->cell + at, part < SHM_PARTS - 1 ? size : written->len - at);
    }
    return true;
}

/* A buffer for a whole payload. */
struct row {
    char *buf;
    uint32_t len;
};

static void read_row(void *arg, size_t at, const void *from, size_t len)
{
    const struct row *const row = arg;

    shared_read_part(row->buf + at, from, len, row->len);
}

/* All of it, to `buf`. Whether lines are near is measured on one that is all there, and how long a pair takes on one
 * that is read while it is written. */
static bool read_parts(struct shm_peer *peer, char *buf, const struct written *written)
{
    const uint32_t len = written->len;
    uint64_t start = pace_start(&peer->pace, len);

    if (unlikely(start)) {
        if (!part_comes(written, SHM_PARTS - 1))
            return false;
        start = clock_ns();
        shared_read(buf, written->cell, len);
        pace_end(&peer->pace, len, start);
        want_parts(peer, parts_pay(peer));
        return true;
    }
    if (len <= SHM_CELL_SIZE || !pace_takes_parts(&peer->pace))
        return read_from(written, 0, read_row, &(struct row){ buf, len });
    start = clock_ns();
    if (!read_from(written, 0, read_row, &(struct row){ buf, len }))
        return false;
    peer->pace.parts_ns = (uint32_t)(clock_ns() - start);
    return true;
}

/* The sink and a record. */
struct reading {
    const struct net_sink *sink;
    int proc;
    struct net_head head;
};

static void read_by_sink(void *arg, size_t at, const void *from, size_t len)
{
    const struct reading *const r = arg;

    r->sink->read(r->sink->arg, r->proc, r->head, at, from, len);
}

/* The payload of a cell that is told in parts: read to where it belongs while it is written, if the sink knows where;
 * else left where it is. False: it is not all there. */
static bool payload_of_parts(const struct shm *shm, struct shm_peer *peer, struct net_head head,
                             const struct written *written, const void **payload)
{
    const struct net_sink *sink = &shm->net.sink;
    void *const place = sink->land ? sink->land(sink->arg, peer->ep.proc, head, written->len) : NULL;

    *payload = place;
    if (place)
        return read_parts(peer, place, written);
    if (sink->read &&
        sink->read(sink->arg, peer->ep.proc, head, 0, written->cell, shm_part_size(written->len)))
        return read_from(written, 1, read_by_sink, &(struct reading){ sink, peer->ep.proc, head });
    want_parts(peer, false); /* nobody waits for it who would read it so */
    *payload = written->cell;
    return has_part(written, SHM_PARTS - 1);
}

static NOINLINE bool take_cell(struct shm *shm, struct shm_peer *peer, struct shm_slot *slot)
{
    const struct written written = look_at(shm, peer, slot);
    const void *payload = written.cell;

    if (written.in.stamp && !payload_of_parts(shm, peer, slot->head, &written, &payload))
        return false;
    if (shm->net.sink.arrive(shm->net.sink.arg, peer->ep.proc, slot->head, payload, written.len))
        return false;
    leave_cell(peer, &written);
    return true;
}

/* The payload of a record of several slots; how many there are, with those left out. */
static uint32_t gather(struct shm_peer *peer, struct shm_slot *slot, unsigned char *payload)
{
    const uint32_t word = slot->len;
    uint32_t left = (word & SHM_LEN) - SHM_INLINE, n = 1 + with_gap(word);
    unsigned char *rest = payload + SHM_INLINE;

    memcpy(payload, slot->payload, SHM_INLINE);
    for (; left > SHM_MORE; left -= SHM_MORE, rest += SHM_MORE, n++) {
        slot = shm_next(peer->in, slot, 1);
        memcpy(rest, (const char *)slot + sizeof slot->seq, SHM_MORE);
    }
    slot = shm_next(peer->in, slot, 1);
    copy_up_to_64(rest, (const char *)slot + sizeof slot->seq, left);
    note_left(peer, (peer->out_pos - atomic_load_explicit(&slot->seq, memory_order_relaxed)) & ~SHM_VALID);
    return word & SHM_TO_END ? n + shm_to_end(peer->in, slot) - 1 : n;
}

static NOINLINE bool take_spread(struct shm *shm, struct shm_peer *peer, struct shm_slot *slot)
{
    unsigned char payload[SHM_SHORT_MAX];
    const uint32_t n = gather(peer, slot, payload);

    if (shm->net.sink.arrive(shm->net.sink.arg, peer->ep.proc, slot->head, payload, slot->len & SHM_LEN))
        return false;
    advance(peer, n);
    return true;
}

static ALWAYS_INLINE bool has_come(const struct shm_slot *slot, uint32_t pos)
{
    /* acquire pairs with publish in send.c */
    return atomic_load_explicit(&slot->seq, memory_order_acquire) == ((pos + 1) | SHM_VALID);
}

bool shm_is_silent(const struct net_ep *ep)
{
    const struct shm_peer *peer = (const struct shm_peer *)(const void *)ep;

    return !has_come(__atomic_load_n(&peer->in_slot, __ATOMIC_RELAXED),
                     __atomic_load_n(&peer->in_pos, __ATOMIC_RELAXED));
}

/* Take the next record of a ring, if there is one and the sink has room for it. */
static ALWAYS_INLINE bool take(struct shm *shm, struct shm_peer *peer)
{
    struct shm_slot *slot = peer->in_slot;
    uint32_t len;

    if (!has_come(slot, peer->in_pos))
        return false;
    len = slot->len & ~SHM_GAP;
    if (unlikely(len > SHM_INLINE))
        return len & SHM_IN_CELL ? take_cell(shm, peer, slot) : take_spread(shm, peer, slot);
    if (unlikely(shm->net.sink.arrive(shm->net.sink.arg, peer->ep.proc, slot->head, slot->payload, len)))
        return false;
    advance(peer, with_gap(slot->len));
    return true;
}

int shm_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct shm_peer *peer = ep;
    struct shm *shm = (struct shm *)(void *)peer->ep.net;
    int taken = 0;

    while (take(shm, peer)) {
        taken++;
        if (taken == BATCH || (done && atomic_load_explicit(done, memory_order_relaxed)))
            break;
        prefetch_read(shm_next(peer->in, peer->in_slot, SHM_AHEAD)); /* there was one: perhaps a row of them */
    }
    return taken;
}

/* The last of shm_take, when the sender is to be told. */
static NOINLINE int took_and_told(struct shm_peer *peer, int len)
{
    tell_sender(peer);
    return len;
}

/* A cell that is told in parts, or might have been. False: it is left to the sink. */
static NOINLINE bool read_longer(struct shm_peer *peer, char *buf, const struct written *written)
{
    if (written->in.stamp)
        return read_parts(peer, buf, written);
    want_parts(peer, parts_pay(peer));
    if (written->len > SHM_TAKE_MAX)
        return false;
    read_measured(peer, buf, written->cell, written->len);
    return true;
}

/* The rest of shm_take, for a record that is more than one slot. Long ones are left to the sink, unless they come in
 * parts; where lines are near they will. */
static NOINLINE int take_longer(struct shm_peer *peer, struct shm_slot *slot, void *buf, size_t max)
{
    struct shm *shm = (struct shm *)(void *)peer->ep.net;
    const uint32_t len = slot->len & SHM_LEN;
    struct written written;

    if (len > max)
        return NET_NOT_THIS;
    if (!(slot->len & SHM_IN_CELL)) {
        advance(peer, gather(peer, slot, buf));
        return (int)len;
    }
    written = look_at(shm, peer, slot);
    if (len < PACE_MIN)
        shared_read(buf, written.cell, len);
    else if (len < SHM_PARTS_MIN)
        read_measured(peer, buf, written.cell, len);
    else if (!read_longer(peer, buf, &written))
        return NET_NOT_THIS;
    leave_cell(peer, &written);
    return (int)len;
}

/* The same for one of one slot; `n`: with the one that is left out. */
static ALWAYS_INLINE int take_slot(struct shm_peer *peer, struct shm_slot *slot, void *buf, uint32_t len, uint32_t n)
{
    const uint32_t pos = peer->in_pos;

    copy_short(buf, slot->payload, len);
    if (unlikely(go_on(peer, slot, pos, n)))
        return took_and_told(peer, (int)len);
    return (int)len;
}

int shm_take(struct net_ep *ep, struct net_head head, void *buf, size_t max)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm_slot *slot = peer->in_slot;
    uint32_t len;

    if (!has_come(slot, peer->in_pos))
        return NET_NOT_YET;
    len = slot->len;
    if (unlikely(slot->head.word[0] != head.word[0] || slot->head.word[1] != head.word[1]))
        return NET_NOT_THIS;
    if (len <= SHM_INLINE && likely(len <= max))
        return take_slot(peer, slot, buf, len, 1);
    len -= SHM_GAP;
    if (len <= SHM_INLINE && likely(len <= max))
        return take_slot(peer, slot, buf, len, 2);
    return take_longer(peer, slot, buf, max);
}

int shm_take_by(struct net_ep *ep, struct net_head head, net_read_fn *read, void *arg, size_t max)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm_slot *slot = peer->in_slot;
    struct written written;

    if (!has_come(slot, peer->in_pos))
        return NET_NOT_YET;
    if (slot->head.word[0] != head.word[0] || slot->head.word[1] != head.word[1] || !(slot->len & SHM_IN_CELL))
        return NET_NOT_THIS;
    written = look_at((struct shm *)(void *)peer->ep.net, peer, slot);
    if (written.len > max)
        return NET_NOT_THIS;
    if (!written.in.stamp) {
        if (written.len >= SHM_PARTS_MIN)
            want_parts(peer, parts_pay(peer));
        read(arg, 0, written.cell, written.len);
    } else if (!read_from(&written, 0, read, arg)) {
        return NET_NOT_THIS;
    }
    leave_cell(peer, &written);
    return (int)written.len;
}

static void activate(struct shm *shm, int proc)
{
    struct shm_peer *peer = shm_peer(shm, proc);

    if (!peer) { /* no memory now: leave the bell ringing */
        atomic_fetch_or_explicit(&shm->own->bell[proc / 64], UINT64_C(1) << proc % 64, memory_order_relaxed);
        atomic_fetch_or_explicit(&shm->own->bells, UINT64_C(1) << proc / 64, memory_order_release);
        return;
    }
    if (peer->is_active)
        return;
    peer->is_active = true;
    peer->idle_sweeps = 0;
    peer->sweep_pos = peer->in_pos;
    shm->active[shm->active_count++] = peer;
    atomic_store_explicit(&peer->in->hot, 1, memory_order_relaxed);
}

static NOINLINE void answer_bells(struct shm *shm)
{
    /* sequentially consistent, pairs with ring_bell: first the groups, then their words, then the rings */
    uint64_t groups = atomic_exchange_explicit(&shm->own->bells, 0, memory_order_seq_cst);

    for (; groups; groups &= groups - 1) {
        const int group = __builtin_ctzll(groups);
        uint64_t senders = atomic_exchange_explicit(&shm->own->bell[group], 0, memory_order_seq_cst);
        for (; senders; senders &= senders - 1)
            activate(shm, group * 64 + __builtin_ctzll(senders));
    }
}

/* Make rings cold that stayed silent. A sender that still saw the ring hot may have stored a record meanwhile:
 * after the barrier it is visible here, and such a ring stays active; so does one whose record the sink has refused. */
static NOINLINE void sweep(struct shm *shm)
{
    int kept = 0;

    for (int i = 0; i < shm->active_count; i++) {
        struct shm_peer *peer = shm->active[i];
        peer->idle_sweeps = peer->in_pos == peer->sweep_pos ? peer->idle_sweeps + 1 : 0;
        peer->sweep_pos = peer->in_pos;
        if (peer->idle_sweeps >= COLD_AFTER)
            atomic_store_explicit(&peer->in->hot, 0, memory_order_relaxed);
    }
    const bool is_safe = wake_barrier();
    for (int i = 0; i < shm->active_count; i++) {
        struct shm_peer *peer = shm->active[i];
        peer->is_active = peer->idle_sweeps < COLD_AFTER || !is_safe ||
                          has_come(peer->in_slot, peer->in_pos);
        if (peer->is_active) {
            atomic_store_explicit(&peer->in->hot, 1, memory_order_relaxed);
            shm->active[kept++] = peer;
        }
    }
    shm->active_count = kept;
}

int shm_poll(struct net *net)
{
    struct shm *shm = (struct shm *)(void *)net;
    int taken = 0;

    if (unlikely(atomic_load_explicit(&shm->own->bells, memory_order_relaxed)))
        answer_bells(shm);
    for (int i = 0; i < shm->active_count; i++)
        taken += shm_poll_ep(&shm->active[i]->ep, NULL);
    if (unlikely(shm->active_count > ACTIVE_ENOUGH && ++shm->polls >= SWEEP_POLLS)) {
        shm->polls = 0;
        sweep(shm);
    }
    return taken;
}
