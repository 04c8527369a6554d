/* SPDX-License-Identifier: BSD-3-Clause */
/* Example is: buckets, the exchange, ranks. See bucket.h. */
#include "bucket.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

void *is_memory(long bytes)
{
    void *room = malloc((size_t)bytes + 1);

    if (room)
        return room;
    fprintf(stderr, "is: no memory for %ld bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Values in a bucket. */
static int width_of(const struct problem *problem)
{
    return problem->max_key / BUCKETS ? problem->max_key / BUCKETS : 1;
}

/* first[r] .. first[r + 1] - 1 are the buckets of rank r: as many keys as an equal part has, by whole buckets. */
static void divide(const int *sizes, long keys, int ranks, int *first)
{
    long before = 0;
    int rank = 0;

    first[0] = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        while (rank < ranks - 1 && before >= keys * (rank + 1) / ranks)
            first[++rank] = bucket;
        before += sizes[bucket];
    }
    while (rank < ranks)
        first[++rank] = BUCKETS;
}

/* The keys in the order of their buckets; at[b]: where bucket b begins. */
static int *order_by_bucket(const int *keys, int count, int width, const int *sizes, int *at)
{
    int *ordered = is_memory((long)count * (long)sizeof *ordered), next[BUCKETS];

    at[0] = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        at[bucket + 1] = at[bucket] + sizes[bucket];
    memcpy(next, at, sizeof next);
    for (int i = 0; i < count; i++)
        ordered[next[keys[i] / width]++] = keys[i];
    return ordered;
}

/* Send each rank the keys of its buckets. `at` is where a bucket begins in `ordered`, `first` the first bucket of a
 * rank. */
static void exchange(const int *ordered, const int *at, const int *first, int ranks, struct share *share)
{
    int *numbers = is_memory(4L * ranks * (long)sizeof *numbers);
    int *out = numbers, *out_at = numbers + ranks, *in = numbers + 2 * ranks, *in_at = numbers + 3 * ranks;

    for (int rank = 0; rank < ranks; rank++) {
        out_at[rank] = at[first[rank]];
        out[rank] = at[first[rank + 1]] - out_at[rank];
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    share->count = 0;
    for (int rank = 0; rank < ranks; rank++) {
        in_at[rank] = share->count;
        share->count += in[rank];
    }
    share->keys = is_memory((long)share->count * (long)sizeof(int));
    MPI_Alltoallv(ordered, out, out_at, MPI_INT, share->keys, in, in_at, MPI_INT, MPI_COMM_WORLD);
    free(numbers);
}

void bucket_exchange(const struct problem *problem, const int *keys, int count, struct share *share)
{
    const int width = width_of(problem);
    int own[BUCKETS] = { 0 }, all[BUCKETS], at[BUCKETS + 1], rank, ranks, *first, *ordered;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < count; i++)
        own[keys[i] / width]++;
    MPI_Allreduce(own, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    first = is_memory((ranks + 1L) * (long)sizeof *first);
    divide(all, problem->keys, ranks, first);
    ordered = order_by_bucket(keys, count, width, own, at);
    *share = (struct share){ .low = first[rank] * width, .high = first[rank + 1] * width };
    exchange(ordered, at, first, ranks, share);
    for (int bucket = 0; bucket < first[rank]; bucket++)
        share->smaller += all[bucket];
    free(ordered);
    free(first);
}

int *bucket_count(const struct share *share)
{
    const long values = share->high - share->low;
    int *counts = is_memory(values * (long)sizeof *counts);

    memset(counts, 0, (size_t)values * sizeof *counts);
    for (int i = 0; i < share->count; i++)
        counts[share->keys[i] - share->low]++;
    return counts;
}

long bucket_rank(const struct share *share, const int *counts, int key)
{
    long rank = share->smaller;

    for (int value = share->low; value < key; value++)
        rank += counts[value - share->low];
    return rank;
}

void bucket_sort(struct share *share, const int *counts)
{
    int i = 0;

    for (int value = share->low; value < share->high; value++)
        for (int n = counts[value - share->low]; n > 0; n--)
            share->keys[i++] = value;
}

/* The largest key of all lower ranks comes by an exclusive scan; a rank without keys adds nothing to it. */
bool bucket_is_sorted(const struct share *share, long keys, long sum)
{
    int largest = share->count ? share->keys[share->count - 1] : INT_MIN, below = INT_MIN, rank;
    long found[3] = { share->count, 0, 0 }, all[3];

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Exscan(&largest, &below, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    found[2] = rank > 0 && share->count && below > share->keys[0];
    for (int i = 0; i < share->count; i++) {
        found[1] += share->keys[i];
        found[2] += i > 0 && share->keys[i - 1] > share->keys[i];
    }
    MPI_Allreduce(found, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all[0] == keys && all[1] == sum && all[2] == 0;
}

void share_free(struct share *share)
{
    free(share->keys);
    *share = (struct share){ 0 };
}
