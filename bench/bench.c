/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: options and the measuring loop. See bench.h. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int own_rank;

static _Noreturn void fail(const char *format, va_list args)
{
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}

_Noreturn void bench_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(format, args);
}

/* A fault that all ranks see alike: rank 0 says it and ends the job, and with it the wait of the others. */
static _Noreturn void fail_once(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (own_rank > 0)
        MPI_Barrier(MPI_COMM_WORLD);
    fail(format, args);
}

static double number(const char *option, const char *text, double low)
{
    char *end;
    const double value = text ? strtod(text, &end) : 0;

    if (!text || end == text || *end || !(value >= low))
        fail_once("option %s needs a number of at least %g, not '%s'", option, low, text ? text : "nothing");
    return value;
}

static void parse_numbers(struct bench_numbers *numbers, const char *option, char *text)
{
    numbers->count = 0;
    if (!text)
        fail_once("option %s needs numbers with commas between, e.g. 0,16,1000", option);
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        if (numbers->count == BENCH_MAX_NUMBERS)
            fail_once("option %s takes at most %d numbers", option, BENCH_MAX_NUMBERS);
        numbers->at[numbers->count++] = (long)number(option, part, 0);
    }
    if (!numbers->count)
        fail_once("option %s needs at least one number", option);
}

/* From the least to the greatest. */
static void parse_sizes(struct bench *b, char *text)
{
    parse_numbers(&b->sizes, "--sizes", text);
    for (int i = 1; i < b->sizes.count; i++)
        if (b->sizes.at[i] <= b->sizes.at[i - 1])
            fail_once("option --sizes: %ld after %ld, but each must be more than the one before", b->sizes.at[i],
                      b->sizes.at[i - 1]);
    b->min_size = b->sizes.at[0];
    b->max_size = b->sizes.at[b->sizes.count - 1];
}

static void parse(struct bench *b, char **argv)
{
    for (char **arg = argv + 1; *arg; arg++) {
        const char *option = *arg;

        if (!strcmp(option, "--pin"))
            b->pin = true;
        else if (!strcmp(option, "--batches"))
            b->batches = (int)number(option, *++arg, 1);
        else if (!strcmp(option, "--batch-ms"))
            b->batch_time = 1e-3 * number(option, *++arg, 0.001);
        else if (!strcmp(option, "--budget"))
            b->budget = number(option, *++arg, 0.001);
        else if (!strcmp(option, "--min-size"))
            b->min_size = (long)number(option, *++arg, 0);
        else if (!strcmp(option, "--max-size"))
            b->max_size = (long)number(option, *++arg, 0);
        else if (!strcmp(option, "--per-decade"))
            b->per_decade = (long)number(option, *++arg, 1);
        else if (!strcmp(option, "--depths"))
            parse_numbers(&b->depths, option, *++arg);
        else if (!strcmp(option, "--sizes"))
            parse_sizes(b, *++arg);
        else if (!strcmp(option, "--form"))
            b->form = *++arg ? *arg : "";
        else if (!strcmp(option, "--only"))
            b->only = *++arg ? *arg : "";
        else
            fail_once("unknown option '%s'; known: --pin --batches N --batch-ms T --budget S --min-size B "
                      "--max-size B --per-decade N --sizes A,B,... --depths A,B,... --form F --only A,B,...",
                      option);
        if (!*arg)
            break;
    }
    if (b->batches > BENCH_MAX_BATCHES)
        b->batches = BENCH_MAX_BATCHES;
}

bool bench_wants(const struct bench *b, const char *name)
{
    const size_t len = strlen(name);

    if (!b->only)
        return true;
    for (const char *at = b->only; (at = strstr(at, name)); at += len)
        if ((at == b->only || at[-1] == ',') && (at[len] == ',' || !at[len]))
            return true;
    return false;
}

/* True if the MPI gives what is asked for. */
static bool start_mpi(bool has_threads, int *argc, char ***argv)
{
    int level = MPI_THREAD_MULTIPLE;

    if (has_threads)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(argc, argv);
    return level == MPI_THREAD_MULTIPLE;
}

void bench_start(struct bench *b, int *argc, char ***argv, int ranks)
{
    const bool is_given = start_mpi(b->has_threads, argc, argv);

    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->size);
    own_rank = b->rank;
    if (!is_given)
        fail_once("%s needs MPI_THREAD_MULTIPLE, which this MPI does not give", **argv);
    if (ranks && b->size != ranks)
        fail_once("%s needs %d ranks, this job has %d", **argv, ranks, b->size);
    parse(b, *argv);
    if (b->pin && stats_pin(b->rank))
        bench_fail("rank %d cannot be pinned to a core", b->rank);
}

long bench_next_size(const struct bench *b, long size, long factor)
{
    double x;
    long next;

    if (!size)
        return 1;
    if (!b->per_decade)
        return size * factor;
    x = 2.302585 / (double)b->per_decade; /* the series of exp, without another library */
    next = (long)((double)size * (1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)))));
    return next > size ? next : size + 1;
}

void *bench_buffer(long bytes)
{
    const size_t page = 4096, length = ((size_t)bytes + page) / page * page;
    void *buffer = aligned_alloc(page, length);

    if (!buffer)
        bench_fail("no memory for a buffer of %ld bytes", bytes);
    memset(buffer, 1, length);
    return buffer;
}

/* Seconds of `reps` repetitions. */
static double time_reps(bench_op *op, void *arg, long reps)
{
    const double start = stats_now();

    op(arg, reps);
    return stats_now() - start;
}

/* Repetitions that fill a batch; `*each` gets the seconds of one on rank 0. Rank 0 decides, the others
 * follow. The better of two tries counts, so that a moment when the machine was taken away does not make
 * batches short. */
static long calibrate(const struct bench *b, bench_op *op, void *arg, double *each)
{
    long reps = 1, next;

    op(arg, 1);
    for (;;) {
        const double first = time_reps(op, arg, reps), second = time_reps(op, arg, reps);
        const double took = first < second ? first : second;

        *each = took / (double)reps;
        next = took >= 0.5 * b->batch_time ? 0 : 2 * reps;
        MPI_Bcast(&next, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (!next)
            return reps;
        reps = next;
    }
}

/* Batches that the budget allows when one takes `took` seconds. */
static int plan_batches(const struct bench *b, double took)
{
    const double allowed = b->budget / took, at_most = 10 * b->budget / took;
    const int least = b->batches < BENCH_MIN_BATCHES ? b->batches : BENCH_MIN_BATCHES;

    if (allowed >= b->batches)
        return b->batches;
    if (allowed >= least)
        return (int)allowed;
    if (at_most >= least)
        return least;
    return at_most < 1 ? 1 : (int)at_most;
}

int bench_measure(const struct bench *b, bench_op *op, void *arg, double *seconds)
{
    double each;
    const long reps = calibrate(b, op, arg, &each);
    int batches = plan_batches(b, each * (double)reps);

    MPI_Bcast(&batches, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (b->rank == 0 && batches < BENCH_MIN_BATCHES)
        printf("# next value: only %d batches of %ld\n", batches, reps);
    for (int i = 0; i < batches; i++)
        seconds[i] = time_reps(op, arg, reps) / (double)reps;
    return batches;
}
