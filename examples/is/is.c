/* SPDX-License-Identifier: BSD-3-Clause */
/* Example is: integer sort in the manner of the NAS Parallel Benchmarks, on any number of ranks.
 *
 * Ten times, two keys are changed and all keys are ranked: counted by buckets (Allreduce), buckets dealt out to the
 * ranks, keys exchanged (Alltoall, Alltoallv), counted by value. Each time the ranks of five keys are compared with
 * those that the benchmark publishes; in the end the keys are sorted and looked through.
 *
 *     mpiexec -n 4 is [--class S|W|A]
 *
 * Exit code 1: a rank or the order is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucket.h"

struct job {
    const struct problem *problem;
    int rank, ranks;
    long first; /* of the own keys among all */
    int count;
    int *keys;
};

/* The class; all ranks end together on a wrong one. */
static const struct problem *read_options(char **argv, int rank)
{
    const struct problem *problem = problem_find('S');

    if (argv[1])
        problem = !strcmp(argv[1], "--class") && argv[2] && !argv[3] ? problem_find(argv[2][0]) : NULL;
    if (problem)
        return problem;
    if (rank == 0)
        fprintf(stderr, "is: cannot use '%s %s'; there is --class S, W or A\n", argv[1], argv[2] ? argv[2] : "");
    MPI_Finalize();
    exit(2);
}

static void start(struct job *job, char **argv)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
    job->problem = read_options(argv, job->rank);
    job->first = job->problem->keys * job->rank / job->ranks;
    job->count = (int)(job->problem->keys * (job->rank + 1) / job->ranks - job->first);
    job->keys = is_memory(job->count * (long)sizeof(int));
    keys_make(job->problem, job->first, job->count, job->keys);
}

/* Set a key, which is at one of the ranks. */
static void set_key(struct job *job, long place, int key)
{
    if (place >= job->first && place < job->first + job->count)
        job->keys[place - job->first] = key;
}

/* The five keys whose ranks are known, at all ranks. */
static void test_keys(const struct job *job, int *keys)
{
    int own[IS_TESTS] = { 0 };

    for (int i = 0; i < IS_TESTS; i++) {
        const long at = job->problem->place[i] - job->first;

        if (at >= 0 && at < job->count)
            own[i] = job->keys[at];
    }
    MPI_Allreduce(own, keys, IS_TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* How many of the test keys in the share have the rank they must have. */
static int count_right(const struct job *job, const struct share *share, const int *counts, const int *keys,
                       int iteration)
{
    int right = 0;

    for (int i = 0; i < IS_TESTS; i++)
        if (keys[i] >= share->low && keys[i] < share->high)
            right += bucket_rank(share, counts, keys[i]) == problem_rank(job->problem, i, iteration);
    return right;
}

/* Rank all keys once. In the last iteration the share is kept. Returns the right ranks at this process. */
static int iterate(struct job *job, int iteration, struct share *share)
{
    int keys[IS_TESTS], right, *counts;

    set_key(job, iteration, iteration);
    set_key(job, iteration + IS_ITERATIONS, job->problem->max_key - iteration);
    test_keys(job, keys);
    bucket_exchange(job->problem, job->keys, job->count, share);
    counts = bucket_count(share);
    right = count_right(job, share, counts, keys, iteration);
    free(counts);
    if (iteration < IS_ITERATIONS)
        share_free(share);
    return right;
}

/* Sort what the last iteration left and look at it. */
static bool finish(const struct job *job, struct share *share)
{
    long own = 0, sum;
    int *counts = bucket_count(share);
    bool is_sorted;

    for (int i = 0; i < job->count; i++)
        own += job->keys[i];
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    bucket_sort(share, counts);
    is_sorted = bucket_is_sorted(share, job->problem->keys, sum);
    free(counts);
    share_free(share);
    return is_sorted;
}

int main(int argc, char **argv)
{
    struct job job = { 0 };
    struct share share = { 0 };
    int right = 0, all_right;
    double begin, seconds;
    bool is_sorted;

    MPI_Init(&argc, &argv);
    start(&job, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int iteration = 1; iteration <= IS_ITERATIONS; iteration++)
        right += iterate(&job, iteration, &share);
    seconds = MPI_Wtime() - begin;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is_sorted = finish(&job, &share);
    if (job.rank == 0) {
        printf("is: class %c, %ld keys, %d ranks: %d iterations in %.3f s, %.1f million keys ranked per second\n",
               job.problem->name, job.problem->keys, job.ranks, IS_ITERATIONS, seconds,
               1e-6 * (double)job.problem->keys * IS_ITERATIONS / seconds);
        printf("is: %d of %d ranks are those published, the keys are %s\n", all_right, IS_TESTS * IS_ITERATIONS,
               is_sorted ? "sorted" : "not sorted");
    }
    free(job.keys);
    MPI_Finalize();
    return all_right == IS_TESTS * IS_ITERATIONS && is_sorted ? 0 : 1;
}
