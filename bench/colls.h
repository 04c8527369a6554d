/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: every collective operation as coll.c and overlap.c call it: buffers, counts, communicators. Knows: mpi.h,
 * bench.h. Does not know: what is measured. */
#ifndef BENCH_COLLS_H
#define BENCH_COLLS_H

#include <mpi.h>

#include "bench.h"

/* What the calls share; sized by colls_start() for the largest message. */
struct colls {
    char *send, *recv;        /* a block for each rank */
    int *counts, *displs;     /* of blocks in bytes, for the forms that take arrays */
    int *parts;               /* numbers of doubles that all together have the bytes */
    MPI_Datatype *types;
    MPI_Comm comm, reversed;  /* all ranks, and the same in the other order */
    MPI_Comm ring;            /* a periodic Cartesian topology of one dimension */
    int ranks;
    long bytes;               /* of this turn */
};

/* One call. `turn` counts calls: roots move on with it, so that nobody runs far ahead. */
typedef void coll_blocking(const struct colls *c, long turn);
typedef void coll_starting(const struct colls *c, long turn, MPI_Request *request);

/* What moves on with `turn`. */
enum coll_moves { COLL_SAME, COLL_ROOTS, COLL_WAYS };

struct coll {
    const char *name;
    bool has_blocks; /* the bytes are those of a block for each rank, else of all */
    bool has_size;
    enum coll_moves moves;
    coll_blocking *block;
    coll_starting *start; /* the nonblocking one */
    coll_starting *make;  /* the persistent one; ends the job where the MPI has none */
};

extern const struct coll colls_all[];
extern const int colls_count;

/* Buffers for messages of up to `bytes`; calls with blocks for each rank may only be made when colls_fits(). */
void colls_start(struct colls *c, long bytes);
void colls_end(struct colls *c);
/* How many different calls there are; those of turns with the same remainder are the same. */
int colls_turns(const struct colls *c, const struct coll *coll);
/* This size on so many ranks needs no more memory than a bench should take. */
bool colls_fits(const struct colls *c, const struct coll *coll, long bytes);
/* Set the size of the calls from now on. */
void colls_size(struct colls *c, long bytes);
/* `measure` for every operation that is wanted, at each size of the options; those without a size once, if at all. */
typedef void colls_measure(const struct bench *b, const struct colls *c, const struct coll *coll);
void colls_each(const struct bench *b, struct colls *c, bool with_sizeless, colls_measure *measure);

#endif
