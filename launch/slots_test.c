/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the book of places: against a search by brute force, on random ones. */
#include "slots.h"

#include <stdlib.h>

#include "base/check.h"

enum { PLACES = 40, ROUNDS = 20000 };

static bool taken[PLACES];

static bool is_free(const void *arg, int place)
{
    CHECK(arg == taken && place >= 0 && place < PLACES);
    return !taken[place];
}

static bool fits(int place, int end, int count)
{
    for (int i = 0; i < count; i++)
        if (place + i >= end || taken[place + i])
            return false;
    return true;
}

static int first_fit(int begin, int end, int count)
{
    for (int place = begin; place < end; place++)
        if (fits(place, end, count))
            return place;
    return -1;
}

static void test_random(void)
{
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        const int begin = rand() % 5, end = begin + rand() % (PLACES - begin) + 1;
        const int fresh = begin + rand() % (end - begin);
        const int count = 1 + rand() % 8, mask = rand() % 4;
        int expected, longest = 0;

        for (int i = 0; i < PLACES; i++)
            taken[i] = (rand() & mask) != 0;
        expected = first_fit(fresh, end, count);
        if (expected < 0)
            expected = first_fit(begin, end, count);
        CHECK_INT(slots_find(is_free, taken, fresh, begin, end, count), expected);
        while (first_fit(begin, end, longest + 1) >= 0)
            longest++;
        CHECK_INT(slots_longest(is_free, taken, begin, end), longest);
    }
}

static void test_bits(void)
{
    _Atomic uint64_t bits[2] = { UINT64_C(1) << 63, 1 };

    CHECK(slots_has(bits, 63) && slots_has(bits, 64) && !slots_has(bits, 0) && !slots_has(bits, 65));
}

int main(void)
{
    test_random();
    test_bits();
    return 0;
}
