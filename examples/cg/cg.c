/* SPDX-License-Identifier: BSD-3-Clause */
/* Example cg: the conjugate-gradient method on a sparse symmetric matrix whose rows are dealt out to the ranks.
 *
 * A step multiplies the matrix with a vector, for which elements of other ranks are fetched (see exchange.h), and needs
 * two sums over all ranks (Allreduce). The right side is made from a known solution; in the end the residual is
 * computed anew and the error is the largest distance from that solution.
 *
 *     mpiexec -n 4 cg [--size N] [--exchange whole|neighbors] [--tolerance X]
 *
 * Exit code 1: not solved. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

enum { MOST_STEPS = 5000 };

struct options {
    int size;
    bool is_whole;
    double tolerance;
};

struct vectors {
    double *x, *known, *b, *r, *p, *q;
};

static void refuse(const char *option, const char *value, int rank)
{
    if (rank == 0)
        fprintf(stderr, "cg: cannot use '%s %s'; there are --size N, --exchange whole|neighbors, --tolerance X\n",
                option, value ? value : "");
    MPI_Finalize();
    exit(2);
}

/* All ranks see the same options and end together on a wrong one. */
static struct options read_options(char **argv, int rank)
{
    struct options o = { .size = 300, .tolerance = 1e-10 };

    for (char **arg = argv + 1; *arg; arg += 2) {
        const char *value = arg[1];
        char *end = NULL;

        if (value && !strcmp(*arg, "--size") && (o.size = (int)strtol(value, &end, 10)) > 0 && o.size < 20000 && !*end)
            continue;
        if (value && !strcmp(*arg, "--tolerance") && (o.tolerance = strtod(value, &end)) > 0 && !*end)
            continue;
        if (value && !strcmp(*arg, "--exchange") && (!strcmp(value, "whole") || !strcmp(value, "neighbors")))
            o.is_whole = !strcmp(value, "whole");
        else
            refuse(*arg, value, rank);
    }
    return o;
}

static double sum_over_all(double mine)
{
    double sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double dot(const double *a, const double *b, long n)
{
    double sum = 0;

    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum_over_all(sum);
}

static void add(double *to, double factor, const double *what, long n)
{
    for (long i = 0; i < n; i++)
        to[i] += factor * what[i];
}

static void multiply(const struct matrix *m, struct exchange *e, const double *in, double *out)
{
    exchange_run(e, in);
    matrix_multiply(m, e->place, e->x, out);
}

static bool vectors_create(struct vectors *v, const struct matrix *m)
{
    double **const all[] = { &v->x, &v->known, &v->b, &v->r, &v->p, &v->q };
    bool is_there = true;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = calloc((size_t)m->rows + 1, sizeof(double));
        is_there = is_there && *all[i];
    }
    for (long i = 0; is_there && i < m->rows; i++)
        v->known[i] = sin((double)(m->first + i)) + 1.5;
    return is_there;
}

static void vectors_free(struct vectors *v)
{
    free(v->x);
    free(v->known);
    free(v->b);
    free(v->r);
    free(v->p);
    free(v->q);
}

/* From x = 0 until the residual is `tolerance` times the right side. Returns the steps. */
static int solve(const struct matrix *m, struct exchange *e, struct vectors *v, double tolerance)
{
    double rest, before, enough;
    int step = 0;

    memcpy(v->r, v->b, (size_t)m->rows * sizeof *v->r);
    memcpy(v->p, v->b, (size_t)m->rows * sizeof *v->p);
    rest = dot(v->r, v->r, m->rows);
    enough = tolerance * tolerance * rest;
    for (; rest > enough && step < MOST_STEPS; step++) {
        double alpha;

        multiply(m, e, v->p, v->q);
        alpha = rest / dot(v->p, v->q, m->rows);
        add(v->x, alpha, v->p, m->rows);
        add(v->r, -alpha, v->q, m->rows);
        before = rest;
        rest = dot(v->r, v->r, m->rows);
        for (long i = 0; i < m->rows; i++)
            v->p[i] = v->r[i] + rest / before * v->p[i];
    }
    return step;
}

/* Residual of the solution, computed anew, relative to the right side; and the largest error. */
static double look(const struct matrix *m, struct exchange *e, struct vectors *v, double *error)
{
    double mine = 0;

    multiply(m, e, v->x, v->q);
    for (long i = 0; i < m->rows; i++) {
        mine = fmax(mine, fabs(v->x[i] - v->known[i]));
        v->r[i] = v->b[i] - v->q[i];
    }
    MPI_Allreduce(&mine, error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return sqrt(dot(v->r, v->r, m->rows) / dot(v->b, v->b, m->rows));
}

/* Returns the exit code, the same at all ranks. */
static int run(const struct options *o, const struct matrix *m, struct vectors *v, int rank, int ranks)
{
    const double elements = sum_over_all((double)m->start[m->rows]);
    struct exchange e;
    double begin, seconds, residual, error;
    int steps;

    exchange_create(&e, m, o->is_whole, ranks);
    multiply(m, &e, v->known, v->b);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    steps = solve(m, &e, v, o->tolerance);
    seconds = MPI_Wtime() - begin;
    residual = look(m, &e, v, &error);
    exchange_free(&e);
    if (rank == 0) {
        printf("cg: %ld rows, %.0f elements, %d ranks, %s: %d steps in %.3f s, %.0f Mflop/s\n", m->n, elements, ranks,
               o->is_whole ? "whole vector" : "neighbors", steps, seconds,
               1e-6 * steps * (2 * elements + 10.0 * (double)m->n) / seconds);
        printf("cg: relative residual %.1e, largest error %.1e: %s\n", residual, error,
               residual <= 10 * o->tolerance ? "solved" : "not solved");
    }
    return residual <= 10 * o->tolerance && error <= 1e4 * o->tolerance ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct options options;
    struct matrix matrix;
    struct vectors vectors;
    int rank, ranks, code;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    options = read_options(argv, rank);
    if (!matrix_create(&matrix, options.size, rank, ranks) || !vectors_create(&vectors, &matrix)) {
        fprintf(stderr, "cg: rank %d has no memory for its rows of %d x %d points\n", rank, options.size,
                options.size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    code = run(&options, &matrix, &vectors, rank, ranks);
    vectors_free(&vectors);
    matrix_free(&matrix);
    MPI_Finalize();
    return code;
}
