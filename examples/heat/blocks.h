/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: everything that communicates about a field cut into blocks, one per rank of
 * MPI_COMM_WORLD. */
#ifndef HEAT_BLOCKS_H
#define HEAT_BLOCKS_H

#include "heat.h"

/* How many blocks lie beside and below each other. Returns false if the field has too few cells for
 * `ranks`. */
bool blocks_choose(int ranks, int width, int height, int *across, int *down);
struct block blocks_of(int rank, int across, int down, int width, int height);

/* Rank 0 gives every rank its block of `whole`; the others pass NULL. Point to point, as blocks differ in
 * size. */
bool blocks_scatter(const struct field *whole, int across, int down, const struct block *mine,
                    struct solver *s);
/* The way back: rank 0 puts all blocks into `whole`. */
bool blocks_gather(const struct solver *s, const struct block *mine, int across, int down,
                   struct field *whole);

/* Room for the columns that travel, which do not lie in one piece. */
struct halo {
    double *west_out, *west_in, *east_out, *east_in;
};
bool halo_create(struct halo *halo, int height);
void halo_free(struct halo *halo);
/* One step of the block: the inner cells are computed while the edges travel. Returns this block's largest
 * change. */
double blocks_step(struct solver *s, const struct block *b, struct halo *halo);

#endif
