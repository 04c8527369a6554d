/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: places in a row. */
#include "slots.h"

/* How many places from `place` on, up to `most`, are free. */
static int run_from(slots_is_free *is_free, const void *arg, int place, int end, int most)
{
    int length = 0;

    while (length < most && place + length < end && is_free(arg, place + length))
        length++;
    return length;
}

static int find_from(slots_is_free *is_free, const void *arg, int begin, int end, int count)
{
    for (int place = begin; end - place >= count;) {
        const int length = run_from(is_free, arg, place, end, count);

        if (length == count)
            return place;
        place += length + 1;
    }
    return -1;
}

int slots_find(slots_is_free *is_free, const void *arg, int fresh, int begin, int end, int count)
{
    const int found = find_from(is_free, arg, fresh, end, count);

    return found >= 0 ? found : find_from(is_free, arg, begin, end, count);
}

int slots_longest(slots_is_free *is_free, const void *arg, int begin, int end)
{
    int longest = 0;

    for (int place = begin; place < end;) {
        const int length = run_from(is_free, arg, place, end, end - place);

        longest = length > longest ? length : longest;
        place += length + 1;
    }
    return longest;
}
