/* SPDX-License-Identifier: BSD-3-Clause */
/* Example is: what the ranks tell each other. All functions are called by every rank of MPI_COMM_WORLD; running out of
 * memory ends the job. */
#ifndef IS_BUCKET_H
#define IS_BUCKET_H

#include "keys.h"

/* This rank's share of all keys after an exchange: every key between `low` and `high`, in no order, and how many keys
 * there are at other ranks that are smaller. */
struct share {
    int *keys;
    int count;
    int low, high; /* high: the first that does not belong to it */
    long smaller;
};

/* Room for `bytes`; ends the job when there is none. */
void *is_memory(long bytes);
/* Exchange the keys so that every rank gets a range of values with about as many keys. */
void bucket_exchange(const struct problem *problem, const int *keys, int count, struct share *share);
/* The number of keys smaller than `key` in the share, plus those of lower ranks; counts[k - low] are those of key k. */
long bucket_rank(const struct share *share, const int *counts, int key);
/* How many keys of each value the share has; to be freed. */
int *bucket_count(const struct share *share);
/* Sort the share in place by its counts. */
void bucket_sort(struct share *share, const int *counts);
/* Are the sorted shares in order, and are they `keys` in number with the given sum? Same answer everywhere. */
bool bucket_is_sorted(const struct share *share, long keys, long sum);
void share_free(struct share *share);

#endif
