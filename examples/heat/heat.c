/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: how warmth spreads in a plate.
 *
 * The start field is read from a picture, cut into blocks, one per rank; each step the ranks exchange the
 * edges of their blocks while they compute the inner cells. It ends when no cell changes by more than
 * --until in a step, or after --steps. The end state is written as a picture and compared with what rank 0
 * computes alone.
 *
 *     mpiexec -n 4 heat [--in start.png] [--out heat.png] [--size 2] [--steps 5000] [--until 5e-4]
 *                      [--no-check]
 *
 * Exit code 1: the picture cannot be read or written, or the parallel result differs from the serial one. */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"

#ifndef HEAT_START
#define HEAT_START "start.png"
#endif

enum { LOOK_EVERY = 20, BAR = 40 };

struct options {
    const char *in, *out;
    double size, until;
    int steps;
    bool check;
};

struct outcome {
    int steps;
    double change, seconds;
};

/* A positive number, or an end with exit code 2 on every rank: all see the same options. */
static double number(const char *option, const char *text, double most, int rank)
{
    char *end = NULL;
    const double value = text ? strtod(text, &end) : 0;

    if (text && end != text && !*end && value > 0 && value <= most)
        return value;
    if (rank == 0)
        fprintf(stderr, "heat: option %s needs a positive number up to %g, not '%s'\n", option, most,
                text ? text : "");
    MPI_Finalize();
    exit(2);
}

static struct options read_options(char **argv, int rank)
{
    struct options o = {
        .in = HEAT_START, .out = "heat.png", .size = 2, .until = 5e-4, .steps = 5000, .check = true
    };

    for (char **arg = argv + 1; *arg; arg++) {
        const char *name = *arg;

        if (!strcmp(name, "--no-check")) {
            o.check = false;
            continue;
        }
        if (!arg[1])
            name = "";
        if (!strcmp(name, "--in"))
            o.in = *++arg;
        else if (!strcmp(name, "--out"))
            o.out = *++arg;
        else if (!strcmp(name, "--size"))
            o.size = number(name, *++arg, 100, rank);
        else if (!strcmp(name, "--steps"))
            o.steps = (int)number(name, *++arg, 1e9, rank);
        else if (!strcmp(name, "--until"))
            o.until = number(name, *++arg, 1, rank);
        else {
            if (rank == 0)
                fprintf(stderr,
                        "heat: '%s' is no option, or lacks its value; there are --in --out --size "
                        "--steps --until --no-check\n",
                        *arg);
            MPI_Finalize();
            exit(2);
        }
    }
    return o;
}

/* How far the run is, 0 to 1: by steps, or by the change on its way (on a logarithmic scale) from the
 * first one seen to the one that ends the run. */
static double fraction_done(const struct options *o, int step, double change)
{
    static double first = 0;

    if (first <= 0)
        first = change;
    if (change <= o->until)
        return 1;
    return fmax((double)step / o->steps, first > change ? log(first / change) / log(first / o->until) : 0);
}

/* A bar that redraws itself on a terminal, else a line at every tenth. */
static void show_progress(const struct options *o, int step, double change)
{
    static int tenths = 0;
    static double drawn = 0;
    const double fraction = fraction_done(o, step, change), now = MPI_Wtime();
    const int filled = (int)(BAR * fraction);

    if (!isatty(STDOUT_FILENO)) {
        if ((int)(10 * fraction) > tenths)
            printf("heat: step %d, largest change %.1e\n", step, change);
        tenths = (int)(10 * fraction);
    } else if (fraction >= 1 || now > drawn + 0.1) {
        printf("\r[%.*s%*s] step %d, largest change %.1e%s", filled,
               "########################################", BAR - filled, "", step, change,
               fraction >= 1 ? "\n" : "  ");
        drawn = now;
    }
    fflush(stdout);
}

