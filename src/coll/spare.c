/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. See int_spare.h. A few places, each for one piece of memory; who takes or leaves one exchanges the
 * pointer there, so that nobody ever waits. */
#include "coll/int_spare.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/mem.h"

enum {
    PLACES = 8,
    STEP = 1 << 15,         /* bytes of a piece that stays are a multiple of it … */
    KEPT_MAX = 1 << 23,     /* … up to that, */
    KEPT_ALL = 1 << 24,     /* and these all that do */
};

/* Before what the user gets, which is as aligned as other memory. */
struct piece {
    size_t size;
} ALIGNED(16);

static struct piece *_Atomic places[PLACES];
static _Atomic size_t kept;

/* With the address sanitizer nothing stays, so that it sees who touches what has been freed. */
static bool is_kept_size(size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
    (void)size;
    return false;
#else
    return size >= STEP && size <= KEPT_MAX;
#endif
}

/* What lies in a place, if it has that size, and not more than twice as much. */
static struct piece *take(int place, size_t size)
{
    struct piece *piece = atomic_exchange_explicit(&places[place], NULL, memory_order_acquire); /* pairs with leave */

    if (!piece)
        return NULL;
    atomic_fetch_sub_explicit(&kept, piece->size, memory_order_relaxed);
    if (piece->size < size || piece->size / 2 > size) {
        spare_free(piece + 1);
        return NULL;
    }
    return piece;
}

static bool leave(int place, struct piece *piece)
{
    struct piece *empty = NULL;

    return atomic_compare_exchange_strong_explicit(&places[place], &empty, piece, memory_order_release,
                                                   memory_order_relaxed);
}

void *spare_alloc(size_t size)
{
    struct piece *piece = NULL;
    size_t whole = size + sizeof *piece;

    if (whole < size)
        return NULL;
    if (is_kept_size(whole)) {
        whole = (whole + STEP - 1) / STEP * STEP;
        for (int place = 0; place < PLACES && !piece; place++)
            piece = take(place, whole);
    }
    if (!piece) {
        piece = mem_alloc(whole);
        if (piece)
            piece->size = whole;
    }
    return piece ? piece + 1 : NULL;
}

void spare_free(void *p)
{
    struct piece *const piece = p ? (struct piece *)p - 1 : NULL;

    if (!piece)
        return;
    if (is_kept_size(piece->size) &&
        atomic_load_explicit(&kept, memory_order_relaxed) + piece->size <= KEPT_ALL) {
        atomic_fetch_add_explicit(&kept, piece->size, memory_order_relaxed);
        for (int place = 0; place < PLACES; place++) {
            if (leave(place, piece))
                return;
        }
        atomic_fetch_sub_explicit(&kept, piece->size, memory_order_relaxed);
    }
    mem_free(piece);
}

void spare_drop(void)
{
    for (int place = 0; place < PLACES; place++) {
        struct piece *piece = atomic_exchange_explicit(&places[place], NULL, memory_order_acquire);

        if (piece)
            atomic_fetch_sub_explicit(&kept, piece->size, memory_order_relaxed);
        mem_free(piece);
    }
}
