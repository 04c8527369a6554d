/* SPDX-License-Identifier: BSD-3-Clause */
/* Example cg: the rows of a sparse symmetric matrix that one rank has. No communication.
 *
 * The matrix is that of a grid of size x size points, each joined to its four neighbours (the heat equation), and of
 * joints between points that lie far apart, drawn by chance. Every diagonal element is a little larger than the others
 * of its row together, so it is positive definite. */
#ifndef CG_MATRIX_H
#define CG_MATRIX_H

#include <stdbool.h>

/* Rows first .. first + rows - 1. Element k of row i is k = start[i] .. start[i + 1] - 1, at column[k]. */
struct matrix {
    long n, first, rows;
    long *start, *column;
    double *value;
};

/* First row of a rank; that of rank `ranks` is n. */
long matrix_first_row(long n, int rank, int ranks);
/* Returns false without memory. */
bool matrix_create(struct matrix *m, int size, int rank, int ranks);
void matrix_free(struct matrix *m);
/* out = matrix times x, where element k of the matrix meets x[place[k]]. */
void matrix_multiply(const struct matrix *m, const int *place, const double *x, double *out);

#endif
