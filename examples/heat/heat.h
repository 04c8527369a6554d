/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: what its files share. A field is a rectangle of temperatures, 0 cold to 1 hot, row by row;
 * a cell may be held at its temperature (a heater or a cooler). The edges of the whole field are
 * insulated. */
#ifndef HEAT_HEAT_H
#define HEAT_HEAT_H

#include <stdbool.h>
#include <stddef.h>

/* Share of the difference to its neighbours that a cell takes over in a step; at most 0.25 for stability. */
#define HEAT_SHARE 0.24

struct field {
    int width, height;
    double *cells;
    unsigned char *is_held; /* 1: this cell keeps its temperature */
};

/* Position of a rank's block in the whole field, and the ranks around it (MPI_PROC_NULL at an edge). */
struct block {
    int left, top, width, height;
    int west, east, north, south;
};

/* A block with one more row or column on each side for the neighbours' edges: `now` and `next` have
 * (width + 2) * (height + 2) cells, `is_held` too. */
struct solver {
    int width, height;
    double *now, *next;
    unsigned char *is_held;
};

/* image.c. Return false after a message on stderr. A field read is the caller's, to be freed by
 * field_free(). */
bool image_read(const char *path, double scale, struct field *field);
bool image_write(const char *path, const struct field *field);
bool field_create(struct field *field, int width, int height);
void field_free(struct field *field);

/* solver.c: the arithmetic, without communication. */
bool solver_create(struct solver *s, int width, int height);
void solver_free(struct solver *s);
/* Fill in the border of `now` where the whole field ends: no heat passes there. */
void solver_insulate(struct solver *s, bool west, bool east, bool north, bool south);
/* One step for the cells with x0 <= x < x1, y0 <= y < y1 (1 is the first own row or column); returns the
 * largest change. */
double solver_step(struct solver *s, int x0, int x1, int y0, int y1);
void solver_swap(struct solver *s);
/* Copy row by row between a field part that starts at `cells` (rows of `stride` cells) and the own cells. */
void solver_load(struct solver *s, const double *cells, const unsigned char *is_held, size_t stride);
void solver_store(const struct solver *s, double *cells, size_t stride);

#endif
