/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. A cell, or a pair, made ready while an answer is waited for. Where lines are far, most of the time to
 * write a cell is spent on taking its lines from the cache of the receiver, who has read them; a processor that waits
 * can do that before the next message. Not with the cell just sent, which is being read: with the one before, in turns.
 * Knows: base, sys (far or near), net. */
#include "base/copy.h"
#include "net/shm/int_shm.h"

enum {
    STEP = 1024,       /* bytes in one look for the answer, which may come any time … */
    STEP_PAIR = 2048,  /* … and of a pair, for which there is just time enough */
    AHEAD_PAIR = 16384, /* what is forgotten before it is fetched: slow to write if the answer comes in between */
};

/* The spare one, or the first cell of it: the other one is free then. */
uint32_t shm_take_spare(struct shm *shm, bool is_pair)
{
    struct shm_spare *const spare = &shm->spare;

    spare->peer = NULL;
    if (spare->is_pair && !is_pair)
        shm->cells_free |= UINT32_C(2) << spare->index;
    return spare->index;
}

void shm_drop_spare(struct shm *shm)
{
    shm->cells_free |= UINT32_C(1) << shm_take_spare(shm, false);
}

/* Nobody else is asked whether a cell is free, since that takes as long as a short message. */
static bool find_cell(struct shm *shm, const struct shm_peer *peer, uint32_t *index)
{
    *index = peer->prior_cell;
    if (*index < SHM_CELLS && shm_is_read_by(shm, peer, *index))
        return true;
    if (shm->cells_free)
        *index = shm_take_free(shm);
    return *index < SHM_CELLS && !shm->cells[*index].peer;
}

static bool find_pair(struct shm *shm, const struct shm_peer *peer, uint32_t *index)
{
    *index = peer->prior_cell;
    if (shm_is_pair_read_by(shm, peer, *index))
        return true;
    if (!shm_free_pairs(shm))
        return false;
    *index = shm_take_pair(shm);
    return true;
}

/* As long as the last message. */
static bool wants_pair(const struct shm_spare *spare)
{
    return spare->wanted > SHM_CELL_SIZE;
}

static void begin(struct shm *shm, struct shm_peer *peer)
{
    struct shm_spare *const spare = &shm->spare;

    if (spare->peer)
        shm_drop_spare(shm);
    spare->is_pair = wants_pair(spare);
    if (!(spare->is_pair ? find_pair : find_cell)(shm, peer, &spare->index)) {
        spare->wanted_by = NULL;
        return;
    }
    shm->cells[spare->index].peer = NULL;
    if (spare->is_pair)
        shm->cells[spare->index + 1].peer = NULL;
    spare->peer = peer;
    spare->forgotten = spare->owned = 0;
}

/* Lines are forgotten, up to `ahead` bytes of them, then fetched: in between they have time to go. */
static ALWAYS_INLINE void go_on(struct shm *shm, uint32_t step, uint32_t ahead)
{
    struct shm_spare *const spare = &shm->spare;
    char *const cell = shm_cell(shm->area, shm->proc, spare->index);

    if (spare->forgotten < spare->wanted && spare->forgotten - spare->owned < ahead) {
        if (!shared_forget(cell + spare->forgotten, step))
            spare->wanted_by = NULL;
        spare->forgotten += step;
    } else if (spare->owned < spare->wanted) {
        shared_own(cell + spare->owned, step, spare->owned % ahead == 0);
        spare->owned += step;
    } else {
        spare->wanted_by = NULL;
    }
}

void shm_use_wait(struct net_ep *ep)
{
    struct shm *shm = (struct shm *)(void *)ep->net;
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    if (shm->spare.wanted_by != peer)
        return;
    if (shm->spare.peer != peer || shm->spare.is_pair != wants_pair(&shm->spare))
        begin(shm, peer);
    else if (shm->spare.is_pair)
        go_on(shm, STEP_PAIR, AHEAD_PAIR);
    else
        go_on(shm, STEP, SHM_CELL_SIZE);
}
