/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: how much computation hides behind nonblocking collective operations, in percent of the operation's own time:
 * 100 where start, computation of that length and wait take as long as the computation, 0 where they take as long as
 * both one after the other. Names: overlap (nothing is called in between), overlap_tested (sixteen times MPI_Test);
 * parameter operation:ranks:bytes. Meant for no more ranks than cores. */
#include <stdio.h>

#include "colls.h"

enum { PIECES = 16 };

struct work {
    const struct coll *coll;
    const struct colls *all;
    long steps;      /* of the computation */
    bool is_called;  /* the operation takes part */
    bool is_tested;
};

static volatile double result;

static void compute(long steps)
{
    double x = 1;

    for (long i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    result = x;
}

static void row(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int is_done = 0;

        if (w->is_called)
            w->coll->start(w->all, &request);
        for (int piece = 0; piece < PIECES; piece++) {
            compute(w->steps / PIECES);
            if (w->is_tested && !is_done)
                MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(w->all->comm);
}

/* Median seconds of one repetition; the same at all ranks. */
static double median_of(const struct bench *b, struct work *w)
{
    double time[BENCH_MAX_BATCHES], median = 0;
    const int batches = bench_measure(b, row, w, time);

    if (b->rank == 0)
        median = stats_median(time, batches);
    MPI_Bcast(&median, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return median;
}

/* Steps of the computation in a second. */
static double speed(void)
{
    const long steps = 20000000;
    double start = stats_now(), each;

    compute(steps);
    each = (stats_now() - start) / (double)steps;
    MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return 1 / each;
}

static void measure(const struct bench *b, const struct colls *all, const struct coll *coll, double steps_a_second)
{
    struct work w = { .coll = coll, .all = all, .is_called = true };
    const double alone = median_of(b, &w);
    double computing, both;
    char parameter[64];

    snprintf(parameter, sizeof parameter, "%s:%d:%ld", coll->name, b->size, all->bytes);
    w.steps = (long)(alone * steps_a_second);
    w.is_called = false;
    computing = median_of(b, &w);
    w.is_called = true;
    for (int tested = 0; tested < 2; tested++) {
        double share;

        w.is_tested = tested;
        both = median_of(b, &w);
        share = 100 * (alone + computing - both) / (alone < computing ? alone : computing);
        if (b->rank == 0)
            stats_print_one(tested ? "overlap_tested" : "overlap", parameter,
                            share < 0     ? 0
                            : share > 100 ? 100
                                          : share,
                            "%");
    }
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 9, .batch_time = 1e-3, .budget = 0.02, .min_size = 32768, .max_size = 4 << 20 };
    struct colls all;
    double steps_a_second;

    bench_start(&b, &argc, &argv, 0);
    colls_start(&all, b.max_size);
    steps_a_second = speed();
    for (long bytes = b.min_size; bytes <= b.max_size; bytes = colls_next_size(bytes)) {
        colls_size(&all, bytes);
        for (int i = 0; i < colls_count; i++)
            if (colls_all[i].has_size && colls_fits(&all, &colls_all[i], bytes))
                measure(&b, &all, &colls_all[i], steps_a_second);
    }
    colls_end(&all);
    MPI_Finalize();
    return 0;
}
