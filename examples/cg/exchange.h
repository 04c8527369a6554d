/* SPDX-License-Identifier: BSD-3-Clause */
/* Example cg: elements of a distributed vector that a rank's rows need and other ranks have. Two ways: the whole vector
 * to everybody (Allgatherv), or to each neighbour in the graph of who needs something of whom what it needs
 * (Neighbor_alltoallv). All functions are called by every rank; running out of memory ends the job. */
#ifndef CG_EXCHANGE_H
#define CG_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>

#include "matrix.h"

struct exchange {
    MPI_Comm comm;         /* the graph; MPI_COMM_NULL: the whole vector */
    int *place;            /* of each element of the matrix: where the vector's element is */
    int *counts, *displs;  /* whole: of all ranks */
    int *out_counts, *out_displs, *in_counts, *in_displs; /* by neighbours */
    long *wanted;          /* own elements to be sent, neighbour by neighbour */
    int out_total;
    double *out;           /* what is sent */
    double *x;             /* whole: the vector; by neighbours: the own part, then what came */
    long own;              /* where in x the own part begins */
    long rows;
};

void exchange_create(struct exchange *e, const struct matrix *m, bool is_whole, int ranks);
/* Bring x up to date with everybody's part. */
void exchange_run(struct exchange *e, const double *part);
void exchange_free(struct exchange *e);

#endif
