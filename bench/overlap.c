/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: how much of a nonblocking collective operation computation hides, in percent of the operation's own time: 100
 * where start, computation of that length and wait take as long as the computation, 0 where they take as long as both
 * one after the other. Names: overlap (nothing is called in between), overlap_tested (sixteen times MPI_Test);
 * parameter operation:ranks:bytes. Meant for no more ranks than cores.
 *
 * All ranks begin each repetition together, after a barrier that is not timed, and the slowest one counts. The four
 * kinds of repetitions take turns, since a machine is not equally fast at all times; each turn gives a share, and their
 * median is the value. */
#include <stdio.h>

#include "colls.h"

enum { PIECES = 16, FITTINGS = 3, FITTING_BATCHES = 9 };

enum kind { ALONE, COMPUTING, BOTH, TESTED, KINDS };

struct work {
    const struct coll *coll;
    const struct colls *all;
    long steps;      /* of the computation, in each of its pieces */
};

static volatile double result = 2;

/* From a value that the compiler does not know: it would see that the loop never changes a 1, and leave it out. */
static void compute(long steps)
{
    double x = result;

    for (long i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    result = x;
}

static void repeat(const struct work *w, enum kind kind)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int is_done = 0;

    if (kind != COMPUTING)
        w->coll->start(w->all, 0, &request);
    for (int piece = 0; piece < PIECES && kind != ALONE; piece++) {
        compute(w->steps);
        if (kind == TESTED && !is_done)
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Seconds of a repetition, of the slowest rank; the same at all ranks. */
static double batch(const struct work *w, enum kind kind, long reps)
{
    double took = 0, slowest;

    for (long i = 0; i < reps; i++) {
        double start;

        MPI_Barrier(w->all->comm);
        start = stats_now();
        repeat(w, kind);
        took += stats_now() - start;
    }
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, w->all->comm);
    return slowest / (double)reps;
}

/* Repetitions that fill a batch. */
static long count_reps(const struct bench *b, const struct work *w)
{
    long reps = 1;

    batch(w, ALONE, 1);
    while (batch(w, ALONE, reps) * (double)reps < 0.5 * b->batch_time)
        reps *= 2;
    return reps;
}

static double median_of(const struct work *w, enum kind kind, long reps)
{
    double time[FITTING_BATCHES];

    for (int i = 0; i < FITTING_BATCHES; i++)
        time[i] = batch(w, kind, reps);
    return stats_median(time, FITTING_BATCHES);
}

/* A computation as long as the operation. */
static void fit(struct work *w, long reps)
{
    w->steps = 100;
    for (int i = 0; i < FITTINGS; i++) {
        const double alone = median_of(w, ALONE, reps), computing = median_of(w, COMPUTING, reps);
        const double steps = (double)w->steps * alone / computing;

        w->steps = steps < 1 ? 1 : steps > 1e9 ? 1000000000 : (long)steps;
    }
}

static void measure(const struct bench *b, const struct colls *all, const struct coll *coll)
{
    struct work w = { .coll = coll, .all = all };
    static double share[KINDS][BENCH_MAX_BATCHES];
    const long reps = count_reps(b, &w);
    char parameter[64];

    fit(&w, reps);
    for (int i = 0; i < b->batches; i++) {
        double took[KINDS];

        for (int kind = 0; kind < KINDS; kind++)
            took[kind] = batch(&w, (enum kind)kind, reps);
        for (int kind = BOTH; kind <= TESTED; kind++)
            share[kind][i] = 100 * (1 - (took[kind] - took[COMPUTING]) / took[ALONE]);
    }
    if (b->rank)
        return;
    snprintf(parameter, sizeof parameter, "%s:%d:%ld", coll->name, b->size, all->bytes);
    for (int kind = BOTH; kind <= TESTED; kind++) {
        const double median = stats_median(share[kind], b->batches);

        stats_print_one(kind == TESTED ? "overlap_tested" : "overlap", parameter,
                        median < 0     ? 0
                        : median > 100 ? 100
                                       : median,
                        "%");
    }
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 61, .batch_time = 5e-4, .budget = 0.02, .min_size = 32768, .max_size = 4 << 20 };
    struct colls all;

    bench_start(&b, &argc, &argv, 0);
    colls_start(&all, b.max_size);
    colls_each(&b, &all, false, measure);
    colls_end(&all);
    MPI_Finalize();
    return 0;
}
