/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: what a measurement needs and MPI has no part in: the clock, pinning, median and best, the output
 * line. Knows: the system. Does not know: MPI (bare_line.c uses it without). */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

/* Which end of the sorted values is the best one. */
enum better { BETTER_LOW, BETTER_HIGH };

/* Seconds of the monotonic clock; only differences mean something. */
double stats_now(void);

/* Bind the calling process to the index-th core (modulo) of those it may use. Returns 0, or -1 when the
 * system refuses. */
int stats_pin(int index);

/* 1: the calling thread, and those that it starts, may use all processors of the machine. 0: only those
 * again that it could use before. Returns 0, or -1 when the system refuses. */
int stats_unpin(int has_all);

/* Number of cores the calling process may use, at least 1. */
int stats_cores(void);

/* Sort `values` and return their median. */
double stats_median(double *values, int count);

/* Print `values` (sorted by this call) as two lines and flush: median, then the best one with ".best"
 * after the name:
 *     latency 8 0.143 us
 *     latency.best 8 0.139 us */
void stats_print(const char *name, const char *parameter, double *values, int count, const char *unit,
                 enum better better);

/* Print one value as a line of that form and flush. */
void stats_print_one(const char *name, const char *parameter, double value, const char *unit);

#endif
