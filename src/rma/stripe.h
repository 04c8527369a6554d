/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Stripes: the locks under which elements of a target's memory are combined. There are WIN_STRIPES of them
 * in the target's control part; an element belongs to the stripe of the address of its first byte there. Who holds one
 * holds no other and waits for nothing. */
#ifndef RMA_STRIPE_H
#define RMA_STRIPE_H

#include "rma/window.h"

enum { STRIPE_BYTES = 4096 }; /* in a row that belong to one stripe */

struct stripe {
    const struct win *win;
    _Atomic uint32_t *word;
};

/* Of an address at a rank. */
static inline struct stripe stripe_of(const struct win *win, int rank, uint64_t address)
{
    return (struct stripe){ win, &win_member(win, rank)->stripe[address / STRIPE_BYTES % WIN_STRIPES] };
}

/* Blocks until it is ours; progresses. No lock of a lane is held. `call`: in which call, for reports. */
void stripe_lock(struct stripe stripe, const char *call);
/* False: somebody has it, and this process is woken when it is free. Blocks for nothing. */
bool stripe_try(struct stripe stripe);
void stripe_unlock(struct stripe stripe);

#endif