static struct outcome solve(struct solver *s, const struct block *b, struct halo *halo,
                            const struct options *o, int rank)
{
    struct outcome done = { .change = 1 };
    double mine = 0;
    const double start = MPI_Wtime();

    while (done.steps < o->steps && done.change > o->until) {
        mine = blocks_step(s, b, halo);
        done.steps++;
        if (done.steps % LOOK_EVERY && done.steps < o->steps)
            continue;
        MPI_Allreduce(&mine, &done.change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            show_progress(o, done.steps, done.change);
    }
    done.seconds = MPI_Wtime() - start;
    return done;
}

/* The same steps in one piece. Returns the largest difference to `result`, or NAN without memory. */
static double compare_serial(const struct field *start, const struct field *result, int steps,
                             double *seconds)
{
    const size_t cells = (size_t)start->width * (size_t)start->height;
    double *serial = malloc(cells * sizeof *serial), most = 0;
    const double begin = MPI_Wtime();
    struct solver s;

    if (!serial || !solver_create(&s, start->width, start->height)) {
        free(serial);
        return NAN;
    }
    solver_load(&s, start->cells, start->is_held, (size_t)start->width);
    for (int i = 0; i < steps; i++) {
        solver_insulate(&s, true, true, true, true);
        solver_step(&s, 1, s.width + 1, 1, s.height + 1);
        solver_swap(&s);
    }
    *seconds = MPI_Wtime() - begin;
    solver_store(&s, serial, (size_t)start->width);
    for (size_t i = 0; i < cells; i++)
        if (!(fabs(serial[i] - result->cells[i]) <= most))
            most = fabs(serial[i] - result->cells[i]);
    solver_free(&s);
    free(serial);
    return most;
}

/* Rank 0, after the run: check, picture, figures. Returns the exit code. */
static int finish(const struct options *o, const struct field *start, const struct field *result,
                  const struct outcome *done)
{
    const double cells = (double)start->width * start->height;
    char path[PATH_MAX];
    double serial_seconds = 0, difference = 0;

    printf("heat: %d steps in %.3f s, %.0f million cells per second, largest change now %.1e%s\n",
           done->steps, done->seconds, 1e-6 * cells * done->steps / done->seconds, done->change,
           done->change <= o->until ? "" : " (not at rest)");
    if (o->check) {
        difference = compare_serial(start, result, done->steps, &serial_seconds);
        printf("heat: largest difference to the serial result: %g (serial %.3f s, %.2f times as long)\n",
               difference, serial_seconds, serial_seconds / done->seconds);
    }
    if (!image_write(o->out, result))
        return 1;
    printf("heat: picture of the end state: %s\n", realpath(o->out, path) ? path : o->out);
    if (difference <= 1e-12)
        return 0;
    fprintf(stderr, "heat: the parallel result is wrong\n");
    return 1;
}

/* All ranks, with the start field on rank 0. Returns the exit code. */
static int run(const struct options *o, struct field *start, int width, int height, int rank, int ranks)
{
    struct field result = { 0 };
    struct solver s = { 0 };
    struct halo halo = { 0 };
    struct outcome done;
    struct block mine;
    int across, down, code = 0;

    if (!blocks_choose(ranks, width, height, &across, &down)) {
        if (rank == 0)
            fprintf(stderr, "heat: %d x %d cells cannot be cut into %d blocks\n", width, height, ranks);
        return 1;
    }
    if (rank == 0)
        printf("heat: %d x %d cells from %s, %d ranks, %d x %d blocks\n", width, height, o->in, ranks, across,
               down);
    mine = blocks_of(rank, across, down, width, height);
    if (!solver_create(&s, mine.width, mine.height) || !halo_create(&halo, mine.height) ||
        (rank == 0 && !field_create(&result, width, height)) ||
        !blocks_scatter(rank == 0 ? start : NULL, across, down, &mine, &s)) {
        fprintf(stderr, "heat: rank %d has no memory for its block of %d x %d cells\n", rank, mine.width,
                mine.height);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    done = solve(&s, &mine, &halo, o, rank);
    if (!blocks_gather(&s, &mine, across, down, rank == 0 ? &result : NULL)) {
        fprintf(stderr, "heat: rank %d has no memory for the result\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        code = finish(o, start, &result, &done);
    field_free(&result);
    halo_free(&halo);
    solver_free(&s);
    return code;
}

int main(int argc, char **argv)
{
    struct field start = { 0 };
    struct options options;
    int rank, ranks, code = 1, size[2] = { 0, 0 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    options = read_options(argv, rank);
    if (rank == 0 && image_read(options.in, options.size, &start)) {
        size[0] = start.width;
        size[1] = start.height;
    }
    MPI_Bcast(size, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (size[0])
        code = run(&options, &start, size[0], size[1], rank, ranks);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    field_free(&start);
    MPI_Finalize();
    return code;
}
