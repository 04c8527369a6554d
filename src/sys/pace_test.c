/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of near and far: reads of given times are played. */
#include "sys/pace.h"

#include "base/check.h"

enum { SLOW_NS = 1000000000 };

/* `n` reads of 4 KB; how many were measured. A fast one began when the clock is looked at. */
static int reads(struct pace *pace, int n, bool is_slow)
{
    int measured = 0;

    for (int i = 0; i < n; i++) {
        const uint64_t start = pace_start(pace, 4096);

        measured += start != 0;
        /* However late this runs, a read of very many bytes is a fast one. */
        pace_end(pace, is_slow ? 4096 : (size_t)1 << 50, start ? start - (is_slow ? SLOW_NS : 0) : 0);
    }
    return measured;
}

static void test_learning(void)
{
    _Atomic uint32_t word = 0;
    struct pace here = { .told = &word, .heard = &word }, there = { .told = NULL, .heard = &word };

    CHECK_INT(reads(&here, 640, false), 10);
    CHECK(!here.is_far && !pace_is_far_to(&there));
    CHECK_INT(reads(&here, PACE_EVERY + 1, true), 2); /* after a slow one the next, too */
    CHECK(!here.is_far);
    CHECK_INT(reads(&here, PACE_EVERY, false), 1);
    CHECK_INT(reads(&here, 2, true), 2);
    CHECK(!here.is_far && !pace_is_far_to(&there));
    CHECK_INT(reads(&here, 1, true), 1);
    CHECK(here.is_far && pace_is_far_to(&there));
    CHECK_INT(reads(&here, 640, true), 10);
    CHECK(here.is_far && pace_is_far_to(&there));
    CHECK_INT(reads(&here, PACE_EVERY, false), 1);
    CHECK(!here.is_far && !pace_is_far_to(&there));
    CHECK_INT(reads(&here, 100 * PACE_EVERY, false), 100);
}

static void test_limits(void)
{
    struct pace pace = { 0 };

    for (int i = 0; i < 1000; i++)
        CHECK(!pace_start(&pace, PACE_MIN - 1));
    CHECK_INT(pace.reads, 0);
    CHECK(!pace_is_slow(PACE_MIN, 40) && pace_is_slow(PACE_MIN, 130));
    CHECK(!pace_is_slow(2048, 41) && pace_is_slow(2048, 181));
    CHECK(!pace_is_slow(4096, 140) && pace_is_slow(4096, 220)); /* in the middle of a payload */
    CHECK(!pace_is_slow(16384, 160) && pace_is_slow(16384, 590));
    CHECK(!pace_is_slow(32768, 331) && pace_is_slow(32768, 970));
}

int main(void)
{
    test_learning();
    test_limits();
    return 0;
}
