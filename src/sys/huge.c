/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Making huge pages of memory in use. A table counts the bytes that were copied in each region; what making
 * one costs, 0.25 to 1 ms, is less than what has been lost by then, and where copies by the system are dear, about
 * twice that: what has been used thrice is mostly used often. */
#define _GNU_SOURCE 1
#include "sys/huge.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/setting.h"
#include "sys/peek.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum {
    REGION = 2 << 20,
    PAGE = 4096,
    MISSING_MAX = 16,   /* pages of a region that may not be there: 64 KB more than before */
    SLOTS = 1024,       /* a power of two; two regions that share one begin anew each time */
    COUNTS = 24,        /* bits of an entry; above them is the number of the region */
    TRIED = 1 << 23,    /* it was tried in this region */
    ENOUGH = 64 << 10,  /* KB copied in a region before it is tried … */
    ENOUGH_DEAR = 6 << 10, /* … and where copies by the system are dear: three of them */
    CHEAP_MIN = 262144, /* bytes of a copy that counts where they are not */
    AGAIN = (8 << 20) - 1024, /* the same after it was tried: the memory may be another by then */
    FAILURES = 8,       /* in a row: the system does not do it */
};

static struct setting huge_pages = {
    .name = "HUGE_PAGES",
    .help = "make huge pages of the program's memory where long copies between processes use it again and again",
    .topic = "copies",
    .kind = SETTING_BOOL,
    .value = 1,
};
SETTING_LISTED(huge_pages);

static _Atomic uint64_t seen[SLOTS];
static atomic_int failures;

/* A page that is not there would have to be made: few of them, as between one piece of memory of the C library and the
 * next. */
static bool is_nearly_there(void *region)
{
    unsigned char pages[REGION / PAGE];
    int missing = 0;

    if (mincore(region, REGION, pages))
        return false;
    for (size_t i = 0; i < sizeof pages; i++)
        missing += !(pages[i] & 1);
    return missing <= MISSING_MAX;
}

static void try_region(uintptr_t number)
{
    void *region = (void *)(number * REGION);

    if (atomic_load_explicit(&failures, memory_order_relaxed) >= FAILURES || setting_read(&huge_pages) ||
        !huge_pages.value || !is_nearly_there(region))
        return;
    if (madvise(region, REGION, MADV_COLLAPSE))
        atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&failures, 0, memory_order_relaxed);
}

static void count(uintptr_t number, size_t bytes)
{
    _Atomic uint64_t *slot = &seen[number & (SLOTS - 1)];
    const uint64_t entry = atomic_load_explicit(slot, memory_order_relaxed);
    const bool is_known = entry >> COUNTS == number;
    uint64_t tried = is_known ? entry & TRIED : 0, kb = (is_known ? entry & (TRIED - 1) : 0) + bytes / 1024;
    const bool is_due = kb >= (tried ? AGAIN : peek_is_dear() ? ENOUGH_DEAR : ENOUGH);

    if (is_due) {
        tried = TRIED;
        kb = 0;
    }
    atomic_store_explicit(slot, (uint64_t)number << COUNTS | tried | kb, memory_order_relaxed);
    if (is_due)
        try_region(number);
}

void huge_used(const void *at, size_t len)
{
    uintptr_t from = (uintptr_t)at;
    const uintptr_t end = from + len;

    if (len < CHEAP_MIN && !peek_is_dear())
        return;
    while (from < end) {
        const uintptr_t next = (from / REGION + 1) * REGION;

        count(from / REGION, (next < end ? next : end) - from);
        from = next;
    }
}
