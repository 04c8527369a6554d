/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: clock, pinning, median, output. See stats.h. */
#define _GNU_SOURCE 1
#include "stats.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double stats_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int stats_cores(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return 1;
    return CPU_COUNT(&allowed);
}

int stats_pin(int index)
{
    cpu_set_t allowed, one;
    int left;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return -1;
    left = index % CPU_COUNT(&allowed);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed) || left-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        return sched_setaffinity(0, sizeof one, &one);
    }
    return -1;
}

int stats_unpin(int has_all)
{
    static cpu_set_t before;
    cpu_set_t all;

    if (!has_all)
        return sched_setaffinity(0, sizeof before, &before);
    CPU_ZERO(&all);
    for (int core = 0; core < CPU_SETSIZE; core++)
        CPU_SET(core, &all);
    return sched_getaffinity(0, sizeof before, &before) || sched_setaffinity(0, sizeof all, &all) ? -1 : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double stats_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

void stats_print_one(const char *name, const char *parameter, double value, const char *unit)
{
    const int decimals = value >= 1e4 ? 0 : value >= 100 ? 1 : value >= 1 ? 3 : 4;

    printf("%s %s %.*f %s\n", name, parameter, decimals, value, unit);
    fflush(stdout);
}

void stats_print(const char *name, const char *parameter, double *values, int count, const char *unit,
                 enum better better)
{
    char best[80];

    stats_print_one(name, parameter, stats_median(values, count), unit);
    snprintf(best, sizeof best, "%s.best", name);
    stats_print_one(best, parameter, values[better == BETTER_LOW ? 0 : count - 1], unit);
}
