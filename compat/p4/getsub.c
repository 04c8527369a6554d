/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Two monitors ready-made: a shared counter that deals out numbers, and a barrier. */
#include "p4/locks.h"
#include "sys/wake.h"

int p4_getsub_init(p4_getsub_monitor_t *gs)
{
    gs->sub = 0;
    return p4_moninit(&gs->m, 1);
}

void p4_getsub(p4_getsub_monitor_t *gs, int *s, int max, int nprocs)
{
    p4_getsubs(gs, s, max, nprocs, 1);
}

/* Whoever finds the numbers used up sleeps; the last of `nprocs` starts anew and lets one go, who lets the next go.
 * Nobody else is in the monitor until all have left. */
void p4_getsubs(p4_getsub_monitor_t *gs, int *s, int max, int nprocs, int stride)
{
    p4_menter(&gs->m);
    if (gs->sub <= max) {
        *s = (int)gs->sub;
        gs->sub += stride;
        p4_mexit(&gs->m);
        return;
    }
    *s = -1;
    if (gs->m.first.count < nprocs - 1)
        p4_mdelay(&gs->m, 0);
    else
        gs->sub = 0;
    p4_mcontinue(&gs->m, 0);
}

int p4_barrier_init(p4_barrier_monitor_t *b)
{
    b->arrived = 0;
    b->round = 0;
    return 0;
}

/* The last to come begins the next round and wakes all at once; nobody can come again before that. */
void p4_barrier(p4_barrier_monitor_t *b, int nprocs)
{
    _Atomic uint32_t *arrived = (_Atomic uint32_t *)(void *)&b->arrived;
    _Atomic uint32_t *round = (_Atomic uint32_t *)(void *)&b->round;
    uint32_t now;

    if (nprocs <= 1)
        return;
    now = atomic_load_explicit(round, memory_order_relaxed);
    /* Acquire and release: the last one has seen, and passes on by `round`, what all stored before. */
    if (atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel) + 1 < (uint32_t)nprocs) {
        locks_wait_change(round, now);
        return;
    }
    atomic_store_explicit(arrived, 0, memory_order_relaxed);
    atomic_store_explicit(round, now + 1, memory_order_release);
    wake_all(round);
}
