/* SPDX-License-Identifier: BSD-3-Clause */
/* Example is: the keys of the NAS benchmark "integer sort" (NAS Parallel Benchmarks, RNR-94-007) and its problem
 * classes. No communication. */
#ifndef IS_KEYS_H
#define IS_KEYS_H

#include <stdbool.h>

enum { IS_ITERATIONS = 10, IS_TESTS = 5 };

/* A problem: how many keys, how large, and which rank the keys at five places must get. */
struct problem {
    char name;
    long keys;
    int max_key;
    long place[IS_TESTS];
    long rank[IS_TESTS]; /* in iteration i: plus i plus `shift` for the first `rising` of them, else minus that */
    int shift, shift_down, rising;
};

/* NULL: there is no such class. */
const struct problem *problem_find(char name);
/* Keys first .. first + count - 1 of the sequence of all. */
void keys_make(const struct problem *problem, long first, long count, int *keys);
/* The rank that test key `test` must have in an iteration (from 1). */
long problem_rank(const struct problem *problem, int test, int iteration);

#endif
