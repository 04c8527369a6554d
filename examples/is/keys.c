/* SPDX-License-Identifier: BSD-3-Clause */
/* Example is: key generation. See keys.h. */
#include "keys.h"

#include <stddef.h>
#include <stdint.h>

enum { DRAWS = 4 }; /* random numbers in a key */

static const uint64_t seed = 314159265, factor = 1220703125, mask = (UINT64_C(1) << 46) - 1;

static const struct problem problems[] = {
    { 'S', 1 << 16, 1 << 11, { 48427, 17148, 23627, 62548, 4431 }, { 0, 18, 346, 64917, 65463 }, 0, 0, 3 },
    { 'W', 1 << 20, 1 << 16, { 357773, 934767, 875723, 898999, 404505 },
      { 1249, 11698, 1039987, 1043896, 1048018 }, -2, 0, 2 },
    { 'A', 1 << 23, 1 << 19, { 2112377, 662041, 5336171, 3642833, 4250760 },
      { 104, 17523, 123928, 8288932, 8388264 }, -1, -1, 3 },
};

const struct problem *problem_find(char name)
{
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        if (problems[i].name == name)
            return &problems[i];
    return NULL;
}

long problem_rank(const struct problem *problem, int test, int iteration)
{
    if (test < problem->rising)
        return problem->rank[test] + iteration + problem->shift;
    return problem->rank[test] - iteration - problem->shift_down;
}

/* The generator x = a x mod 2^46, `steps` steps on. */
static uint64_t jump(uint64_t x, uint64_t steps)
{
    for (uint64_t a = factor; steps; steps >>= 1, a = a * a & mask)
        if (steps & 1)
            x = x * a & mask;
    return x;
}

/* A key is the mean of four random numbers, so the middle ones are the most frequent. */
void keys_make(const struct problem *problem, long first, long count, int *keys)
{
    const double unit = 1.0 / (double)(UINT64_C(1) << 46);
    uint64_t x = jump(seed, (uint64_t)first * DRAWS);

    for (long i = 0; i < count; i++) {
        double sum = 0;

        for (int draw = 0; draw < DRAWS; draw++) {
            x = x * factor & mask;
            sum += unit * (double)x;
        }
        keys[i] = (int)(problem->max_key / DRAWS * sum);
    }
}
