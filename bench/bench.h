/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: what every measuring MPI program shares: options, and the loop that finds a batch length and
 * takes batches. Knows: mpi.h, stats.h. Does not know: what is measured. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

#include "stats.h"

enum { BENCH_MAX_BATCHES = 1001, BENCH_MIN_BATCHES = 9, BENCH_MAX_NUMBERS = 16 };

/* What an option gives as A,B,... */
struct bench_numbers {
    long at[BENCH_MAX_NUMBERS];
    int count;
};

/* Set by the program before bench_start(), then changed by the command line. */
struct bench {
    int rank, size;                /* of MPI_COMM_WORLD, set by bench_start() */
    int batches;                   /* --batches N: wanted number of batches per value */
    double batch_time;             /* --batch-ms T: length of one batch, here in seconds */
    double budget;                 /* --budget S: seconds per value; fewer batches rather than more time */
    long min_size, max_size;       /* --min-size, --max-size: bytes */
    long per_decade;               /* --per-decade N: so many sizes from 1000 to 10000; 0: powers */
    bool has_threads;              /* ask for MPI_THREAD_MULTIPLE; else MPI_Init */
    bool pin;                      /* --pin: rank r on core r of the allowed ones */
    struct bench_numbers depths;   /* --depths A,B,...: entries in a queue */
    struct bench_numbers sizes;    /* --sizes A,B,...: bytes, instead of those from min_size on (coll) */
    const char *form;              /* --form F: how calls are made (coll); NULL: blocking */
    const char *only;              /* --only A,B,...: names of what is measured; NULL: all */
};

/* MPI_Init, options, pinning. `ranks` is the number of ranks the program needs, 0: any. A wrong option or
 * number of ranks is said by rank 0 and ends the job with exit code 2. */
void bench_start(struct bench *b, int *argc, char ***argv, int ranks);

/* Is `name` among those of --only? */
bool bench_wants(const struct bench *b, const char *name);

/* What is measured: `reps` repetitions, called by every rank with the same `reps`, synchronising by
 * itself. */
typedef void bench_op(void *arg, long reps);

/* Collective over MPI_COMM_WORLD: warm up, find the repetitions that fill a batch, take batches. On rank 0
 * `seconds` (room for BENCH_MAX_BATCHES) gets the time of one repetition per batch. Returns the number of
 * batches: as wanted, less by the time budget but not under BENCH_MIN_BATCHES, less than that only if nine
 * take over ten budgets. */
int bench_measure(const struct bench *b, bench_op *op, void *arg, double *seconds);

/* The size to be measured after `size`: by per_decade, or `factor` times as much. */
long bench_next_size(const struct bench *b, long size, long factor);

/* Memory for buffers, page aligned and touched; ends the job when there is none. Release with free(). */
void *bench_buffer(long bytes);

/* End the job with a message from this rank. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
