/* SPDX-License-Identifier: BSD-3-Clause */
/* Example cg: making the matrix, multiplying with it. See matrix.h. */
#include "matrix.h"

#include <stdint.h>
#include <stdlib.h>

/* One far joint for eight rows: a quarter of one in a row on average, so that 48 are enough for any. */
enum { ROWS_PER_JOINT = 8, MOST_IN_ROW = 48 };

static const double far_weight = 0.5, extra = 0.01;

long matrix_first_row(long n, int rank, int ranks)
{
    return n / ranks * rank + (rank < n % ranks ? rank : n % ranks);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The ends of far joint `joint`; all ranks draw the same. */
static void joint_ends(long n, long joint, long *a, long *b)
{
    *a = (long)(mix((uint64_t)joint * 2 + 1) % (uint64_t)n);
    *b = (long)(mix((uint64_t)joint * 2 + 2) % (uint64_t)n);
}

/* Write the row's elements for its neighbours in the grid; returns their number. */
static int row_near(int size, long row, long *column, double *value)
{
    const long x = row % size, y = row / size;
    int n = 0;

    if (y > 0)
        column[n++] = row - size;
    if (x > 0)
        column[n++] = row - 1;
    if (x < size - 1)
        column[n++] = row + 1;
    if (y < size - 1)
        column[n++] = row + size;
    for (int i = 0; i < n; i++)
        value[i] = -1;
    return n;
}

/* Far joints by own row: how many each has, then which rows they lead to. */
static void count_joints(const struct matrix *m, int *counts, long *ends)
{
    for (long joint = 0; joint < m->n / ROWS_PER_JOINT; joint++) {
        long end[2];

        joint_ends(m->n, joint, &end[0], &end[1]);
        for (int i = 0; i < 2 && end[0] != end[1]; i++) {
            const long row = end[i] - m->first;

            if (row >= 0 && row < m->rows && counts[row] < MOST_IN_ROW)
                ends[row * MOST_IN_ROW + counts[row]++] = end[1 - i];
        }
    }
}

static void fill(struct matrix *m, int size, const int *counts, const long *ends)
{
    long k = 0;

    for (long row = 0; row < m->rows; row++) {
        double sum = 0;
        long begin = k;

        m->start[row] = k;
        k += row_near(size, m->first + row, m->column + k, m->value + k);
        for (int i = 0; i < counts[row]; i++) {
            m->column[k] = ends[row * MOST_IN_ROW + i];
            m->value[k++] = -far_weight;
        }
        for (; begin < k; begin++)
            sum -= m->value[begin];
        m->column[k] = m->first + row;
        m->value[k++] = sum + extra;
    }
    m->start[m->rows] = k;
}

bool matrix_create(struct matrix *m, int size, int rank, int ranks)
{
    int *counts;
    long *ends, most;

    *m = (struct matrix){ .n = (long)size * size };
    m->first = matrix_first_row(m->n, rank, ranks);
    m->rows = matrix_first_row(m->n, rank + 1, ranks) - m->first;
    counts = calloc((size_t)m->rows + 1, sizeof *counts);
    ends = malloc(((size_t)m->rows + 1) * MOST_IN_ROW * sizeof *ends);
    if (counts && ends)
        count_joints(m, counts, ends);
    most = 5 * m->rows + 2 * (m->n / ROWS_PER_JOINT) + 1;
    m->start = malloc(((size_t)m->rows + 1) * sizeof *m->start);
    m->column = malloc((size_t)most * sizeof *m->column);
    m->value = malloc((size_t)most * sizeof *m->value);
    if (counts && ends && m->start && m->column && m->value)
        fill(m, size, counts, ends);
    else
        matrix_free(m);
    free(counts);
    free(ends);
    return m->value != NULL;
}

void matrix_free(struct matrix *m)
{
    free(m->start);
    free(m->column);
    free(m->value);
    *m = (struct matrix){ 0 };
}

void matrix_multiply(const struct matrix *m, const int *place, const double *x, double *out)
{
    for (long row = 0; row < m->rows; row++) {
        double sum = 0;

        for (long k = m->start[row]; k < m->start[row + 1]; k++)
            sum += m->value[k] * x[place[k]];
        out[row] = sum;
    }
}
