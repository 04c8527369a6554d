/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Contexts of communicators over three and more jobs. Jobs know nothing of each other's contexts, but a
 * context needs to be unique in each member only. So processes of several jobs that come together agree on a *circle*:
 * a row of contexts of which none of them has one (the agreement: from_group.c). The first one is that of their
 * communicator; of the others each member has a share, out of which it takes the contexts of what is made of that
 * later, as a process does of its own range within a job. Nothing of this is known outside of these processes.
 *
 * A circle is over, here, when the last communicator with a context of it has gone. Peers may still send in it, by
 * mistake; so it stays busy until CIRCLES_RESTING others have gone after it. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "comm/int_comm.h"
#include "p2p/p2p.h"

enum { CIRCLES = COMM_CIRCLE_WORDS * 64, CIRCLE_BITS = 18, CIRCLES_RESTING = CIRCLES / 2 };

/* Contexts of bonds are below (two_jobs.c). */
#define FIRST_CIRCLE (P2P_CTX_ABROAD + (UINT32_C(1) << 29))

struct circle {
    uint32_t users;     /* communicators, and who is about to make one; 0: it is over */
    uint32_t next, end; /* numbers that this process has not handed out */
};

static struct {
    pthread_mutex_t lock;
    struct circle all[CIRCLES];
    uint64_t busy[COMM_CIRCLE_WORDS]; /* a bit for each that has users, or rests */
    uint16_t resting[CIRCLES_RESTING];
    uint32_t ended;                   /* so many have come to rest */
} circles = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_in_circle(uint32_t ctx)
{
    return ctx >= FIRST_CIRCLE;
}

static int circle_of(uint32_t ctx)
{
    return (int)((ctx - FIRST_CIRCLE) / 2 >> CIRCLE_BITS);
}

uint32_t comm_circle_first(int circle)
{
    return FIRST_CIRCLE + 2 * ((uint32_t)circle << CIRCLE_BITS);
}

void comm_circles_busy(uint64_t busy[COMM_CIRCLE_WORDS])
{
    pthread_mutex_lock(&circles.lock);
    for (int i = 0; i < COMM_CIRCLE_WORDS; i++)
        busy[i] |= circles.busy[i];
    pthread_mutex_unlock(&circles.lock);
}

int comm_circle_choose(const uint64_t busy[COMM_CIRCLE_WORDS], uint32_t start)
{
    for (uint32_t i = 0; i < CIRCLES; i++) {
        const uint32_t circle = (start + i) % CIRCLES;
        if (!(busy[circle / 64] >> circle % 64 & 1))
            return (int)circle;
    }
    return -1;
}

bool comm_circle_enter(int circle, int rank, int size)
{
    const uint32_t share = ((1u << CIRCLE_BITS) - 1) / (uint32_t)size;
    const uint64_t bit = UINT64_C(1) << circle % 64;
    bool is_free;

    pthread_mutex_lock(&circles.lock);
    is_free = !(circles.busy[circle / 64] & bit);
    if (is_free) {
        circles.busy[circle / 64] |= bit;
        circles.all[circle] = (struct circle){ 1, 1 + (uint32_t)rank * share, 1 + (uint32_t)(rank + 1) * share };
    }
    pthread_mutex_unlock(&circles.lock);
    return is_free;
}

/* With the lock. */
static void rest(int circle)
{
    uint16_t *place = &circles.resting[circles.ended++ % CIRCLES_RESTING];

    if (circles.ended > CIRCLES_RESTING)
        circles.busy[*place / 64] &= ~(UINT64_C(1) << *place % 64);
    *place = (uint16_t)circle;
}

void comm_circle_count(uint32_t ctx, int change)
{
    struct circle *circle;

    if (!is_in_circle(ctx))
        return;
    pthread_mutex_lock(&circles.lock);
    circle = &circles.all[circle_of(ctx)];
    circle->users += (uint32_t)change;
    if (!circle->users)
        rest(circle_of(ctx));
    pthread_mutex_unlock(&circles.lock);
}

bool comm_circle_take(uint32_t old, uint32_t *ctx, int *rc)
{
    struct circle *circle;

    if (!is_in_circle(old))
        return false;
    *rc = *ctx = 0;
    pthread_mutex_lock(&circles.lock);
    circle = &circles.all[circle_of(old)];
    if (circle->next < circle->end)
        *ctx = comm_circle_first(circle_of(old)) + 2 * circle->next++;
    pthread_mutex_unlock(&circles.lock);
    if (!*ctx)
        *rc = err(MPI_ERR_OTHER, "this process has made so many communicators over several jobs that the contexts "
                  "which it has for that are used up");
    return true;
}

void comm_circle_return(uint32_t ctx)
{
    struct circle *circle;

    if (!is_in_circle(ctx))
        return;
    pthread_mutex_lock(&circles.lock);
    circle = &circles.all[circle_of(ctx)];
    if (comm_circle_first(circle_of(ctx)) + 2 * (circle->next - 1) == ctx)
        circle->next--;
    pthread_mutex_unlock(&circles.lock);
}
