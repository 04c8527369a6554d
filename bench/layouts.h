/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: the layouts that derived types are measured with, each as a type and as a loop written by hand.
 * Knows: mpi.h, bench.h. Does not know: what is measured. */
#ifndef BENCH_LAYOUTS_H
#define BENCH_LAYOUTS_H

#include <mpi.h>

/* Where irregular layouts have their data, in doubles: one by one, and blocks of 1 to 4. */
struct places {
    int *single;           /* as many as the message has doubles */
    int *begins, *lengths; /* of the blocks */
    int blocks;
};

/* n: doubles in the message; the data lie in `data`, packed in `packed`. */
typedef void loop_fn(double *data, double *packed, long n, const struct places *places);

struct layout {
    const char *name;
    MPI_Datatype (*type)(long n, const struct places *places); /* one item is the whole message */
    loop_fn *out, *in;
    int spread;            /* memory that the data lie in, as a multiple of the data */
};

extern const struct layout layouts_all[];
extern const int layouts_count;

/* A layout with so many bytes, or some less if it cannot have as many. */
struct laid {
    const struct layout *layout;
    struct places places;
    MPI_Datatype type;     /* committed */
    long n;
    int size;              /* bytes packed */
    long memory;           /* bytes that data may lie in */
};

void laid_start(struct laid *laid, const struct layout *layout, long bytes);
void laid_end(struct laid *laid);

/* Times 8; the largest one comes last. */
long layouts_next_size(long bytes, long max_size);

#endif
