/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. What its files share: the open transport and one contacted process. */
#ifndef NET_SHM_INT_SHM_H
#define NET_SHM_INT_SHM_H

#include "net/net.h"
#include "net/shm/layout.h"
#include "sys/pace.h"

struct shm_peer {
    struct net_ep ep;               /* first */
    /* outgoing ring: this process is its only writer */
    struct shm_page *out;
    struct shm_slot *out_slot;      /* to fill next … */
    struct shm_slot *out_end;       /* … and where the ring begins anew */
    uint32_t out_pos;               /* slots filled so far; ep.room: free ones as far as is known, but two */
    uint32_t out_tail;              /* slots the receiver has told us it consumed */
    uint32_t collected;             /* out_pos when cells were last collected for its sake */
    uint32_t in_pos_at_send;        /* in_pos when the last record went out */
    const _Atomic uint32_t *alert;  /* the peer's sleep word, or, if wakers use a fence, one that is never 0 */
    _Atomic uint32_t *sleep;        /* the peer's sleep word */
    struct shm_proc *proc;          /* what is the peer's own */
    /* incoming ring */
    struct shm_page *in;
    struct shm_slot *in_slot;       /* to read next, and … */
    uint32_t in_pos;                /* … slots read so far; see shm_set_in */
    uint32_t in_told;               /* position told to the sender */
    bool is_active;                 /* in the list of rings that poll reads */
    uint32_t idle_sweeps;           /* sweeps that found it silent; used to make it cold */
    uint32_t sweep_pos;             /* in_pos at the last sweep */
    uint8_t copy;                   /* enum shm_copy */
    uint8_t last_cell;              /* own cell that went to this peer last … */
    uint8_t prior_cell;             /* … and the one before that; SHM_CELLS: none */
    struct pace pace;               /* of reading its cells */
} ALIGNED(CACHE_LINE);

enum {
    SHM_LAST = 8,       /* cells that are for peers … */
    SHM_LAST_EACH = 2,  /* … to whom fewer than that are on their way: whoever does not read leaves some to others */
};

/* Slots, after which a sender asks about its cells. */
#define SHM_COLLECT_EVERY (UINT32_C(1) << 30)

enum shm_copy { SHM_COPY_UNTRIED, SHM_COPY_WORKS, SHM_COPY_REFUSED };

/* An own cell that is not free: on loan to the caller, or on its way. */
struct shm_cell {
    struct shm_peer *peer;          /* whom it was sent to; NULL: on loan */
    uint32_t end;                   /* read when the peer's tail has come this far */
};

/* An own cell or pair, on loan, whose lines are made ready for the next message to a peer (spare.c). */
struct shm_spare {
    struct shm_peer *wanted_by;     /* who may use its waits for that; NULL: nobody */
    uint32_t wanted;                /* bytes: as long as its last message */
    struct shm_peer *peer;          /* for whom there is one; NULL: there is none */
    uint32_t index;
    bool is_pair;
    uint32_t forgotten, owned;      /* bytes that have come so far */
};

struct shm {
    struct net net;                 /* first */
    struct job_head *segment;
    struct shm_area area;
    int proc, lane;
    struct shm_proc *own;
    struct shm_peer **peers;        /* by process; NULL: no contact yet */
    struct shm_peer **active;       /* rings that poll reads */
    int active_count;
    uint32_t polls;                 /* since the last sweep */
    uint32_t cells_free;            /* bit set: own cell is free */
    uint32_t cells_touched;         /* cells from this one on have never been written: their memory is not there yet */
    struct shm_cell cells[SHM_CELLS];
    struct shm_spare spare;
    uint32_t next_record;           /* where the search for a free one starts */
    uint64_t stamp;                 /* of the last message that went in parts */
    uint64_t probe;                 /* what others read to find out whether they may */
};

/* The state for a process, made at first contact; NULL: no memory (the caller makes the error). */
struct shm_peer *shm_peer(struct shm *shm, int proc);

/* in_slot and in_pos are written with the lock, but atomically, since shm_is_silent reads them without. Who has the
 * lock reads them as plain words: an atomic type would cost the short path some instructions. */
