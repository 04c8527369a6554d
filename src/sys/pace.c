/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Near or far, from the times of reads. Most slow reads were disturbed, so it takes some in a row to believe
 * them, and one that was fast to believe the contrary. */
#include "sys/pace.h"

enum { SURE = 3 };

static void set_far(struct pace *pace, bool is_far)
{
    if (is_far == pace->is_far)
        return;
    pace->is_far = is_far;
    atomic_store_explicit(pace->told, is_far, memory_order_relaxed);
}

static void learn(struct pace *pace, bool is_slow)
{
    if (!is_slow) {
        pace->slow = 0;
        set_far(pace, false);
    } else if (pace->slow < SURE && ++pace->slow == SURE) {
        set_far(pace, true);
    } else if (pace->slow < SURE) {
        pace->reads = PACE_EVERY - 1; /* the next one, too */
    }
}

void pace_end(struct pace *pace, size_t len, uint64_t start)
{
    if (unlikely(start))
        learn(pace, pace_is_slow(len, clock_ns() - start));
}