static ALWAYS_INLINE void shm_set_in(struct shm_peer *peer, struct shm_slot *slot, uint32_t pos)
{
    __atomic_store_n(&peer->in_slot, slot, __ATOMIC_RELAXED);
    __atomic_store_n(&peer->in_pos, pos, __ATOMIC_RELAXED);
}

/* send.c */
int shm_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len) HOT;
int shm_send_in_room(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len) HOT;
int shm_alloc(struct net_ep *ep, struct net_buffer *buffer);
int shm_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len);
int shm_send_parts(struct net_ep *ep, struct net_head head, struct net_source source, uint32_t len, bool is_asked_for);
void shm_release(struct net_ep *ep, const struct net_buffer *buffer);
void shm_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out);
struct pace *shm_pace(struct net_ep *ep);
void shm_wake(struct net_ep *ep);

/* Has the receiver read it, when its tail has come to `tail`? */
static ALWAYS_INLINE bool shm_is_read(const struct shm_cell *cell, uint32_t tail)
{
    return (int32_t)(tail - cell->end) >= 0;
}

/* Was this cell the peer's, and has it told that it has read it? */
static ALWAYS_INLINE bool shm_is_read_by(const struct shm *shm, const struct shm_peer *peer, uint32_t index)
{
    return shm->cells[index].peer == peer && shm_is_read(&shm->cells[index], peer->out_tail);
}

/* The same of two cells that are one. */
static inline bool shm_is_pair_read_by(const struct shm *shm, const struct shm_peer *peer, uint32_t index)
{
    return index < SHM_CELLS && index % 2 == 0 && shm_is_read_by(shm, peer, index) &&
           shm_is_read_by(shm, peer, index + 1);
}

/* One of the free cells, and it is no longer one; there is one. */
static ALWAYS_INLINE uint32_t shm_take_free(struct shm *shm)
{
    const uint32_t index = (uint32_t)__builtin_ctz(shm->cells_free);

    shm->cells_free &= shm->cells_free - 1;
    if (index >= shm->cells_touched)
        shm->cells_touched = index + 1;
    return index;
}

/* Pairs of free cells, each by its first one. */
static inline uint32_t shm_free_pairs(const struct shm *shm)
{
    return shm->cells_free & shm->cells_free >> 1 & UINT32_C(0x55555555);
}

/* One of them, and its cells are no longer free; there is one. Returns its first cell. */
static inline uint32_t shm_take_pair(struct shm *shm)
{
    const uint32_t index = (uint32_t)__builtin_ctz(shm_free_pairs(shm));

    shm->cells_free &= ~(UINT32_C(3) << index);
    if (index + 2 > shm->cells_touched)
        shm->cells_touched = index + 2;
    return index;
}

/* spare.c */
void shm_use_wait(struct net_ep *ep);
uint32_t shm_take_spare(struct shm *shm, bool is_pair);
void shm_drop_spare(struct shm *shm);

/* poll.c */
int shm_poll(struct net *net) HOT;
int shm_poll_ep(void *ep, const _Atomic uint32_t *done) HOT;
bool shm_is_silent(const struct net_ep *ep) HOT;
int shm_take(struct net_ep *ep, struct net_head head, void *buf, size_t max) HOT;
int shm_take_by(struct net_ep *ep, struct net_head head, net_read_fn *read, void *arg, size_t max);
bool shm_wants_parts(const struct net_ep *ep);

/* copy.c */
bool shm_can_copy(struct net_ep *ep);
int shm_copy_from(struct net_ep *ep, void *local, uint64_t remote, size_t len);
int shm_copy_to(struct net_ep *ep, const void *local, uint64_t remote, size_t len);
int shm_copy_list(struct net_ep *ep, struct peek_list *list, bool is_to);
void shm_refuse_copy(struct net_ep *ep);
struct net_record *shm_record_open(struct net_ep *ep, uint32_t *index);
struct net_record *shm_record_find(struct net_ep *ep, uint32_t index);
void shm_record_close(struct net_ep *ep, struct net_record *record);

#endif
